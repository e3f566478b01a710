// SPDX-License-Identifier: Apache-2.0

/// Draws the page of a live.
///
/// From top to bottom: title, lanes, battle, stage, chat beside the viewers, requests, message, and input.
enum LiveScreen {
    static let hint = "Type a message and press Enter. Commands begin with /: /help shows them all."

    static func title(of live: LivePage) -> String {
        let name = live.name.isEmpty ? live.id : live.name
        let count = "\(live.viewerCount)\(live.isCountStale ? "?" : "")"
        let likes = "\(live.likeCount) \(live.likeCount == 1 ? "like" : "likes")"
        return "\(name) · \(live.owner) · \(count) watching · \(likes) · \(clockText(live.durationSeconds))"
    }

    /// The boxes of the parts of the screen; a part for which there is no room has no rows.
    struct Layout: Equatable {
        var lanes: Box
        var battle: Box
        var stage: Box
        var chat: Box
        var audience: Box
        var requests: Box

        /// Divides the rows of the screen.
        ///
        /// On a low screen, the lanes, the battle and the stage have no rows, so that the chat keeps some.
        init(_ live: LivePage, _ size: Size) {
            // The title takes the first row, the message and the input take the last two rows.
            let bottom = size.rows - 2
            let requestRows = min(live.requests.count, bottom > 10 ? 2 : 1)
            let battleRows = live.battle == nil || bottom < 10 ? 0 : 2
            let bodyRows = bottom - 1 - requestRows - battleRows
            let laneRows = bodyRows < 8 ? 0 : min(max(bodyRows / 6, 1), 6)
            let rowsBelowLanes = bodyRows - laneRows
            let stageRows = rowsBelowLanes < 10 || live.seats.isEmpty ? 0 : max(rowsBelowLanes * 2 / 5, 5)
            let chatRows = rowsBelowLanes - stageRows
            let audienceColumns = size.columns >= 64 ? min(size.columns / 4, 28) : 0
            var y = 1
            func nextBox(rows: Int) -> Box {
                defer { y += rows }
                return Box(x: 0, y: y, columns: size.columns, rows: rows)
            }
            self.lanes = nextBox(rows: laneRows)
            self.battle = nextBox(rows: battleRows)
            self.stage = nextBox(rows: stageRows)
            self.chat = nextBox(rows: chatRows)
            self.requests = nextBox(rows: requestRows)
            self.chat.columns -= audienceColumns
            self.audience = Box(x: self.chat.columns, y: self.chat.y, columns: audienceColumns, rows: chatRows)
        }
    }

    /// The number of lanes in which messages fly.
    static func laneCount(_ live: LivePage, _ size: Size) -> Int { Layout(live, size).lanes.rows }

    static func draw(_ live: LivePage, _ userName: String, on canvas: inout Canvas, now: Double, wallTime: Double) {
        let layout = Layout(live, canvas.size)
        if let battle = live.battle, layout.battle.rows > 0 {
            BattleLine.draw(battle, on: &canvas, layout.battle, wallTime: wallTime)
        }
        if layout.stage.rows > 0 { StageBoxes.draw(live.seats, on: &canvas, layout.stage) }
        Self.drawChat(live, userName, on: &canvas, layout.chat)
        if layout.audience.columns > 0 { Self.drawAudience(live, on: &canvas, layout.audience) }
        for (line, request) in live.requests.prefix(layout.requests.rows).enumerated() {
            let hiddenCount = line == layout.requests.rows - 1 ? live.requests.count - layout.requests.rows : 0
            let suffix = hiddenCount > 0 ? " (\(hiddenCount) more)" : ""
            let text = "\(request.sentence): /accept \(request.name) or /reject \(request.name)\(suffix)"
            canvas.draw(
                DisplayText(text).prefix(columns: canvas.size.columns), x: 0, y: layout.requests.y + line,
                Style(.yellow, isBold: true))
        }
        live.lanes.draw(on: &canvas, layout.lanes, at: now)
    }

    private static func drawChat(_ live: LivePage, _ userName: String, on canvas: inout Canvas, _ box: Box) {
        // The newest line is the first. `authorColumns` is the width of the author's name at the beginning of the line.
        var lines: [(text: DisplayText, style: Style, authorColumns: Int)] = []
        // Messages are wrapped from the newest one back, until the lines fill the box.
        for line in live.chat.dropLast(min(live.scrolledLines, max(live.chat.count - 1, 0))).reversed() {
            if lines.count >= box.rows { break }
            let author = DisplayText(line.author).prefix(columns: max(box.columns / 3, 4))
            let text = line.author.isEmpty ? "· \(line.text)" : "\(author.string): \(line.text)"
            let style = line.author.isEmpty ? Style.dim : .normal
            let wrapped = DisplayText(text).wrapped(columns: box.columns - 1)
            for (index, part) in wrapped.enumerated().reversed() {
                lines.append((part, style, index == 0 && !line.author.isEmpty ? author.width : 0))
            }
        }
        for (index, line) in lines.prefix(box.rows).enumerated() {
            let y = box.y + box.rows - 1 - index
            canvas.draw(line.text, x: 0, y: y, line.style)
            guard line.authorColumns > 0 else { continue }
            let name = DisplayText(line.text.string).first(columns: line.authorColumns)
            canvas.draw(name, x: 0, y: y, Style(name.string == userName ? .red : colour(of: name.string), isBold: true))
        }
        if live.scrolledLines > 0, box.rows > 0 {
            canvas.draw("↓ newer messages: PageDown", x: 0, y: box.y + box.rows - 1, .reversed)
        }
    }

    private static func drawAudience(_ live: LivePage, on canvas: inout Canvas, _ box: Box) {
        for y in box.y..<box.y + box.rows { canvas.draw("│", x: box.x, y: y, .dim) }
        guard box.rows > 1 else { return }
        canvas.draw("Viewers", x: box.x + 2, y: box.y, .bold)
        let rows = box.rows - 1
        let isShortened = live.audience.count > rows
        for (line, viewer) in live.audience.prefix(isShortened ? rows - 1 : rows).enumerated() {
            let text = DisplayText((viewer.isHost ? "★ " : "  ") + viewer.name).prefix(columns: box.columns - 3)
            canvas.draw(text, x: box.x + 2, y: box.y + 1 + line)
        }
        if isShortened, rows > 0 {
            canvas.draw("  … \(live.audience.count - rows + 1) more", x: box.x + 2, y: box.y + rows, .dim)
        }
    }
}

extension DisplayText {
    /// The first characters that fit into this many columns, without an ellipsis.
    func first(columns: Int) -> DisplayText {
        var (text, usedColumns) = ("", 0)
        for character in self.characters {
            usedColumns += Self.width(of: character)
            if usedColumns > columns { break }
            text.append(character)
        }
        return DisplayText(text)
    }
}

extension LivePage {
    /// Moves the flying messages; call this before each drawing.
    package mutating func advance(to now: Double, _ size: Size) {
        self.lanes.advance(to: now, columns: size.columns, lanes: LiveScreen.laneCount(self, size))
    }
}
