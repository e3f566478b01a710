// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// Decides when records are sent: immediately while the rate is low, in batches while it is high.
///
/// The broker's cost grows with the number of requests, not of records. A record is sent immediately if the previous
/// send is at least one gap ago. Other records are buffered until the gap has passed, and are then sent together, in
/// order.
package struct BatchingPolicy<Record: Sendable>: Sendable {
    /// What the caller must do after adding a record.
    package enum Step: Equatable, Sendable {
        /// Send the record now.
        case send
        /// Nothing: the record was buffered, and a `take` is scheduled already.
        case wait
        /// Call `take` at `due`: the record is the first one buffered.
        case begin
        /// Refuse the record: the buffer is full.
        case full
    }

    /// The least time between two sends.
    package let gap: Milliseconds
    /// The largest number of buffered records.
    package let limit: Int
    private var sentAt = MonotonicTime.distantPast
    private var waiting: [Record] = []
    private var isTakeDue = false

    /// Creates a policy with an empty buffer, for which the first record is sent immediately.
    package init(gap: Milliseconds, limit: Int) {
        self.gap = gap
        self.limit = limit
    }

    /// The time at which the buffered records must be sent.
    package var due: MonotonicTime { self.sentAt + self.gap }

    /// Adds a record.
    ///
    /// - Parameters:
    ///   - record: Evaluated only if the record is buffered.
    ///   - now: The current monotonic time.
    /// - Returns: What the caller must do.
    package mutating func add(_ record: @autoclosure () -> Record, now: MonotonicTime) -> Step {
        if !self.isTakeDue, now >= self.due {
            self.sentAt = now
            return .send
        }
        guard self.waiting.count < self.limit else { return .full }
        self.waiting.append(record())
        if self.isTakeDue { return .wait }
        self.isTakeDue = true
        return .begin
    }

    /// Removes the buffered records, when the gap has passed.
    ///
    /// - Parameter now: The current monotonic time.
    /// - Returns: The records to send now; the next `take` is then due one gap later. Empty if none was buffered; then
    ///   no further `take` is due.
    package mutating func take(now: MonotonicTime) -> [Record] {
        guard !self.waiting.isEmpty else {
            self.isTakeDue = false
            return []
        }
        self.sentAt = now
        defer { self.waiting.removeAll(keepingCapacity: false) }
        return self.waiting
    }
}
