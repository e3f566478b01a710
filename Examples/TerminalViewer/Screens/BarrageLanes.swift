// SPDX-License-Identifier: Apache-2.0

/// Messages that fly over the screen from right to left, each in a lane, none over another.
///
/// All fly at the same speed, so a message that follows another in its lane never reaches it.
package struct BarrageLanes: Hashable, Sendable {
    /// A message that flies.
    package struct Flight: Hashable, Sendable {
        package let text: DisplayText
        package let style: Style
        package let lane: Int
        /// When its first character entered at the right edge, in milliseconds.
        let start: Double
    }

    private struct Waiting: Hashable, Sendable {
        let text: DisplayText
        let style: Style
    }

    /// Columns per millisecond.
    private static let speed = 0.016
    /// The columns between two messages of a lane.
    private static let gap = 3
    /// The longest text, in columns.
    private static let maxColumns = 60

    package private(set) var flights: [Flight] = []
    private var waiting: [Waiting] = []

    package init() {}

    /// Whether anything moves, so that the screen must be drawn again soon.
    package var isMoving: Bool { !self.flights.isEmpty || !self.waiting.isEmpty }

    /// Adds a message, which flies as soon as a lane has room.
    package mutating func add(_ text: String, _ style: Style) {
        self.waiting.append(Waiting(text: DisplayText(text).prefix(columns: Self.maxColumns), style: style))
    }

    /// Starts messages that have room, and drops those that have flown by.
    ///
    /// When more wait than two for each lane, the oldest are dropped: the chat shows them all.
    ///
    /// - Parameters:
    ///   - now: the time in milliseconds.
    ///   - columns: the width of the lanes.
    ///   - lanes: the number of lanes; messages in lanes beyond are dropped.
    package mutating func advance(to now: Double, columns: Int, lanes: Int) {
        self.flights.removeAll { $0.lane >= lanes || Self.x(of: $0, now, columns) + $0.text.width <= 0 }
        for lane in 0..<max(lanes, 0) where !self.waiting.isEmpty && self.hasRoom(in: lane, now, columns) {
            let next = self.waiting.removeFirst()
            self.flights.append(Flight(text: next.text, style: next.style, lane: lane, start: now))
        }
        self.waiting.removeFirst(max(0, self.waiting.count - 2 * max(lanes, 0)))
    }

    /// Drops all.
    package mutating func clear() { self = BarrageLanes() }

    /// Draws the messages into a part of a canvas, one lane a row.
    package func draw(on canvas: inout Canvas, _ box: Box, at now: Double) {
        for flight in self.flights where flight.lane < box.rows {
            let x = Self.x(of: flight, now, box.columns)
            canvas.draw(flight.text, x: box.x + x, y: box.y + flight.lane, flight.style)
        }
    }

    private func hasRoom(in lane: Int, _ now: Double, _ columns: Int) -> Bool {
        guard let last = self.flights.last(where: { $0.lane == lane }) else { return true }
        return Self.x(of: last, now, columns) + last.text.width + Self.gap <= columns
    }

    private static func x(of flight: Flight, _ now: Double, _ columns: Int) -> Int {
        columns - Int(((now - flight.start) * self.speed).rounded(.down))
    }
}
