// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// Decides which calls of one connection are late retries (R16.11).
///
/// A call's outcome is stored for `IdempotencyLimits.lifetime`, the length of the idempotency window. A late retry
/// repeats a call whose first copy is older than the window's length.
///
/// The ids of a session's new calls grow, so a call is a retry if its id is not above the highest id of this
/// connection. To know the exact age of each retry, a time would have to be stored for each id. Instead, this value
/// stores three ids, two of them with a time; they give a lower bound of the age. The age of a call that an earlier
/// connection sent is known only if the client states it.
package struct RetryAges: Hashable, Sendable {
    /// The highest id of the calls so far, and when it was recorded.
    private struct HighestID: Hashable, Sendable {
        var id: Int64
        /// The last time at which `id` was recorded as the highest one.
        var recordedAt: MonotonicTime
    }

    /// The highest id whose retries are late.
    private var lateID = Int64.min
    /// The id that becomes `lateID` when a window's length has passed since it was recorded.
    private var nextLateID: HighestID?
    /// The highest id of all calls.
    private var newestID: HighestID?

    /// Creates the state of a connection without calls.
    package init() {}

    /// Records a call, and returns whether it is a late retry.
    ///
    /// A retry of a call that this connection sent is recognized as late after one to two lengths of the window.
    ///
    /// - Parameters:
    ///   - id: The call's number.
    ///   - statedAge: How long ago the call was first sent, by the client's clock; nil if the client does not state it.
    ///   - now: The current time.
    /// - Returns: Whether the call is a late retry.
    package mutating func recordCall(_ id: Int64, statedAge: Milliseconds?, at now: MonotonicTime) -> Bool {
        if let next = self.nextLateID, now - next.recordedAt >= IdempotencyLimits.lifetime {
            self.lateID = max(self.lateID, next.id)
            self.nextLateID = nil
        }
        if let newest = self.newestID {
            if now - newest.recordedAt >= IdempotencyLimits.lifetime {
                // There was no call for a whole window, so retries of all calls so far are late.
                self.lateID = max(self.lateID, newest.id)
            } else if self.nextLateID == nil {
                self.nextLateID = newest
            }
        }
        self.newestID = HighestID(id: max(id, self.newestID?.id ?? id), recordedAt: now)
        if let statedAge, statedAge >= IdempotencyLimits.lifetime { return true }
        return id <= self.lateID
    }
}
