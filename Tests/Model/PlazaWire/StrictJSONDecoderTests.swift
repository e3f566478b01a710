// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import MachineKit
import PlazaWire
import Testing

/// Any JSON value, decoded by the decoder of Foundation.
private struct FoundationValue: Decodable {
    var value: JSONValue

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: Name.self) {
            var members: [String: JSONValue] = [:]
            for key in container.allKeys {
                members[key.stringValue] = try container.decode(FoundationValue.self, forKey: key).value
            }
            self.value = .object(members)
        } else if var container = try? decoder.unkeyedContainer() {
            var elements: [JSONValue] = []
            while !container.isAtEnd { elements.append(try container.decode(FoundationValue.self).value) }
            self.value = .array(elements)
        } else {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self.value = .null
            } else if let value = try? container.decode(Bool.self) {
                self.value = .bool(value)
            } else if let value = try? container.decode(String.self) {
                self.value = .text(value)
            } else if let value = try? container.decode(Int64.self) {
                self.value = .integer(value)
            } else {
                self.value = .number(try container.decode(Double.self))
            }
        }
    }
}

/// The project's JSON decoder (`Wire.decode`) returns the same values as the decoder of Foundation.
@Suite struct StrictJSONDecoderTests {
    private struct Inner: Codable, Hashable {
        var flag: Bool?
        var name: String?
        var list: [Int64]?
        var texts: [String: String]?
    }

    private struct Outer: Codable, Hashable {
        var id: Int64
        var method: String
        var number: Double?
        var inner: Inner?
        var inners: [Inner]?
    }

    /// The value that Foundation decodes; nil if Foundation throws.
    private static func foundationValue<Value: Decodable>(_ type: Value.Type, _ json: [UInt8]) -> Value? {
        try? JSONDecoder().decode(type, from: Data(json))
    }

    /// Expects that the decoder returns the same value as Foundation, or that both throw.
    private static func compareWithFoundation<Value: Decodable & Equatable>(_ type: Value.Type, _ json: String) {
        let bytes = Array(json.utf8)
        #expect((try? Wire.decode(type, from: bytes)) == self.foundationValue(type, bytes), "\(type) from \(json)")
    }

    /// Expects that the decoder makes the same `JSONValue` as Foundation, or that both throw.
    private static func compareJSONValueWithFoundation(_ json: String) {
        let bytes = Array(json.utf8)
        let expected = self.foundationValue(FoundationValue.self, bytes)?.value
        #expect((try? Wire.decode(JSONValue.self, from: bytes)) == expected, "\(json)")
    }

    @Test(
        arguments: [
            "0", "-0", "7", "-1", "-0.0", "1.0", "1e2", "1.5", "-1.50", "1e0", "12e-1", "120e-1", "255", "256",
            "-129", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
            "18446744073709551615", "18446744073709551616", "9223372036854775807.0", "-9223372036854775808.0",
            "9223372036854774784.0", "9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740993",
            "9007199254740991.0", "9007199254740992.0", "9007199254740993.0", "-9007199254740993.0",
            "9007199254740992.5", "9007199254740993.7", "9.007199254740993e15", "1e15", "1e18", "1e19", "-1e18",
            "1e308", "-1e308", "1e309", "-1e309", "1e-400", "0e-400", "0.0e999999999999", "1e999999999999",
            "1.00000000000000000001", "0.1", "2.5e-3", "5e-324", "99999999999999999999999999999999999999999",
            "0.99999999999999999999", "1e-999999999999", "123456789012345678901234567890e-29",
        ])
    func `a number is decoded to the same value as by Foundation, or rejected as by Foundation`(number: String) {
        Self.compareWithFoundation(Int64.self, number)
        Self.compareWithFoundation(Int.self, number)
        Self.compareWithFoundation(Int8.self, number)
        Self.compareWithFoundation(UInt16.self, number)
        Self.compareWithFoundation(UInt64.self, number)
        Self.compareJSONValueWithFoundation("[\(number)]")
        Self.compareWithFoundation([String: Int64].self, "{\"a\":\(number)}")
        let bytes = Array(number.utf8)
        let double = try? Wire.decode(Double.self, from: bytes)
        #expect(double?.bitPattern == Self.foundationValue(Double.self, bytes)?.bitPattern, "\(number)")
    }

    @Test(
        arguments: [
            #""""#, #""a\"\\\/\b\f\n\r\tz""#, #""\u0000""#, #""\u00e4\u20AC""#, #""\ud83d\ude00😀\uFFFF""#, #""äöü 日本""#,
            #""\udbff\udfff""#, #""\u007f""#,
        ])
    func `a string with escape sequences is decoded as by Foundation`(text: String) {
        Self.compareWithFoundation(String.self, text)
        Self.compareWithFoundation([String: String].self, "{\(text):\(text)}")
    }

    @Test(
        arguments: [
            #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#, #"{"\u0061":1,"a":"x"}"#, #"{"a":null,"a":2}"#,
            // Swift's strings compare these names as equal, although their bytes differ.
            "{\"\u{E9}\":1,\"e\u{301}\":2}", "{\"e\u{301}\":1,\"\u{E9}\":2}", "{\"\u{212A}\":1,\"K\":2}",
            "{\"K\":2,\"\u{212A}\":1}", #"{"":0}"#, "{}",
        ])
    func `of several members with the same name, the first one counts`(json: String) throws {
        Self.compareWithFoundation([String: Int?].self, json)
        Self.compareJSONValueWithFoundation(json)
        // The first one also counts in an object with so many members that the decoder makes an index of them.
        let addedMembers = (0..<100).map { ",\"m\($0)\":\($0),\"m\($0)\":-1" }.joined()
        let longJSON = json == "{}" ? "{\(addedMembers.dropFirst())}" : json.dropLast() + addedMembers + "}"
        Self.compareWithFoundation([String: Int?].self, String(longJSON))
        // The first `m99` is 99; the second one is -1.
        #expect(try Wire.decode([String: Int?].self, from: Array(longJSON.utf8))["m99"] == 99)
    }

    @Test func `values of every kind, in every place, are decoded or rejected as by Foundation`() {
        let values = ["null", "true", "false", "0", "-1.5", "\"x\"", "[]", "[1]", "[null]", "{}", #"{"name":"n"}"#]
        for value in values {
            for field in ["id", "method", "number", "inner", "inners"] {
                Self.compareWithFoundation(Outer.self, #"{"id":1,"method":"m","other":\#(value)}"#)
                Self.compareWithFoundation(Outer.self, #"{"\#(field)":\#(value),"id":1,"method":"m"}"#)
            }
            for field in ["flag", "name", "list", "texts"] {
                Self.compareWithFoundation(Inner.self, "{\"\(field)\":\(value)}")
                Self.compareWithFoundation(Outer.self, #"{"id":1,"method":"m","inners":[{},{"\#(field)":\#(value)}]}"#)
            }
            Self.compareWithFoundation(Inner.self, #"{"list":[1,\#(value)],"texts":{"a":"b"}}"#)
            Self.compareWithFoundation(Inner.self, #"{"texts":{"a":"b","c":\#(value)}}"#)
            Self.compareWithFoundation([Bool?].self, "[true,\(value)]")
            Self.compareJSONValueWithFoundation("[\(value),{\"a\":\(value)}]")
        }
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func `changed bytes are decoded or rejected as by Foundation`(seed: UInt64) {
        let json =
            Array(
                #"{"id":12,"method":"a.b","number":1.5e3,"inner":{"flag":true,"name":"\ud83d\ude00ä","list":[1,-2,30],"#
                    .utf8) + Array(#""texts":{"a":"b","c":"\n"}},"inners":[{},{"name":null}],"more":[{"x":[]}]}"#.utf8)
        // The bytes that replace others: those of JSON's structure, words and numbers.
        let replacements = Array(#"{}[]",:\0123456789.-+eEtruflasn u"#.utf8)
        var random = SeededRandom(seed: seed)
        var acceptedCount = 0
        for _ in 0..<20_000 {
            var changed = json
            let changeCount = 1 + random.next() % 3
            for _ in 0..<changeCount {
                let index = Int(random.next() % UInt64(changed.count))
                changed[index] = replacements[Int(random.next() % UInt64(replacements.count))]
            }
            // Foundation accepts some texts that RFC 8259 does not allow; the decoder rejects them.
            if StrictJSON(changed) == nil {
                #expect((try? Wire.decode(Outer.self, from: changed)) == nil)
                continue
            }
            acceptedCount += 1
            let text = String(decoding: changed, as: UTF8.self)
            let expected = Self.foundationValue(Outer.self, changed)
            #expect((try? Wire.decode(Outer.self, from: changed)) == expected, "\(text)")
            Self.compareJSONValueWithFoundation(text)
        }
        #expect(acceptedCount > 1000, "too few of the changed texts are still JSON: \(acceptedCount)")
    }

    @Test(.timeLimit(.minutes(1)))
    func `I16 a long list is decoded to a JSONValue in a time proportional to its length`() throws {
        let json = "[" + String(repeating: "1,", count: 60_000) + "{\"a\":[true,null]}]"
        guard case .array(let elements) = try Wire.decode(JSONValue.self, from: Array(json.utf8)) else {
            Issue.record("the JSON array was decoded to another kind of value")
            return
        }
        #expect(elements.count == 60_001 && elements.last == ["a": [true, .null]])
    }

    @Test func `arrays nested 512 levels deep are decoded`() throws {
        // The decoder rejects JSON with more than 512 levels.
        let deep = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        var value = try Wire.decode(JSONValue.self, from: Array(deep.utf8))
        var depth = 0
        while case .array(let elements) = value {
            depth += 1
            guard let inner = elements.first else { break }
            value = inner
        }
        #expect(depth == 512)
    }

    @Test func `an error names the bad number of a decoded field, not an earlier one of an ignored field`() {
        let json = #"{"other":[1.5,1e300],"id":1,"method":"m","inners":[{},{"list":[1,2.0,2.5]}]}"#
        #expect(throws: WireError.badField(path: "inners.1.list.2", message: "is not a whole number in range")) {
            try Wire.decode(Outer.self, from: Array(json.utf8))
        }
    }

    @Test func `an error's path has the names and indices of all objects and arrays around the value`() {
        // The path in the error; nil if the JSON is decoded.
        func path(_ json: String) -> String? {
            do throws(WireError) {
                _ = try Wire.decode(Outer.self, from: Array(json.utf8))
                return nil
            } catch {
                guard case .badField(let path, _) = error else { return nil }
                return path
            }
        }
        #expect(path("7") == "")
        #expect(path(#"{"id":1}"#) == "method")
        #expect(path(#"{"a":[{"b":[]}],"id":"x"}"#) == "id")
        #expect(path(#"{"id":1,"method":"m","inner":[]}"#) == "inner")
        #expect(path(#"{"id":1,"method":"m","inner":{"a":{},"list":[1,[2],3]}}"#) == "inner.list.1")
        #expect(
            path(#"{"id":1,"method":"m","inners":[{},{},{"texts":{"ä":"","\u0062.c":{}}}]}"#) == "inners.2.texts.b.c")
        #expect(path(#"{"id":1,"method":"m","inners":[{},5]}"#) == "inners.1")
    }
}
