// SPDX-License-Identifier: Apache-2.0

/// Draws the scores of a battle with its clock, and a bar that is divided in proportion to the scores.
enum BattleLine {
    private static let colours: [Colour] = [.red, .blue, .green, .magenta, .yellow, .cyan]

    static func draw(_ battle: BattleBar, on canvas: inout Canvas, _ box: Box, wallTime: Double) {
        let secondsLeft = max(0, Int(((battle.endTime - wallTime) / 1000).rounded(.up)))
        let clock = DisplayText(" \(clockText(secondsLeft)) ")
        let widths = Self.widths(battle.sides.map(\.score), columns: box.columns)
        var x = box.x
        for (index, width) in widths.enumerated() {
            let style = Style(Self.colours[index % Self.colours.count], isBold: true)
            // Two characters alternate, so that neighbours differ in a terminal without colours, too.
            canvas.fill(x: x, y: box.y + 1, columns: width, style, with: index % 2 == 0 ? "█" : "░")
            x += width
        }
        // The names of two hosts are at the two ends of the row; more names follow one another.
        let nameColumns = box.columns - clock.width
        if battle.sides.count == 2 {
            let texts = battle.sides.map { DisplayText("\($0.name) \($0.score)").prefix(columns: nameColumns / 2) }
            canvas.draw(texts[0], x: box.x, y: box.y, Style(Self.colours[0], isBold: true))
            canvas.draw(
                texts[1], x: box.x + box.columns - texts[1].width, y: box.y, Style(Self.colours[1], isBold: true))
            canvas.draw(clock, x: box.x + nameColumns / 2, y: box.y, .reversed)
        } else {
            x = box.x
            for (index, side) in battle.sides.enumerated() {
                let text = DisplayText("\(side.name) \(side.score)  ").prefix(columns: max(0, box.x + nameColumns - x))
                canvas.draw(text, x: x, y: box.y, Style(Self.colours[index % Self.colours.count], isBold: true))
                x += text.width
            }
            canvas.draw(clock, x: box.x + nameColumns, y: box.y, .reversed)
        }
    }

    /// The columns of each side.
    ///
    /// Each side gets a quarter of an equal share of the columns. The other columns are divided in proportion to the
    /// scores.
    static func widths(_ scores: [Int], columns: Int) -> [Int] {
        guard !scores.isEmpty, columns > 0 else { return [] }
        let minimumWidth = columns / (scores.count * 4)
        let total = scores.reduce(0.0) { $0 + Double($1) }
        let sharedColumns = Double(columns - minimumWidth * scores.count)
        // The part of the total score that the sides so far have, from 0 to 1.
        var fraction = 0.0
        var (edge, widths) = (0, [Int]())
        for (index, score) in scores.enumerated() {
            fraction += total > 0 ? Double(score) / total : 1 / Double(scores.count)
            let nextEdge =
                index == scores.count - 1
                ? columns : minimumWidth * (index + 1) + Int((sharedColumns * fraction).rounded())
            widths.append(nextEdge - edge)
            edge = nextEdge
        }
        return widths
    }
}
