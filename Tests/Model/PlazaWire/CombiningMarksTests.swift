// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import PlazaWire
import Testing

/// Tests that texts with many combining marks cost a client more than they cost the server.
///
/// Swift's comparison of strings sorts each run of marks by insertion: two runs of 60,000, the second of which sorts
/// before the first, take a core for seconds.
@Suite struct CombiningMarksTests {
    /// Marks that are sorted in the longest time: U+0301 has the class 230, and U+0334 the class 1.
    private static let marks = String(repeating: "\u{301}", count: 60_000) + String(repeating: "\u{334}", count: 60_000)
    /// Far less than one comparison of `marks` takes, and far more than a scan of them.
    private static let limit = Duration.seconds(2)

    private static func refusal(of text: String) -> ReplyCode? {
        do throws(ReplyError) {
            let frame = try CallFrame(Array(text.utf8))
            _ = try CallParser(app: Samples.app, caller: Samples.caller).parse(frame)
            return nil
        } catch { return error.code }
    }

    @Test func `a frame with a hostile name, method or text is rejected without a comparison`() {
        let took = ContinuousClock().measure {
            let marks = Self.marks
            // As a name before those that the frame is searched for, and among so many that they are indexed.
            #expect(Self.refusal(of: #"{"\#(marks)":1,"id":1,"method":"ping"}"#) == nil)
            let name = String(repeating: "\u{301}", count: 5_000) + String(repeating: "\u{334}", count: 5_000)
            let members = (0..<40).map { #""\#(name)\#($0)":1"# }
            #expect(Self.refusal(of: "{\(members.joined(separator: ",")),\"id\":1,\"method\":\"ping\"}") == nil)
            #expect(Self.refusal(of: #"{"id":1,"method":"\#(marks)"}"#) == .unknownMethod)
            #expect(Self.refusal(of: #"{"id":1,"method":"ping","params":{"a":"\#(marks)"}}"#) == .badParameter)
            #expect(Self.refusal(of: #"{"id":1,"method":"ping","params":{"\#(marks)":1}}"#) == .badParameter)
            let escaped = String(repeating: #"\u0301"#, count: 5_000) + String(repeating: #"\u0334"#, count: 5_000)
            #expect(Self.refusal(of: #"{"id":1,"method":"ping","params":{"a":"\#(escaped)"}}"#) == .badParameter)
        }
        #expect(took < Self.limit)
    }

    @Test(arguments: [(30, nil), (31, ReplyCode.badParameter)])
    func `a text may have thirty combining marks in a row`(marks: Int, refusal: ReplyCode?) {
        // The text is long enough to be searched also because of the letters before the marks.
        let text = String(repeating: "ä", count: 40) + String(repeating: "\u{323}", count: marks)
        #expect(Self.refusal(of: #"{"id":1,"method":"ping","params":{"a":"\#(text)"}}"#) == refusal)
    }

    @Test func `texts of writing systems with combining marks are no runs`() {
        for text in ["สวัสดีครับ ที่นี่", "שָׁלוֹם עֲלֵיכֶם", "नमस्ते दुनिया", "བཀྲ་ཤིས་བདེ་ལེགས།", "각 힣", "👩‍👩‍👧‍👦🏽"] {
            #expect(!StrictJSON.hasLongMarkRun(String(repeating: text, count: 50)))
        }
    }
}
