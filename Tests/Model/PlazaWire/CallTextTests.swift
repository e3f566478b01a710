// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import PlazaWire
import Testing

/// Calls that a gateway rejects because their records would be too large.
@Suite struct CallTextTests {
    /// Rules: R17.4, R17.5.
    @Test func `control characters are rejected in plain texts, and in free texts where they inflate the JSON`() {
        let cases: [(String, String, ReplyCode?)] = [
            ("self.update", #""name":"a\u0007b""#, .badParameter),
            ("self.update", #""name":"a\u007fb""#, .badParameter),
            ("self.update", #""avatarURL":"https://a\r\nb""#, .badParameter), ("self.update", #""name":"a b""#, nil),
            ("barrage.sendCustom", #""live":"concert","businessID":"a\tb","data":"x""#, .badParameter),
            ("barrage.sendCustom", #""live":"concert","businessID":"a","data":"x\ty""#, nil),
            ("seat.apply", #""live":"concert","extraInfo":"{\n}""#, nil),
            // The limit of this field is 4096 bytes of JSON, in which U+0001 has six bytes.
            ("seat.apply", "\"live\":\"concert\",\"extraInfo\":\"\(Self.controls(682))\"", nil),
            ("seat.apply", "\"live\":\"concert\",\"extraInfo\":\"\(Self.controls(683))\"", .badParameter),
            (
                "cohost.request", "\"live\":\"concert\",\"to\":[\"a\"],\"extensionInfo\":\"\(Self.controls(683))\"",
                .badParameter
            ),
        ]
        for (method, params, code) in cases {
            var rejection: ReplyCode?
            if case .failure(let error) = CallSpec.parse(method, "{\(params)}") { rejection = error.code }
            #expect(rejection == code, "\(method) \(params.prefix(80))")
        }
    }

    private static func controls(_ count: Int) -> String { String(repeating: #"\u0001"#, count: count) }

    /// Rules: R17.7.
    @Test func `a change with more parts than an app may have is rejected before it is written`() {
        func list(_ count: Int, _ element: (Int) -> String) -> String {
            "[\((0..<count).map(element).joined(separator: ","))]"
        }
        /// The code with which a call is rejected; nil if it is accepted.
        func code(_ method: String, _ params: String) -> ReplyCode? {
            guard case .failure(let error) = CallSpec.parse(method, "{\(params)}", role: .server) else { return nil }
            return error.code
        }
        func gifts(_ count: Int) -> String {
            "\"categories\":[{\"categoryID\":\"c\",\"name\":\"C\",\"gifts\":"
                + list(count) { #"{"giftID":"g\#($0)","name":"G"}"# } + "}]"
        }
        for method in ["app.setWords", "app.addWords", "app.removeWords"] {
            #expect(code(method, "\"words\":" + list(AppLimits.words) { "\"w\($0)\"" }) == nil)
            #expect(code(method, "\"words\":" + list(AppLimits.words + 1) { "\"w\($0)\"" }) == .overLimit)
        }
        #expect(code("app.setGifts", gifts(AppLimits.gifts)) == nil)
        #expect(code("app.setGifts", gifts(AppLimits.gifts + 1)) == .overLimit)
        let categories = list(AppLimits.categories + 1) { #"{"categoryID":"c\#($0)","name":"C"}"# }
        #expect(code("app.setGifts", "\"categories\":\(categories)") == .overLimit)
        // A gift with one language more than the limit, as the members of its JSON object.
        let languages = (0...AppLimits.languages).map { #""l\#($0)":{"name":"N"}"# }.joined(separator: ",")
        let gift = #""giftID":"g","name":"G","translations":{\#(languages)}"#
        #expect(code("app.putGift", #""category":"c","gift":{\#(gift)}"#) == .overLimit)
        #expect(
            code("app.putCategory", #""category":{"categoryID":"c","name":"C","gifts":[{\#(gift)}]}"#) == .overLimit)
    }
}
