// SPDX-License-Identifier: Apache-2.0
package import MachineKit
internal import Synchronization

/// Tells a health check on another thread when a loop made its last turn (one pass through the loop's body).
package final class TurnClock: Sendable {
    private let lastTurnMilliseconds = Atomic<Int64>(MonotonicClock.now.milliseconds)

    /// Creates a clock; until the first turn is recorded, the time of the creation stands for the last turn.
    package init() {}

    /// When the last turn was recorded; when the clock was created, if no turn was recorded yet.
    package var lastTurnAt: MonotonicTime {
        MonotonicTime(milliseconds: self.lastTurnMilliseconds.load(ordering: .relaxed))
    }

    /// How long a loop may take for a turn before it counts as hung.
    package static let turnLimit = Milliseconds.seconds(30)

    /// Whether the last turn was less than `turnLimit` ago.
    package var isTurning: Bool { MonotonicClock.now - self.lastTurnAt < Self.turnLimit }

    /// Records a turn; called on the loop's thread.
    package func recordTurn() { self.lastTurnMilliseconds.store(MonotonicClock.now.milliseconds, ordering: .relaxed) }
}
