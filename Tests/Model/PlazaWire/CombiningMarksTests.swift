// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import PlazaWire
import Testing

/// Tests that texts with many combining marks cost the server little time.
///
/// To compare strings, Swift sorts each run of marks by insertion, which takes quadratic time. With 60,000 marks that
/// must move before 60,000 others, one comparison occupies a core for seconds.
@Suite struct CombiningMarksTests {
    /// Marks that take the longest time to sort: those of the combining class 230 (U+0301) stand first, but must be
    /// sorted after those of the class 1 (U+0334).
    private static let marks = String(repeating: "\u{301}", count: 60_000) + String(repeating: "\u{334}", count: 60_000)
    /// How long the parsing may take: far less than one comparison of `marks`, and far more than a scan of `marks`.
    private static let limit = Duration.seconds(2)

    /// The code with which a frame with this text is rejected; nil if the frame is accepted.
    private static func rejection(of text: String) -> ReplyCode? {
        do throws(ReplyError) {
            let frame = try CallFrame(Array(text.utf8))
            _ = try CallParser(app: Samples.app, caller: Samples.caller).parse(frame)
            return nil
        } catch { return error.code }
    }

    @Test func `a frame with a hostile name, method or text is parsed without a slow comparison`() {
        let elapsed = ContinuousClock().measure {
            let marks = Self.marks
            // The marks are the name of the first member. The search for `id` compares this name first.
            #expect(Self.rejection(of: #"{"\#(marks)":1,"id":1,"method":"ping"}"#) == nil)
            // The marks are in the names of so many members that the decoder makes an index of the names.
            let name = String(repeating: "\u{301}", count: 5_000) + String(repeating: "\u{334}", count: 5_000)
            let members = (0..<40).map { #""\#(name)\#($0)":1"# }
            #expect(Self.rejection(of: "{\(members.joined(separator: ",")),\"id\":1,\"method\":\"ping\"}") == nil)
            #expect(Self.rejection(of: #"{"id":1,"method":"\#(marks)"}"#) == .unknownMethod)
            #expect(Self.rejection(of: #"{"id":1,"method":"ping","params":{"a":"\#(marks)"}}"#) == .badParameter)
            #expect(Self.rejection(of: #"{"id":1,"method":"ping","params":{"\#(marks)":1}}"#) == .badParameter)
            let escaped = String(repeating: #"\u0301"#, count: 5_000) + String(repeating: #"\u0334"#, count: 5_000)
            #expect(Self.rejection(of: #"{"id":1,"method":"ping","params":{"a":"\#(escaped)"}}"#) == .badParameter)
        }
        #expect(elapsed < Self.limit)
    }

    @Test(arguments: [(30, nil), (31, ReplyCode.badParameter)])
    func `a text may have thirty combining marks in a row`(marks: Int, rejection: ReplyCode?) {
        // With the letters before the marks, the text has more than 60 bytes; shorter texts are not searched.
        let text = String(repeating: "ä", count: 40) + String(repeating: "\u{323}", count: marks)
        #expect(Self.rejection(of: #"{"id":1,"method":"ping","params":{"a":"\#(text)"}}"#) == rejection)
    }

    @Test func `texts of writing systems with combining marks have no long run of marks`() {
        for text in ["สวัสดีครับ ที่นี่", "שָׁלוֹם עֲלֵיכֶם", "नमस्ते दुनिया", "བཀྲ་ཤིས་བདེ་ལེགས།", "각 힣", "👩‍👩‍👧‍👦🏽"] {
            #expect(!String(repeating: text, count: 50).hasLongMarkRun)
        }
    }
}
