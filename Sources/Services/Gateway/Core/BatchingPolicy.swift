// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// Decides when records are sent: immediately while the rate is low, in batches while it is high.
///
/// The broker's cost grows with the number of requests, not with the number of records. A record is sent immediately if
/// at least `gap` has passed since the previous send. Otherwise it is buffered; when `gap` has passed, all buffered
/// records are sent together, in order.
package struct BatchingPolicy<Record: Sendable>: Sendable {
    /// What the caller must do after adding a record.
    package enum Action: Equatable, Sendable {
        /// Send the record now.
        case send
        /// Nothing: the record was buffered, and a call of `takeBatch` is scheduled already.
        case wait
        /// Call `takeBatch` at `nextBatchAt`: the record was buffered, and no call of `takeBatch` was scheduled.
        case scheduleBatch
        /// Reject the record: the buffer is full.
        case reject
    }

    /// The minimum time between two sends.
    package let gap: Milliseconds
    /// The largest number of buffered records.
    package let limit: Int
    /// When a single record or a batch was last sent.
    private var lastSentAt = MonotonicTime.distantPast
    private var buffered: [Record] = []
    private var isBatchScheduled = false

    /// Creates a policy with an empty buffer, for which the first record is sent immediately.
    package init(gap: Milliseconds, limit: Int) {
        self.gap = gap
        self.limit = limit
    }

    /// The earliest time of the next send; buffered records must be sent then.
    package var nextBatchAt: MonotonicTime { self.lastSentAt + self.gap }

    /// Returns for how long a call of `takeBatch` has been due; zero if none is due.
    package func overdueTime(at now: MonotonicTime) -> Milliseconds {
        self.isBatchScheduled ? max(Milliseconds(0), now - self.nextBatchAt) : Milliseconds(0)
    }

    /// Adds a record.
    ///
    /// - Parameters:
    ///   - record: Evaluated only if the record is buffered.
    ///   - now: The current monotonic time.
    /// - Returns: What the caller must do.
    package mutating func add(_ record: @autoclosure () -> Record, now: MonotonicTime) -> Action {
        if !self.isBatchScheduled, now >= self.nextBatchAt {
            self.lastSentAt = now
            return .send
        }
        guard self.buffered.count < self.limit else { return .reject }
        self.buffered.append(record())
        if self.isBatchScheduled { return .wait }
        self.isBatchScheduled = true
        return .scheduleBatch
    }

    /// Removes and returns the buffered records; called at `nextBatchAt`, or earlier to send the last records at a
    /// stop.
    ///
    /// - Parameter now: The current monotonic time.
    /// - Returns: The records to send now; the caller must call this method again after another `gap`. Empty if no
    ///   record was buffered; the caller then need not call again until `add` returns `scheduleBatch`.
    package mutating func takeBatch(now: MonotonicTime) -> [Record] {
        guard !self.buffered.isEmpty else {
            self.isBatchScheduled = false
            return []
        }
        self.lastSentAt = now
        defer { self.buffered.removeAll(keepingCapacity: false) }
        return self.buffered
    }
}
