// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import PlazaWire
import Testing

/// Calls that a gateway rejects because of control characters, or because their records would be too large.
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
            ("seat.apply", "\"live\":\"concert\",\"extraInfo\":\"\(Self.controlCharacters(682))\"", nil),
            ("seat.apply", "\"live\":\"concert\",\"extraInfo\":\"\(Self.controlCharacters(683))\"", .badParameter),
            (
                "cohost.request",
                "\"live\":\"concert\",\"to\":[\"a\"],\"extensionInfo\":\"\(Self.controlCharacters(683))\"",
                .badParameter
            ),
        ]
        for (method, params, code) in cases {
            var rejection: ReplyCode?
            if case .failure(let error) = CallSpec.parse(method, "{\(params)}") { rejection = error.code }
            #expect(rejection == code, "\(method) \(params.prefix(80))")
        }
    }

    private static func controlCharacters(_ count: Int) -> String { String(repeating: #"\u0001"#, count: count) }

    /// Rules: R17.7.
    @Test func `a change with more words, gifts, categories or languages than an app may have is rejected`() {
        func jsonArray(_ count: Int, _ element: (Int) -> String) -> String {
            "[\((0..<count).map(element).joined(separator: ","))]"
        }
        /// The code with which a call is rejected; nil if it is accepted.
        func rejectionCode(_ method: String, _ params: String) -> ReplyCode? {
            guard case .failure(let error) = CallSpec.parse(method, "{\(params)}", role: .server) else { return nil }
            return error.code
        }
        func gifts(_ count: Int) -> String {
            "\"categories\":[{\"categoryID\":\"c\",\"name\":\"C\",\"gifts\":"
                + jsonArray(count) { #"{"giftID":"g\#($0)","name":"G"}"# } + "}]"
        }
        for method in ["app.setWords", "app.addWords", "app.removeWords"] {
            #expect(rejectionCode(method, "\"words\":" + jsonArray(AppLimits.words) { "\"w\($0)\"" }) == nil)
            #expect(rejectionCode(method, "\"words\":" + jsonArray(AppLimits.words + 1) { "\"w\($0)\"" }) == .overLimit)
        }
        #expect(rejectionCode("app.setGifts", gifts(AppLimits.gifts)) == nil)
        #expect(rejectionCode("app.setGifts", gifts(AppLimits.gifts + 1)) == .overLimit)
        let categories = jsonArray(AppLimits.categories + 1) { #"{"categoryID":"c\#($0)","name":"C"}"# }
        #expect(rejectionCode("app.setGifts", "\"categories\":\(categories)") == .overLimit)
        // A gift with one language more than the limit, as the members of its JSON object.
        let languages = (0...AppLimits.languages).map { #""l\#($0)":{"name":"N"}"# }.joined(separator: ",")
        let gift = #""giftID":"g","name":"G","translations":{\#(languages)}"#
        #expect(rejectionCode("app.putGift", #""category":"c","gift":{\#(gift)}"#) == .overLimit)
        let category = #""categoryID":"c","name":"C","gifts":[{\#(gift)}]"#
        #expect(rejectionCode("app.putCategory", #""category":{\#(category)}"#) == .overLimit)
    }
}
