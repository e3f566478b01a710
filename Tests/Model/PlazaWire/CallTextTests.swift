// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import PlazaWire
import Testing

/// Calls that a gateway rejects because of control characters, or because their records would be too large.
@Suite struct CallTextTests {
    /// Rules: R17.4, R17.5.
    @Test func `control characters are rejected in plain texts, and in free texts if their JSON is too long`() {
        // Each call with the code with which it is rejected; nil if the call is accepted.
        let cases: [(method: String, params: String, code: ReplyCode?)] = [
            ("self.update", #""name":"a\u0007b""#, .badParameter),
            ("self.update", #""name":"a\u007fb""#, .badParameter),
            ("self.update", #""avatarURL":"https://a\r\nb""#, .badParameter), ("self.update", #""name":"a b""#, nil),
            ("barrage.sendCustom", #""live":"concert","businessID":"a\tb","data":"x""#, .badParameter),
            ("barrage.sendCustom", #""live":"concert","businessID":"a","data":"x\ty""#, nil),
            ("seat.apply", #""live":"concert","extraInfo":"{\n}""#, nil),
            // `extraInfo` may have 4096 bytes in JSON. U+0001 has six bytes there, and 682 * 6 = 4092.
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

    /// The JSON text of `count` characters U+0001.
    private static func controlCharacters(_ count: Int) -> String { String(repeating: #"\u0001"#, count: count) }

    /// Rules: R17.7.
    @Test func `a change with more words, gifts, categories or languages than an app may have is rejected`() {
        /// A JSON array of `count` elements, of which `element` makes each from its index.
        func jsonArray(_ count: Int, _ element: (Int) -> String) -> String {
            "[\((0..<count).map(element).joined(separator: ","))]"
        }
        /// The code with which a call is rejected; nil if it is accepted.
        func rejectionCode(_ method: String, _ params: String) -> ReplyCode? {
            guard case .failure(let error) = CallSpec.parse(method, "{\(params)}", role: .server) else { return nil }
            return error.code
        }
        /// The parameters with one category that has `count` gifts.
        func paramsWithGifts(_ count: Int) -> String {
            "\"categories\":[{\"categoryID\":\"c\",\"name\":\"C\",\"gifts\":"
                + jsonArray(count) { #"{"giftID":"g\#($0)","name":"G"}"# } + "}]"
        }
        for method in ["app.setWords", "app.addWords", "app.removeWords"] {
            #expect(rejectionCode(method, "\"words\":" + jsonArray(AppLimits.words) { "\"w\($0)\"" }) == nil)
            #expect(rejectionCode(method, "\"words\":" + jsonArray(AppLimits.words + 1) { "\"w\($0)\"" }) == .overLimit)
        }
        #expect(rejectionCode("app.setGifts", paramsWithGifts(AppLimits.gifts)) == nil)
        #expect(rejectionCode("app.setGifts", paramsWithGifts(AppLimits.gifts + 1)) == .overLimit)
        let categories = jsonArray(AppLimits.categories + 1) { #"{"categoryID":"c\#($0)","name":"C"}"# }
        #expect(rejectionCode("app.setGifts", "\"categories\":\(categories)") == .overLimit)
        // The members of a gift with one language more than the limit.
        let languages = (0...AppLimits.languages).map { #""l\#($0)":{"name":"N"}"# }.joined(separator: ",")
        let gift = #""giftID":"g","name":"G","translations":{\#(languages)}"#
        #expect(rejectionCode("app.putGift", #""category":"c","gift":{\#(gift)}"#) == .overLimit)
        let category = #""categoryID":"c","name":"C","gifts":[{\#(gift)}]"#
        #expect(rejectionCode("app.putCategory", #""category":{\#(category)}"#) == .overLimit)
    }
}
