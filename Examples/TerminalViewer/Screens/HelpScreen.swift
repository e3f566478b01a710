// SPDX-License-Identifier: Apache-2.0

/// Draws the page that shows keys and commands.
enum HelpScreen {
    static func draw(on canvas: inout Canvas, isLive: Bool) {
        let (columns, rows) = (canvas.size.columns, canvas.size.rows)
        canvas.fill(x: 0, y: 0, columns: columns, .reversed)
        canvas.draw(DisplayText(" Help: any key goes back").prefix(columns: columns), x: 0, y: 0, .reversed)
        let entries = isLive ? Self.liveEntries : Self.listEntries
        // The entries begin in the third row, and the last row stays empty. In 80 by 24 cells, all commands fit only in
        // two columns.
        let hasTwoColumns = columns >= 76 && entries.count > rows - 3
        let entriesPerColumn = hasTwoColumns ? (entries.count + 1) / 2 : entries.count
        let columnWidth = hasTwoColumns ? columns / 2 : columns
        for (index, entry) in entries.enumerated() {
            let (x, y) = (index / entriesPerColumn * columnWidth, 2 + index % entriesPerColumn)
            guard y < rows else { continue }
            // A name has the cells 1 to 17, cell 18 stays empty, and the text begins at cell 19.
            canvas.draw(DisplayText(entry.name).prefix(columns: 17), x: x + 1, y: y, .bold)
            canvas.draw(DisplayText(entry.text).prefix(columns: columnWidth - 19), x: x + 19, y: y)
        }
    }

    private static let liveEntries: [(name: String, text: String)] =
        Command.all.map { ($0.usage, $0.text) } + [
            ("PageUp PageDown", "scroll the chat"), ("Tab", "complete a command"),
            ("Up Down", "earlier lines"), ("//text", "send /text"),
            ("Ctrl-C", "leave the program"),
        ]

    private static let listEntries: [(name: String, text: String)] = [
        ("Up Down", "choose a live"), ("Enter", "watch it"), ("g", "go live yourself"), ("n", "read more lives"),
        ("r", "read the list again"), ("q, Ctrl-C", "leave the program"),
    ]
}
