// SPDX-License-Identifier: Apache-2.0

/// The size of a terminal in character cells.
package struct Size: Hashable, Sendable {
    package var columns: Int
    package var rows: Int

    package init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }
}

/// Colours that every terminal has, by their numbers in escape sequences.
package enum Colour: UInt8, Sendable, CaseIterable {
    case red = 31
    case green = 32
    case yellow = 33
    case blue = 34
    case magenta = 35
    case cyan = 36
    case normal = 39
}

/// How a cell looks.
package struct Style: Hashable, Sendable {
    package var colour = Colour.normal
    package var isBold = false
    package var isDim = false
    package var isReversed = false

    package init(_ colour: Colour = .normal, isBold: Bool = false, isDim: Bool = false, isReversed: Bool = false) {
        self.colour = colour
        self.isBold = isBold
        self.isDim = isDim
        self.isReversed = isReversed
    }

    package static let normal = Style()
    package static let bold = Style(isBold: true)
    package static let dim = Style(isDim: true)
    package static let reversed = Style(isReversed: true)
    package static let error = Style(.red, isBold: true)
}

/// One cell of a canvas.
package struct Cell: Hashable, Sendable {
    /// The character; nil in the right half of a wide character.
    package var character: Character?
    package var style: Style

    static let empty = Cell(character: " ", style: .normal)
}

/// A rectangle of character cells.
///
/// Whatever is drawn beyond its edges is left out.
package struct Canvas: Hashable, Sendable {
    package let size: Size
    private var cells: [Cell]

    package init(_ size: Size) {
        self.size = Size(columns: max(size.columns, 0), rows: max(size.rows, 0))
        self.cells = Array(repeating: .empty, count: self.size.columns * self.size.rows)
    }

    /// The cells of a row, from the left.
    package func row(_ y: Int) -> ArraySlice<Cell> {
        self.cells[y * self.size.columns..<(y + 1) * self.size.columns]
    }

    /// The text of each row, for tests.
    package var lines: [String] {
        (0..<self.size.rows).map { y in String(self.row(y).compactMap(\.character)) }
    }

    /// Draws a text from a position to the right.
    ///
    /// - Parameters:
    ///   - text: the text, which may begin left of the canvas.
    ///   - x: the column of its first character; may be negative.
    ///   - y: the row; outside the canvas nothing is drawn.
    ///   - style: how it looks.
    package mutating func draw(_ text: DisplayText, x: Int, y: Int, _ style: Style = .normal) {
        var x = x
        for character in text.characters {
            if x >= self.size.columns { return }
            let width = DisplayText.width(of: character)
            if x >= 0, x + width <= self.size.columns {
                self.set(Cell(character: character, style: style), x, y)
                if width == 2 { self.set(Cell(character: nil, style: style), x + 1, y) }
            } else {
                // A wide character of which only one half is inside the canvas becomes a space.
                for column in max(x, 0)..<max(min(x + width, self.size.columns), 0) {
                    self.set(Cell(character: " ", style: style), column, y)
                }
            }
            x += width
        }
    }

    /// Draws a text; see the method with a `DisplayText`.
    package mutating func draw(_ text: String, x: Int, y: Int, _ style: Style = .normal) {
        self.draw(DisplayText(text), x: x, y: y, style)
    }

    /// Fills a part of a row with a style.
    package mutating func fill(x: Int, y: Int, columns: Int, _ style: Style, with character: Character = " ") {
        for column in max(x, 0)..<max(min(x + columns, self.size.columns), max(x, 0)) {
            self.set(Cell(character: character, style: style), column, y)
        }
    }

    /// Draws a frame; one that is smaller than 2 by 2 cells is left out.
    package mutating func frame(_ box: Box, _ style: Style) {
        guard box.columns >= 2, box.rows >= 2 else { return }
        let (right, bottom) = (box.x + box.columns - 1, box.y + box.rows - 1)
        self.fill(x: box.x, y: box.y, columns: box.columns, style, with: "─")
        self.fill(x: box.x, y: bottom, columns: box.columns, style, with: "─")
        for y in box.y...bottom {
            self.draw("│", x: box.x, y: y, style)
            self.draw("│", x: right, y: y, style)
        }
        self.draw("┌", x: box.x, y: box.y, style)
        self.draw("┐", x: right, y: box.y, style)
        self.draw("└", x: box.x, y: bottom, style)
        self.draw("┘", x: right, y: bottom, style)
    }

    private mutating func set(_ cell: Cell, _ x: Int, _ y: Int) {
        guard (0..<self.size.columns).contains(x), (0..<self.size.rows).contains(y) else { return }
        let index = y * self.size.columns + x
        let isRightHalf = cell.character == nil
        // If one half of a wide character is overwritten, the other half becomes a space.
        if self.cells[index].character == nil, !isRightHalf, x > 0 { self.cells[index - 1].character = " " }
        if x + 1 < self.size.columns, self.cells[index + 1].character == nil { self.cells[index + 1].character = " " }
        self.cells[index] = cell
    }
}

/// A part of a canvas.
package struct Box: Hashable, Sendable {
    package var x: Int
    package var y: Int
    package var columns: Int
    package var rows: Int

    package init(x: Int, y: Int, columns: Int, rows: Int) {
        self.x = x
        self.y = y
        self.columns = columns
        self.rows = rows
    }
}
