// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// Decides which calls of one connection are late retries: first sent longer ago than an idempotency window lasts
/// (R16.11).
///
/// The ids of a session's new calls grow, so a call is a retry if its id is not above the highest id of this connection.
/// Three stored ids give a lower bound of the retry's age; their size does not depend on the number of calls. The age of
/// a call that an earlier connection sent is known only if the client states it.
package struct RetryAges: Hashable, Sendable {
    private struct Mark: Hashable, Sendable {
        var highest: Int64
        /// The last time at which `highest` was recorded as the highest id.
        var at: MonotonicTime
    }

    /// The highest id whose retries are late.
    private var settled = Int64.min
    /// A highest id that becomes `settled` when its window has passed.
    private var settling: Mark?
    /// The highest id of all calls.
    private var newest: Mark?

    /// Creates the state of a connection without calls.
    package init() {}

    /// Records a call, and decides whether it is a late retry.
    ///
    /// A retry is recognised as late after at least one and at most two lengths of the window.
    ///
    /// - Parameters:
    ///   - id: The call's number.
    ///   - statedAge: How long ago the call was first sent, by the client's clock; nil: the client does not state it.
    ///   - now: The loop's time.
    /// - Returns: Whether the call is a late retry.
    package mutating func isLate(_ id: Int64, statedAge: Milliseconds?, at now: MonotonicTime) -> Bool {
        if let settling = self.settling, now - settling.at >= IdempotencyLimits.lifetime {
            self.settled = max(self.settled, settling.highest)
            self.settling = nil
        }
        if let newest = self.newest {
            if now - newest.at >= IdempotencyLimits.lifetime {
                self.settled = max(self.settled, newest.highest)
            } else if self.settling == nil {
                self.settling = newest
            }
        }
        self.newest = Mark(highest: max(id, self.newest?.highest ?? id), at: now)
        if let statedAge, statedAge >= IdempotencyLimits.lifetime { return true }
        return id <= self.settled
    }
}
