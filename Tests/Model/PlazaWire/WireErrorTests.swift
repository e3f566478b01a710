// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import PlazaWire
import Testing

/// The errors of JSON that cannot be decoded.
@Suite struct WireErrorTests {
    /// The error of JSON that is decoded as a `CountRecord`; nil if it decodes.
    private func decodingError(_ json: String) -> WireError? {
        do throws(WireError) {
            _ = try Wire.decode(CountRecord.self, from: Array(json.utf8))
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: ["", "{", "[1", "nul", "\u{0}", "{\"v\":1}}"])
    func `invalid JSON is reported as notJSON`(json: String) {
        #expect(self.decodingError(json) == .notJSON)
    }

    @Test func `an error names a missing field, or a field of another type, by the path of the field`() {
        let validJSON =
            #"{"app":"demo","at":1,"count":3,"epoch":7,"live":"l","stale":false,"totalViewers":8,"v":1}"#
        #expect(self.decodingError(validJSON) == nil)
        // `old` is replaced by `new`; the error must then have `path`, and a message that begins with `messageStart`.
        let cases: [(old: String, new: String, path: String, messageStart: String)] = [
            (#","count":3"#, "", "count", "is missing"), (#""count":3"#, #""count":"3""#, "count", "is not a whole"),
            (#""count":3"#, #""count":null"#, "count", "is null"),
            (#""stale":false"#, #""stale":0"#, "stale", "is not true or false"),
            (#""stale":false"#, #""stale":null"#, "stale", "is null"),
            (#""live":"l""#, #""live":7"#, "live", "is not a string"), (#""at":1"#, #""at":"x""#, "at", "is not"),
            (#""epoch":7"#, #""epoch":1e30"#, "epoch", "is not a whole number in range"),
            (#""count":3"#, #""count":1.5"#, "count", "is not a whole number in range"),
        ]
        for (old, new, path, messageStart) in cases {
            let json = validJSON.replacing(old, with: new)
            #expect(json != validJSON)
            guard case .badField(let foundPath, let foundMessage) = self.decodingError(json) else {
                Issue.record("\(json) was decoded")
                continue
            }
            #expect(foundPath == path, "\(json)")
            #expect(foundMessage.hasPrefix(messageStart), "\(json): \(foundMessage)")
        }
    }

    @Test func `an error names a nested field by its whole path`() {
        // Only seat 1 of the sample is locked.
        let validJSON = String(decoding: Wire.encode(Samples.stage), as: UTF8.self)
        let json = validJSON.replacing(#""isLocked":true"#, with: #""isLocked":"x""#)
        #expect(throws: WireError.badField(path: "seats.1.isLocked", message: "is not true or false")) {
            _ = try Wire.decode(StageRecord.self, from: Array(json.utf8))
        }
    }

    @Test func `an error names the path of a number out of range`() {
        let numbers = ["1.5", "-1.5", "1e30", "99999999999999999999", "-9223372036854775809"]
        for number in numbers {
            // The text in `a` looks like a number, and the four numbers before the tested one are in range.
            let json = #"{"a":"9.5, \" }","b":[{"c":1},{"d":[1,-2,1e2,1.0,\#(number)]}]}"#
            #expect(self.numberError(json) == .badField(path: "b.1.d.4", message: "is not a whole number in range"))
        }
        #expect(self.numberError(#"{"a":"","b":[{"d":[1e2,1.0]}]}"#) == nil)
    }

    /// The error of JSON with whole numbers in `b` and `d`; nil if it decodes.
    private func numberError(_ json: String) -> WireError? {
        struct Inner: Decodable { var d: [Int64]? }
        struct Outer: Decodable {
            var a: String
            var b: [Inner]
        }
        do throws(WireError) {
            _ = try Wire.decode(Outer.self, from: Array(json.utf8))
            return nil
        } catch {
            return error
        }
    }

    @Test func `I16 JSON nested too deeply is rejected and does not crash the process`() {
        let deepArrays = String(repeating: "[", count: 60_000)
        #expect(self.decodingError(deepArrays) == .notJSON)
        let deepObjects = String(repeating: #"{"a":"#, count: 10_000)
        #expect(self.decodingError(deepObjects) == .notJSON)
        #expect(throws: ReplyError.self) { _ = try CallFrame(Array(deepArrays.utf8)) }
    }
}
