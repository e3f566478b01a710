// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ViewerScreens

/// The width, cutting and wrapping of texts in the columns of a terminal.
@Suite struct TextTests {
    @Test(
        arguments: [
            ("a", 1), ("é", 1), ("e\u{301}", 1), ("你", 2), ("ｱ", 1), ("Ａ", 2), ("👋", 2), ("👩‍👩‍👧", 2), ("❤️", 2),
            ("─", 1), ("★", 1),
            ("한", 2), ("", 0),
        ])
    func `characters have the width that terminals give them`(text: String, width: Int) {
        #expect(DisplayText(text).width == width)
    }

    @Test func `a text that is too long ends with an ellipsis, and no character is halved`() {
        #expect(DisplayText("abcdef").prefix(columns: 4).string == "abc…")
        #expect(DisplayText("你好吗").prefix(columns: 4).string == "你…")
        #expect(DisplayText("abc").prefix(columns: 3).string == "abc")
        #expect(DisplayText("abc").prefix(columns: 0).string == "")
    }

    @Test func `a text is wrapped at spaces, and a word that is longer than the line inside the word`() {
        func wrapped(_ text: String, _ columns: Int) -> [String] {
            DisplayText(text).wrapped(columns: columns).map(\.string)
        }
        #expect(wrapped("hello big world", 9) == ["hello big", "world"])
        #expect(wrapped("hello big world", 7) == ["hello", "big", "world"])
        #expect(wrapped("abcdefgh", 3) == ["abc", "def", "gh"])
        #expect(wrapped("你好吗", 5) == ["你好", "吗"])
        #expect(wrapped("", 5) == [""])
        for columns in 1...20 {
            for line in DisplayText("some words 你好 and moooooooooooore 👋👋").wrapped(columns: columns) {
                #expect(line.width <= columns)
            }
        }
    }

    @Test func `drawing over half of a wide character removes the character, and no half is drawn at an edge`() {
        // Each of the two characters is two columns wide.
        var canvas = Canvas(Size(columns: 4, rows: 1))
        canvas.draw("你好", x: 0, y: 0)
        canvas.draw("x", x: 1, y: 0)
        #expect(canvas.lines == [" x好"])
        canvas.draw("你", x: 1, y: 0)
        #expect(canvas.lines == [" 你 "])
        // Only half of these characters would be on the canvas.
        canvas.draw("好", x: 3, y: 0)
        canvas.draw("好", x: -1, y: 0)
        #expect(canvas.lines[0].count == 3 && DisplayText(canvas.lines[0]).width == 4)
    }
}

/// The lanes in which messages fly over the stage.
@Suite struct LaneTests {
    @Test func `messages in one lane never touch, and all leave the screen`() {
        var lanes = BarrageLanes()
        for number in 1...4 { lanes.add("message number \(number)", .normal) }
        var drawnTexts: Set<String> = []
        // 20 s in steps of 50 ms: all messages have left the screen by then.
        for step in 0..<400 {
            let now = Double(step) * 50
            lanes.advance(to: now, columns: 80, lanes: 2)
            var canvas = Canvas(Size(columns: 80, rows: 2))
            lanes.draw(on: &canvas, Box(x: 0, y: 0, columns: 80, rows: 2), at: now)
            for line in canvas.lines {
                for part in line.split(separator: "   ", omittingEmptySubsequences: true) {
                    drawnTexts.insert(String(part))
                }
            }
            for lane in 0..<2 {
                let texts = lanes.flights.filter { $0.lane == lane }.map(\.text.string)
                #expect(Set(texts).count == texts.count, "a message must fly only once")
            }
        }
        for number in 1...4 { #expect(drawnTexts.contains { $0.contains("message number \(number)") }) }
        #expect(!lanes.isMoving)
    }

    @Test func `if too many messages wait, the oldest waiting ones are dropped`() {
        var lanes = BarrageLanes()
        for number in 1...1000 { lanes.add("\(number)", .normal) }
        lanes.advance(to: 0, columns: 80, lanes: 3)
        #expect(lanes.flights.map(\.text.string) == ["1", "2", "3"])
        // At most two messages wait for each lane, here 2 * 3 = 6: 995 to 1000.
        lanes.advance(to: 1000, columns: 80, lanes: 3)
        #expect(lanes.flights.suffix(3).map(\.text.string) == ["995", "996", "997"])
    }

    @Test func `without lanes waiting messages are dropped`() {
        var lanes = BarrageLanes()
        lanes.add("x", .normal)
        lanes.advance(to: 0, columns: 80, lanes: 0)
        #expect(!lanes.isMoving)
    }
}
