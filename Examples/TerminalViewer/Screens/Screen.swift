// SPDX-License-Identifier: Apache-2.0

/// Draws the viewer: the same state, size and times always give the same canvas.
package enum Screen {
    /// The smallest terminal in which anything is drawn.
    package static let minimum = Size(columns: 20, rows: 6)

    /// Draws a state.
    ///
    /// - Parameters:
    ///   - state: what is shown.
    ///   - size: the terminal's size.
    ///   - now: the time of animations and messages, in milliseconds of any clock that never goes back.
    ///   - wallTime: the time in milliseconds since 1970, for the clock of a battle.
    /// - Returns: the canvas to show, and the position of the cursor; nil to hide the cursor.
    package static func draw(
        _ state: ViewerState, _ size: Size, now: Double, wallTime: Double
    ) -> (canvas: Canvas, cursor: (x: Int, y: Int)?) {
        var canvas = Canvas(size)
        guard size.columns >= Self.minimum.columns, size.rows >= Self.minimum.rows else {
            canvas.draw("make me larger", x: 0, y: 0)
            return (canvas, nil)
        }
        if state.isHelpShown {
            HelpScreen.draw(on: &canvas, isLive: state.live != nil)
            return (canvas, nil)
        }
        var cursor: (x: Int, y: Int)?
        if let live = state.live {
            LiveScreen.draw(live, state.userName, on: &canvas, now: now, wallTime: wallTime)
            Self.drawTitle(LiveScreen.title(of: live), state, on: &canvas)
            cursor = Self.drawInput("> ", state.input, on: &canvas)
        } else {
            ListScreen.draw(state.list, on: &canvas)
            Self.drawTitle("LivePlaza", state, on: &canvas)
            if let question = state.question {
                cursor = Self.drawInput(question + " ", state.input, on: &canvas)
            } else {
                canvas.draw(
                    DisplayText(ListScreen.keys).prefix(columns: size.columns), x: 0, y: size.rows - 1, .dim)
            }
        }
        Self.drawMessage(state, on: &canvas, now: now)
        return (canvas, cursor)
    }

    private static func drawTitle(_ title: String, _ state: ViewerState, on canvas: inout Canvas) {
        let columns = canvas.size.columns
        canvas.fill(x: 0, y: 0, columns: columns, .reversed)
        let user = state.connection == .online ? state.userName : "\(state.userName) (\(state.connection.rawValue))"
        let userText = DisplayText(" \(user) ").prefix(columns: columns / 3)
        canvas.draw(DisplayText(" " + title).prefix(columns: columns - userText.width), x: 0, y: 0, .reversed)
        canvas.draw(userText, x: columns - userText.width, y: 0, .reversed)
    }

    /// Draws the prompt and the input in the last row, and returns the position of the cursor.
    private static func drawInput(
        _ prompt: String, _ input: InputLine, on canvas: inout Canvas
    ) -> (x: Int, y: Int) {
        let y = canvas.size.rows - 1
        let prompt = DisplayText(prompt).prefix(columns: canvas.size.columns / 2)
        let visible = input.visiblePart(columns: canvas.size.columns - prompt.width - 1)
        canvas.draw(prompt, x: 0, y: y, .bold)
        canvas.draw(visible.text, x: prompt.width, y: y)
        return (prompt.width + visible.cursor, y)
    }

    /// Draws the message in the last row but one; in a live without a message, the hint.
    private static func drawMessage(_ state: ViewerState, on canvas: inout Canvas, now: Double) {
        let y = canvas.size.rows - 2
        if let message = state.message, message.shownUntil > now {
            let text = DisplayText(message.text).prefix(columns: canvas.size.columns)
            return canvas.draw(text, x: 0, y: y, message.isError ? .error : Style(.green))
        }
        guard state.live != nil else { return }
        canvas.draw(DisplayText(LiveScreen.hint).prefix(columns: canvas.size.columns), x: 0, y: y, .dim)
    }
}

/// A number of seconds as `0:42` or `1:02:03`.
func clockText(_ seconds: Int) -> String {
    func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60)
    return hours > 0 ? "\(hours):\(twoDigits(minutes)):\(twoDigits(seconds))" : "\(minutes):\(twoDigits(seconds))"
}

/// The colour of a user's name, which depends only on the name (by its FNV-1a hash).
package func colour(of name: String) -> Colour {
    let colours: [Colour] = [.green, .yellow, .blue, .magenta, .cyan]
    let hash = name.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
    return colours[Int(hash % UInt32(colours.count))]
}
