// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// Detects that a producer no longer reports the outcomes of its records.
///
/// The Kafka client reports each record within its delivery timeout, even while no broker can be reached. If no report
/// comes, the thread that receives the reports hangs.
package struct DeliveryWatch: Sendable {
    /// How long records may wait without any report: far longer than the producer's delivery timeout of a few seconds.
    package static let limit = Milliseconds.seconds(30)

    /// The number of sent records whose outcome was not reported yet.
    ///
    /// Reports come on another thread, so a report may come before `recordSent` is called. Until then the number is one
    /// too low, and may be below zero.
    private var openCount = 0
    /// When the current wait for a report began: at the last report, or when a record was sent while none was open.
    private var lastProgressAt = MonotonicTime.distantPast

    /// Creates a watch of a producer that has sent nothing.
    package init() {}

    /// Records that the producer has accepted a record.
    package mutating func recordSent(at now: MonotonicTime) {
        if self.openCount <= 0 { self.lastProgressAt = now }
        self.openCount += 1
    }

    /// Records that the outcome of a record was reported.
    package mutating func outcomeReported(at now: MonotonicTime) {
        self.openCount -= 1
        self.lastProgressAt = now
    }

    /// Whether records wait, and none was reported for `limit`.
    package func isHung(at now: MonotonicTime) -> Bool {
        self.openCount > 0 && now - self.lastProgressAt >= Self.limit
    }
}
