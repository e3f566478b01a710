// SPDX-License-Identifier: Apache-2.0
package import CoreKit

/// When records go on their way: at once while few come, together while many do.
///
/// The broker's work is by the request, not by the record. So a record that comes a gap or more after the last one was
/// sent goes at once; others wait until the gap is over and go together, in the order in which they came.
package struct Gathering<Record: Sendable>: Sendable {
    /// What becomes of a record.
    package enum Step: Equatable, Sendable {
        /// It goes now.
        case send
        /// It waits, and somebody waits for the end of the gap already.
        case wait
        /// It is the first that waits: somebody must `take` at `due`.
        case begin
        /// Too many wait.
        case full
    }

    /// The least time between two sendings, while records keep coming.
    package let gap: Milliseconds
    /// How many may wait.
    package let limit: Int
    private var sentAt = Timestamp.distantPast
    private var waiting: [Record] = []
    private var isWaitedFor = false

    /// Begins with nothing sent.
    package init(gap: Milliseconds, limit: Int) {
        self.gap = gap
        self.limit = limit
    }

    /// When those that wait are to be taken.
    package var due: Timestamp { self.sentAt + self.gap }

    /// A record comes.
    ///
    /// - Parameters:
    ///   - record: kept if it must wait.
    ///   - now: by a clock that never goes back.
    /// - Returns: what becomes of it; the caller sends it if it goes now.
    package mutating func add(_ record: @autoclosure () -> Record, now: Timestamp) -> Step {
        if !self.isWaitedFor, now >= self.due {
            self.sentAt = now
            return .send
        }
        guard self.waiting.count < self.limit else { return .full }
        self.waiting.append(record())
        if self.isWaitedFor { return .wait }
        self.isWaitedFor = true
        return .begin
    }

    /// The gap is over.
    ///
    /// - Parameter now: by the same clock.
    /// - Returns: those that waited, to be sent now, after which the next gap is waited for; empty when none came and
    ///   nobody need wait any longer.
    package mutating func take(now: Timestamp) -> [Record] {
        guard !self.waiting.isEmpty else {
            self.isWaitedFor = false
            return []
        }
        self.sentAt = now
        defer { self.waiting.removeAll(keepingCapacity: false) }
        return self.waiting
    }
}
