// SPDX-License-Identifier: Apache-2.0

/// A live: from above title, lanes, battle, stage, chat beside viewers, requests, messages, and the input.
enum LiveScreen {
    static let hint = "Type a message and press Enter. Commands begin with /: /help shows them all."

    static func title(of live: LivePage) -> String {
        let name = live.name.isEmpty ? live.id : live.name
        let count = "\(live.viewers)\(live.isCountStale ? "?" : "")"
        let likes = "\(live.likes) \(live.likes == 1 ? "like" : "likes")"
        return "\(name) · \(live.owner) · \(count) watching · \(likes) · \(clockText(live.seconds))"
    }

    /// Which rows the parts of the screen take.
    struct Layout: Equatable {
        var lanes: Box
        var battle: Box
        var stage: Box
        var chat: Box
        var people: Box
        var requests: Box

        init(_ live: LivePage, _ size: Size) {
            // The title, and at the bottom messages and input.
            let bottom = size.rows - 2
            let requests = min(live.requests.count, bottom > 10 ? 2 : 1)
            let battle = live.battle == nil || bottom < 10 ? 0 : 2
            let body = bottom - 1 - requests - battle
            let lanes = body < 8 ? 0 : min(max(body / 6, 1), 6)
            let stage = body - lanes < 10 || live.seats.isEmpty ? 0 : max((body - lanes) * 2 / 5, 5)
            let chat = body - lanes - stage
            let people = size.columns >= 64 ? min(size.columns / 4, 28) : 0
            var y = 1
            func next(_ rows: Int) -> Box {
                defer { y += rows }
                return Box(x: 0, y: y, columns: size.columns, rows: rows)
            }
            self.lanes = next(lanes)
            self.battle = next(battle)
            self.stage = next(stage)
            self.chat = next(chat)
            self.requests = next(requests)
            self.chat.columns -= people
            self.people = Box(x: self.chat.columns, y: self.chat.y, columns: people, rows: chat)
        }
    }

    /// How many lanes messages fly in.
    static func laneCount(_ live: LivePage, _ size: Size) -> Int { Layout(live, size).lanes.rows }

    static func draw(_ live: LivePage, _ userName: String, on canvas: inout Canvas, now: Double, wall: Double) {
        let layout = Layout(live, canvas.size)
        if let battle = live.battle, layout.battle.rows > 0 {
            BattleLine.draw(battle, on: &canvas, layout.battle, wall: wall)
        }
        if layout.stage.rows > 0 { StageBoxes.draw(live.seats, on: &canvas, layout.stage) }
        Self.drawChat(live, userName, on: &canvas, layout.chat)
        if layout.people.columns > 0 { Self.drawPeople(live, on: &canvas, layout.people) }
        for (line, request) in live.requests.prefix(layout.requests.rows).enumerated() {
            let more = line == layout.requests.rows - 1 ? live.requests.count - layout.requests.rows : 0
            let suffix = more > 0 ? " (\(more) more)" : ""
            let text = "\(request.sentence): /accept \(request.name) or /reject \(request.name)\(suffix)"
            canvas.draw(
                DisplayText(text).prefix(columns: canvas.size.columns), x: 0, y: layout.requests.y + line,
                Style(.yellow, isBold: true))
        }
        live.lanes.draw(on: &canvas, layout.lanes, at: now)
    }

    private static func drawChat(_ live: LivePage, _ userName: String, on canvas: inout Canvas, _ box: Box) {
        var lines: [(text: DisplayText, style: Style, author: Int)] = []
        // Only as many messages are wrapped as can be seen.
        for line in live.chat.dropLast(min(live.scroll, max(live.chat.count - 1, 0))).reversed() {
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
            guard line.author > 0 else { continue }
            let name = DisplayText(line.text.string).columns(line.author)
            canvas.draw(name, x: 0, y: y, Style(name.string == userName ? .red : colour(of: name.string), isBold: true))
        }
        if live.scroll > 0, box.rows > 0 {
            canvas.draw("↓ newer messages: PageDown", x: 0, y: box.y + box.rows - 1, .reversed)
        }
    }

    private static func drawPeople(_ live: LivePage, on canvas: inout Canvas, _ box: Box) {
        for y in box.y..<box.y + box.rows { canvas.draw("│", x: box.x, y: y, .dim) }
        guard box.rows > 1 else { return }
        canvas.draw("Viewers", x: box.x + 2, y: box.y, .bold)
        let rows = box.rows - 1
        let isCut = live.people.count > rows
        for (line, person) in live.people.prefix(isCut ? rows - 1 : rows).enumerated() {
            let text = DisplayText((person.isHost ? "★ " : "  ") + person.name).prefix(columns: box.columns - 3)
            canvas.draw(text, x: box.x + 2, y: box.y + 1 + line)
        }
        if isCut, rows > 0 {
            canvas.draw("  … \(live.people.count - rows + 1) more", x: box.x + 2, y: box.y + rows, .dim)
        }
    }
}

extension DisplayText {
    /// The first characters, as many as are in so many columns.
    func columns(_ count: Int) -> DisplayText {
        var (taken, used) = ("", 0)
        for character in self.characters {
            used += Self.width(of: character)
            if used > count { break }
            taken.append(character)
        }
        return DisplayText(taken)
    }
}

extension LivePage {
    /// Moves the messages that fly; call it before each drawing.
    package mutating func advance(to now: Double, _ size: Size) {
        self.lanes.advance(to: now, columns: size.columns, lanes: LiveScreen.laneCount(self, size))
    }
}
