// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ViewerScreens

/// The screens that the viewer draws into a grid of characters, and the bytes that it sends to the terminal.
@Suite struct ScreenTests {
    /// Alice hosts a live with 60 messages, 40 viewers, two guests on nine seats, a battle and three open requests.
    static var busyLive: ViewerState {
        var state = ViewerState()
        state.userName = "alice"
        state.connection = .online
        var live = LivePage(id: "concert")
        (live.name, live.owner, live.isHost, live.viewerCount, live.likeCount, live.durationSeconds) = (
            "コンサート", "alice", true, 12, 7, 65
        )
        for number in 1...60 { live.add(ChatLine(author: "bob", text: "message \(number) 你好 👋")) }
        live.audience = (1...40).map { ViewerRow(id: "u\($0)", name: "viewer \($0)", isHost: $0 == 1) }
        live.seats = (0..<9).map { SeatBox(index: $0, name: $0 < 2 ? "guest \($0)" : "") }
        for index in live.seats.indices {
            live.seats[index].region = SeatBox.Region(
                x: Double(index % 3) / 3, y: Double(index / 3) / 3, width: 1 / 3, height: 1 / 3)
        }
        live.battle = BattleBar(
            sides: [BattleBar.Side(name: "alice", score: 30), BattleBar.Side(name: "carol", score: 10)], endTime: 42_000
        )
        live.requests = [
            OpenRequest(.application, key: "bob", name: "bob"), OpenRequest(.battle, key: "b1", name: "carol"),
            OpenRequest(.connection, key: "c", name: "dave"),
        ]
        for number in 1...9 { live.lanes.add("flying \(number)", .normal) }
        state.live = live
        return state
    }

    /// The lines of the screen at the time `now` of animations and messages, in milliseconds.
    ///
    /// The wall clock, by which battles end, is at 0.
    static func lines(_ state: ViewerState, _ columns: Int, _ rows: Int, now: Double = 0) -> [String] {
        var state = state
        let size = Size(columns: columns, rows: rows)
        state.live?.advance(to: 0, size)
        return Screen.draw(state, size, now: now, wallTime: 0).canvas.lines
    }

    @Test(arguments: [(80, 24), (120, 40), (200, 60), (40, 12), (20, 6), (19, 6), (1, 1), (0, 0), (300, 8)])
    func `each screen fills its size exactly`(columns: Int, rows: Int) {
        var listState = ViewerState()
        listState.list.show(
            (1...50).map { LiveRow(id: "\($0)", name: "生放送 \($0)", owner: "o", viewerCount: $0) }, hasMore: true)
        var helpState = Self.busyLive
        helpState.isHelpShown = true
        for state in [Self.busyLive, listState, helpState, ViewerState()] {
            let lines = Self.lines(state, columns, rows, now: 2000)
            #expect(lines.count == rows)
            for line in lines { #expect(DisplayText(line).width == columns, "\(columns)x\(rows): \(line)") }
        }
    }

    @Test func `in 80 by 24 a live shows title, battle, stage, chat, viewers, requests and input`() {
        let lines = Self.lines(Self.busyLive, 80, 24)
        let text = lines.joined(separator: "\n")
        // The live has lasted 65 s.
        #expect(lines[0].contains("コンサート · alice · 12 watching · 7 likes · 1:05"))
        // The battle ends at 42,000 ms, and the wall clock is at 0.
        #expect(text.contains("alice 30") && text.contains("carol 10") && text.contains("0:42"))
        // The seat with the index 0 is shown as seat 1.
        #expect(text.contains("1 guest 0"))
        #expect(text.contains("bob: message 60"))
        #expect(text.contains("Viewers") && text.contains("★ viewer 1"))
        #expect(text.contains("bob would like a seat: /accept bob or /reject bob"))
        // Two of the three requests are shown: Bob's application and Carol's battle.
        #expect(text.contains("carol challenges you to a battle") && text.contains("(1 more)"))
        #expect(lines[23].hasPrefix("> "))
    }

    @Test func `the help of a live shows each command in 80 by 24`() {
        var state = Self.busyLive
        state.isHelpShown = true
        let text = Self.lines(state, 80, 24).joined(separator: "\n")
        for command in Command.all {
            #expect(text.contains(command.usage) && text.contains(command.text), "\(command.name)")
        }
    }

    @Test func `the list of lives shows the line of the cursor after a long move`() {
        var state = ViewerState()
        state.list.show(
            (1...50).map { LiveRow(id: "l\($0)", name: "live \($0)", owner: "host", viewerCount: $0) }, hasMore: false)
        // The cursor moves from live 1 to live 41, beyond the 24 rows.
        state.list.move(by: 40)
        let lines = Self.lines(state, 80, 24)
        // The line ends with the number of viewers.
        #expect(lines.contains { $0.contains("live 41") && $0.contains("host") && $0.hasSuffix("41 ") })
        #expect(lines[23].contains("Enter watch"))
    }

    @Test func `the cursor of the list stays on its live when the list changes`() {
        var page = LiveListPage()
        func row(_ id: String) -> LiveRow { LiveRow(id: id, name: id, owner: "", viewerCount: 0) }
        page.show([row("a"), row("b")], hasMore: false)
        // The cursor moves to b.
        page.move(by: 1)
        page.show([row("c"), row("a"), row("b")], hasMore: false)
        #expect(page.selectedLive?.id == "b")
        page.show([], hasMore: false)
        #expect(page.selectedLive == nil && page.selected == 0)
        page.move(by: 5)
        #expect(page.selected == 0)
    }

    @Test func `an error message disappears after eight seconds`() {
        var state = Self.busyLive
        state.showMessage("no such user", isError: true, at: 0)
        // Row 22 is above the input. It shows a message, or the hint "Type a message" if there is none.
        #expect(Self.lines(state, 80, 24)[22].hasPrefix("no such user"))
        #expect(Self.lines(state, 80, 24, now: 8001)[22].hasPrefix("Type a message"))
    }

    @Test func `control characters in users' names and texts do not reach the terminal`() {
        var state = Self.busyLive
        state.live?.add(ChatLine(author: "\u{1B}[31mmallory", text: "a\u{07}b\u{9B}2Jc\u{202E}d\u{200B}e\r\nf"))
        state.live?.name = "\u{1B}]0;title\u{07}"
        var painter = Painter()
        let canvas = Screen.draw(state, Size(columns: 80, rows: 24), now: 0, wallTime: 0).canvas
        for line in canvas.lines {
            for scalar in line.unicodeScalars { #expect(scalar.properties.generalCategory != .control, "\(line)") }
            #expect(!line.unicodeScalars.contains("\u{202E}"))
        }
        let text = String(decoding: painter.paint(canvas, cursor: nil), as: UTF8.self)
        #expect(!text.contains("\u{1B}]0;") && !text.contains("\u{07}"))
    }

    @Test func `a chat that is scrolled back shows the same lines when a message arrives`() {
        var state = Self.busyLive
        state.live?.scrolledLines = 10
        let linesBefore = Self.lines(state, 80, 24)
        #expect(linesBefore.contains { $0.contains("newer messages") })
        state.live?.add(ChatLine(author: "bob", text: "one more"))
        let linesAfter = Self.lines(state, 80, 24)
        #expect(linesBefore == linesAfter)
    }

    @Test func `only changed cells are sent to the terminal`() {
        var painter = Painter()
        let size = Size(columns: 80, rows: 24)
        var state = Self.busyLive
        let firstBytes = painter.paint(Screen.draw(state, size, now: 0, wallTime: 0).canvas, cursor: nil)
        let bytesWithoutChange = painter.paint(Screen.draw(state, size, now: 0, wallTime: 0).canvas, cursor: nil)
        state.input.press(.character("x"))
        let bytesOfChange = painter.paint(Screen.draw(state, size, now: 0, wallTime: 0).canvas, cursor: (3, 23))
        // The first drawing sends all 80 * 24 = 1920 cells. The others send only changed cells and the cursor.
        #expect(firstBytes.count > 1000)
        #expect(bytesWithoutChange.count < 40)
        #expect(bytesOfChange.count < 80)
        // The `x` follows `> ` in the last row: row 24 and column 3, counted from 1.
        #expect(String(decoding: bytesOfChange, as: UTF8.self).contains("\u{1B}[24;3H\u{1B}[0mx"))
    }

    @Test func `a painter without colours sends no colour`() {
        var painter = Painter(hasColour: false)
        let canvas = Screen.draw(Self.busyLive, Size(columns: 80, rows: 24), now: 0, wallTime: 0).canvas
        let text = String(decoding: painter.paint(canvas, cursor: nil), as: UTF8.self)
        for colour in Colour.allCases { #expect(!text.contains(";\(colour.rawValue)m")) }
    }
}

/// The boxes of a stage's seats, and the bar of a battle's scores.
@Suite struct StageTests {
    @Test func `the boxes of a grid cover the stage without overlapping`() {
        let stage = Box(x: 0, y: 3, columns: 80, rows: 8)
        // Columns 0 to 79 and rows 3 to 10.
        for count in 1...20 {
            let boxes = StageBoxes.boxes(of: (0..<count).map { SeatBox(index: $0, name: "") }, in: stage)
            #expect(boxes.count == count)
            for (index, box) in boxes.enumerated() {
                #expect(box.x >= 0 && box.x + box.columns <= 80 && box.y >= 3 && box.y + box.rows <= 11)
                for laterBox in boxes[(index + 1)...] {
                    let areApart =
                        box.x + box.columns <= laterBox.x || laterBox.x + laterBox.columns <= box.x
                        || box.y + box.rows <= laterBox.y || laterBox.y + laterBox.rows <= box.y
                    #expect(areApart)
                }
            }
        }
    }

    @Test func `the bar of a battle fills its row, and each side's part grows with its score`() {
        #expect(BattleLine.widths([0, 0], columns: 80) == [40, 40])
        // Each side has at least ten columns; the scores divide the other 60: 10 + 60 * 3 / 4 and 10 + 60 * 1 / 4.
        #expect(BattleLine.widths([300, 100], columns: 80) == [55, 25])
        #expect(BattleLine.widths([Int.max, 0], columns: 80) == [70, 10])
        #expect(BattleLine.widths([1, 2, 3], columns: 77).reduce(0, +) == 77)
        #expect(BattleLine.widths([], columns: 80) == [])
    }
}
