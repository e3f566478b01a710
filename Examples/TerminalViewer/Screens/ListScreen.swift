// SPDX-License-Identifier: Apache-2.0

/// Draws the list of lives.
enum ListScreen {
    static let keys = "↑↓ choose · Enter watch · g go live · n more · r refresh · ? help · q quit"

    static func draw(_ list: LiveListPage, on canvas: inout Canvas) {
        let (columns, rows) = (canvas.size.columns, canvas.size.rows)
        // Above the list are the title and the headings; below it are the message and the keys.
        let body = Box(x: 0, y: 2, columns: columns, rows: rows - 4)
        // The columns for the name and the owner share the room that the number of viewers leaves.
        let viewersWidth = 9
        let ownerWidth = max((columns - viewersWidth) / 3, 6)
        let nameWidth = columns - viewersWidth - ownerWidth - 2
        canvas.draw(DisplayText("  Live").prefix(columns: nameWidth), x: 0, y: 1, .dim)
        canvas.draw(DisplayText("Host").prefix(columns: ownerWidth), x: nameWidth + 1, y: 1, .dim)
        // Seven letters, and one blank column at the edge.
        canvas.draw("Viewers", x: columns - 8, y: 1, .dim)
        if list.lives.isEmpty {
            let text = list.isLoading ? "Reading the list …" : "Nobody is live. Press g to go live yourself."
            canvas.draw(DisplayText(text).prefix(columns: columns - 2), x: 2, y: body.y + 1)
            return
        }
        let first = Self.firstShownIndex(list, rows: body.rows)
        for (line, index) in (first..<min(first + body.rows, list.lives.count)).enumerated() {
            let (live, y) = (list.lives[index], body.y + line)
            let style = index == list.selected ? Style.reversed : .normal
            canvas.fill(x: 0, y: y, columns: columns, style)
            let title = live.name.isEmpty ? live.id : live.name
            canvas.draw(DisplayText("  " + title).prefix(columns: nameWidth), x: 0, y: y, style)
            canvas.draw(DisplayText(live.owner).prefix(columns: ownerWidth), x: nameWidth + 1, y: y, style)
            let count = DisplayText("\(live.viewerCount)")
            canvas.draw(count, x: columns - 1 - count.width, y: y, style)
        }
        if list.hasMore {
            let text = DisplayText("  … more lives: press n").prefix(columns: columns)
            let rowAfterList = body.y + list.lives.count - first
            let y = min(rowAfterList, rows - 3)
            if y >= rowAfterList { canvas.draw(text, x: 0, y: y, .dim) }
        }
    }

    /// The index of the first live that is shown.
    ///
    /// If the list is longer than the screen, the cursor is in the middle where that is possible.
    private static func firstShownIndex(_ list: LiveListPage, rows: Int) -> Int {
        min(max(list.selected - rows / 2, 0), max(list.lives.count - rows, 0))
    }
}
