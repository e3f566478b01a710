// SPDX-License-Identifier: Apache-2.0

/// Messages that fly over the screen from right to left, each in a lane.
///
/// Messages never overlap: all fly at the same speed, so a message never reaches the one before it in its lane.
package struct BarrageLanes: Hashable, Sendable {
    /// A flying message.
    package struct Flight: Hashable, Sendable {
        package let text: DisplayText
        package let style: Style
        package let lane: Int
        /// When the first character entered at the right edge, in milliseconds.
        let startTime: Double
    }

    /// A message for which no lane had room yet.
    private struct WaitingMessage: Hashable, Sendable {
        let text: DisplayText
        let style: Style
    }

    /// The speed of all messages: 16 columns a second.
    private static let columnsPerMillisecond = 0.016
    /// The minimum distance of two messages of a lane, in columns.
    private static let gap = 3
    /// The maximum width of a message, in columns; the rest is left out.
    private static let maxColumns = 60
    /// The maximum number of waiting messages, as a multiple of the number of lanes.
    private static let maxWaitingPerLane = 2

    package private(set) var flights: [Flight] = []
    private var waiting: [WaitingMessage] = []

    package init() {}

    /// Whether anything moves, so that the screen must be drawn again soon.
    package var isMoving: Bool { !self.flights.isEmpty || !self.waiting.isEmpty }

    /// Adds a message, which flies as soon as a lane has room.
    package mutating func add(_ text: String, _ style: Style) {
        self.waiting.append(WaitingMessage(text: DisplayText(text).prefix(columns: Self.maxColumns), style: style))
    }

    /// Starts messages that have room, and drops those that have flown by.
    ///
    /// If too many messages wait, the oldest are dropped; the chat still shows them.
    ///
    /// - Parameters:
    ///   - now: the time in milliseconds.
    ///   - columns: the width of the lanes.
    ///   - lanes: the number of lanes; messages in lanes that no longer exist are dropped.
    package mutating func advance(to now: Double, columns: Int, lanes: Int) {
        self.flights.removeAll { $0.lane >= lanes || Self.x(of: $0, now, columns) + $0.text.width <= 0 }
        for lane in 0..<max(lanes, 0) where !self.waiting.isEmpty && self.hasRoom(in: lane, now, columns) {
            let next = self.waiting.removeFirst()
            self.flights.append(Flight(text: next.text, style: next.style, lane: lane, startTime: now))
        }
        self.waiting.removeFirst(max(0, self.waiting.count - Self.maxWaitingPerLane * max(lanes, 0)))
    }

    /// Drops all messages.
    package mutating func clear() { self = BarrageLanes() }

    /// Draws the messages into a part of a canvas; each lane is one row.
    package func draw(on canvas: inout Canvas, _ box: Box, at now: Double) {
        for flight in self.flights where flight.lane < box.rows {
            let x = Self.x(of: flight, now, box.columns)
            canvas.draw(flight.text, x: box.x + x, y: box.y + flight.lane, flight.style)
        }
    }

    /// Whether the lane's last message has moved so far that the next one can start behind it.
    private func hasRoom(in lane: Int, _ now: Double, _ columns: Int) -> Bool {
        guard let last = self.flights.last(where: { $0.lane == lane }) else { return true }
        return Self.x(of: last, now, columns) + last.text.width + Self.gap <= columns
    }

    /// The column of a message's first character; negative when this character has left the screen.
    private static func x(of flight: Flight, _ now: Double, _ columns: Int) -> Int {
        columns - Int(((now - flight.startTime) * self.columnsPerMillisecond).rounded(.down))
    }
}
