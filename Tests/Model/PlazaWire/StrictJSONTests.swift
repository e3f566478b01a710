// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaWire
import Testing

/// `StrictJSON`, the scan before decoding, accepts exactly the JSON that RFC 8259 allows, up to 512 levels deep.
@Suite struct StrictJSONTests {
    @Test(
        arguments: [
            "{}", "[]", " [ ] ", "0", "-0", "10", "-1.5", "1e5", "1E+5", "0.1e-7", "true", "false", "null", #""""#,
            #"{"a":1,"b":[{},[],[[1,2],{"c":null}]]}"#, "\t{\r\n\"a\" : [ 1 , 2 ] } ", #""\"\\\/\b\f\n\r\tä\u00e4""#,
            #""\ud83d\ude00😀""#, #"",}{]""#, #"{"\"":","}"#, "\u{FEFF}{}", "\"\u{7F}\"",
            String(repeating: "[", count: 512) + String(repeating: "]", count: 512),
        ])
    func `JSON that is valid by RFC 8259 is accepted`(json: String) {
        #expect(StrictJSON(Array(json.utf8)) != nil)
    }

    @Test(
        arguments: [
            "", " ", "{", "}", "[", "]", "[}", "{]", "{}{}", "[] 1", ",", "[,]", "[1,]", "[1, ]", "{\"a\":1,}", "{,}",
            "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "{1:2}", "{a:1}", "{\"a\":1:2}",
            "[\"a\":1]",
            "01", "-", "+1", "1.", ".5", "-.5", "1e", "1e+", "00", "-01", "0x1", "1_000", "NaN", "Infinity", "1a",
            "tru", "truex", "nul", "nulll", "True", "'a'", "\"", "\"a", "\"\\\"", #""\x""#, #""\u12""#, #""\u12g4""#,
            #""\ud800""#, #""\ud800x""#, #""\ud800\n""#, #""\ud800\ud800""#, #""\udc00""#, "\"a\nb\"", "\"\t\"",
            "\"\u{0}\"", "[1]\u{0}", "/* */1", "1//", "[1\u{A0}]",
            String(repeating: "[", count: 513) + String(repeating: "]", count: 513),
            String(repeating: "[", count: 5000),
        ])
    func `invalid JSON is rejected, alone and as the value of a field`(json: String) {
        #expect(StrictJSON(Array(json.utf8)) == nil)
        let enclosingJSON = Array(#"{"code":0,"other":\#(json)}"#.utf8)
        #expect(StrictJSON(enclosingJSON) == nil)
        #expect(throws: WireError.notJSON) { try Wire.decode([String: Int].self, from: enclosingJSON) }
    }

    // Between quotation marks (0x22): a byte that UTF-8 never has, an incomplete character, and a surrogate. The last
    // bytes are UTF-16.
    @Test(arguments: [
        [0x22, 0xFF, 0x22], [0x22, 0xC3, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0xFE, 0xFF, 0, 0x31],
    ])
    func `bytes that are not UTF-8 are rejected`(bytes: [Int]) {
        #expect(StrictJSON(bytes.map { UInt8($0) }) == nil)
    }

    @Test func `I16 truncated JSON is rejected, and changed bytes cause no trap`() {
        let json = Array(#"{"a":[1,-2.5e3,true,null,"\ud83d\ude00\n"],"b":{"c":"ä"}}"#.utf8)
        #expect(StrictJSON(json) != nil)
        for count in 0..<json.count { #expect(StrictJSON(Array(json[..<count])) == nil) }
        var random = SeededRandom(seed: 7)
        for _ in 0..<20_000 {
            var changed = json
            for _ in 0..<3 {
                changed[Int(random.next() % UInt64(json.count))] = UInt8(truncatingIfNeeded: random.next() >> 8)
            }
            // The decoder accepts all JSON that the scan accepts.
            if StrictJSON(changed) != nil {
                let text = String(decoding: changed, as: UTF8.self)
                #expect((try? Wire.decode(JSONValue.self, from: changed)) != nil, "\(text)")
            }
        }
    }
}
