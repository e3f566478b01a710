// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// Detects that a producer no longer reports the outcomes of its records.
///
/// The Kafka client reports each record within its delivery timeout, also while no broker can be reached. If no report
/// comes, the thread that receives the reports hangs.
package struct DeliveryWatch: Sendable {
    /// How long records may wait without any report; far longer than the delivery timeout.
    package static let limit = Milliseconds.seconds(30)

    /// The number of records without a report.
    ///
    /// Below zero while a report has come before `recordSent` was called, because reports come on another thread.
    private var openCount = 0
    /// When the last report came, or, if later, when a record was sent while no other was waiting.
    private var lastProgressAt = MonotonicTime.distantPast

    package init() {}

    /// Records that the producer has accepted a record.
    package mutating func recordSent(at now: MonotonicTime) {
        if self.openCount <= 0 { self.lastProgressAt = now }
        self.openCount += 1
    }

    /// Records that the outcome of a record was reported.
    package mutating func recordReported(at now: MonotonicTime) {
        self.openCount -= 1
        self.lastProgressAt = now
    }

    /// Whether records wait, and none was reported for `limit`.
    package func isHung(at now: MonotonicTime) -> Bool {
        self.openCount > 0 && now - self.lastProgressAt >= Self.limit
    }
}
