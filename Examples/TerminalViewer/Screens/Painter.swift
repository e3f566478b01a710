// SPDX-License-Identifier: Apache-2.0

/// Makes the bytes that change a terminal from one canvas to the next; only cells that differ are sent.
package struct Painter: Sendable {
    /// The canvas that the terminal shows; nil if that is not known.
    private var shown: Canvas?
    private let hasColour: Bool

    /// - Parameter hasColour: whether colours are sent; bold, dim and reversed cells are always sent as such.
    package init(hasColour: Bool = true) { self.hasColour = hasColour }

    /// Forgets what the terminal shows, so that everything is sent again.
    package mutating func forget() { self.shown = nil }

    /// The bytes that show a canvas.
    ///
    /// - Parameters:
    ///   - canvas: the canvas to show.
    ///   - cursor: the position of the cursor; nil to hide it.
    /// - Returns: the text and escape sequences for the terminal.
    package mutating func paint(_ canvas: Canvas, cursor: (x: Int, y: Int)?) -> [UInt8] {
        // Mode 2026 (synchronized output) makes the terminal show all changes at once; other terminals ignore it.
        var text = "\u{1B}[?2026h\u{1B}[?25l"
        let before = self.shown?.size == canvas.size ? self.shown : nil
        if before == nil { text += "\u{1B}[0m\u{1B}[2J" }
        // The style of the last cell that was sent; nil before the first one.
        var style: Style?
        for y in 0..<canvas.size.rows { self.paint(canvas.row(y), before?.row(y), y, &style, &text) }
        if style != nil { text += "\u{1B}[0m" }
        if let cursor { text += Self.move(cursor.x, cursor.y) + "\u{1B}[?25h" }
        text += "\u{1B}[?2026l"
        self.shown = canvas
        return Array(text.utf8)
    }

    /// Adds the bytes for the cells of a row that differ from `before`.
    private func paint(
        _ row: ArraySlice<Cell>, _ before: ArraySlice<Cell>?, _ y: Int, _ style: inout Style?, _ text: inout String
    ) {
        // Whether the terminal's cursor is at the next cell, because the cell before it was sent.
        var isCursorInPlace = false
        for (x, cell) in row.enumerated() {
            let old = before.map { $0[$0.startIndex + x] }
            guard old != cell else {
                isCursorInPlace = false
                continue
            }
            // The terminal draws the right half of a wide character together with its left half.
            guard let character = cell.character else { continue }
            if !isCursorInPlace { text += Self.move(x, y) }
            if style != cell.style { text += self.sequence(cell.style) }
            style = cell.style
            text.append(character)
            // Terminals disagree on the width of some characters. After such a character the cursor is moved
            // explicitly.
            isCursorInPlace = character.isASCII || "─│┌┐└┘█░".contains(character)
        }
    }

    private func sequence(_ style: Style) -> String {
        var codes = ["0"]
        if style.isBold { codes.append("1") }
        if style.isDim { codes.append("2") }
        if style.isReversed { codes.append("7") }
        if self.hasColour, style.colour != .normal { codes.append("\(style.colour.rawValue)") }
        return "\u{1B}[" + codes.joined(separator: ";") + "m"
    }

    private static func move(_ x: Int, _ y: Int) -> String { "\u{1B}[\(y + 1);\(x + 1)H" }
}
