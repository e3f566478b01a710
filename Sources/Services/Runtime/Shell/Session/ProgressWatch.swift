// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// Detects that a consumer polls batches none of which becomes durable.
package struct ProgressWatch: Sendable {
    /// How long a polled batch may wait until a batch becomes durable.
    package static let limit = Milliseconds.seconds(10)
    /// The time without a polled record after which waiting records no longer count.
    ///
    /// They would have been polled again, so another member of the group must own their partition now.
    private static let quietSpan = Milliseconds.seconds(5)

    /// When the oldest waiting batch was polled; nil if no batch is waiting.
    private var waitingSince: MonotonicTime?
    private var lastWorkAt = MonotonicTime.distantPast
    /// How many batches in a row have failed.
    private(set) var failures = 0

    package init() {}

    /// Records that a batch was polled.
    package mutating func workArrived(at now: MonotonicTime) {
        self.lastWorkAt = now
        if self.waitingSince == nil { self.waitingSince = now }
    }

    /// Records that a poll returned nothing.
    package mutating func nothingArrived(at now: MonotonicTime) {
        if now - self.lastWorkAt >= Self.quietSpan { self.workDone() }
    }

    /// Records that a batch is durable.
    package mutating func workDone() {
        self.waitingSince = nil
        self.failures = 0
    }

    /// Records that no broker can be reached.
    ///
    /// Work that waits for a broker is no reason to restart the process: a new one would wait, too.
    package mutating func brokerUnreachable() { self.waitingSince = nil }

    /// Records that a batch failed and will be processed again.
    package mutating func workFailed() { self.failures += 1 }

    /// How long a polled batch has waited; zero if no batch is waiting.
    package func waitingTime(at now: MonotonicTime) -> Milliseconds {
        self.waitingSince.map { max(Milliseconds(0), now - $0) } ?? Milliseconds(0)
    }

    /// Whether a polled batch has waited for at least `limit`.
    package func isStalled(at now: MonotonicTime) -> Bool {
        self.waitingSince.map { now - $0 >= Self.limit } ?? false
    }

    /// The pause before a failed batch is processed again: 50 ms, doubled with each failure up to one second.
    var retryPause: Milliseconds { Milliseconds(min(50 << Int64(min(max(0, self.failures - 1), 5)), 1000)) }
}

/// Counts sessions that ended without progress.
///
/// After three of them within a minute the process must exit, so that its supervisor starts a new process.
struct StalledSessions {
    private static let limit = 3
    private static let span = Milliseconds.seconds(60)
    private var times: [MonotonicTime] = []

    /// Records a session that ended without progress.
    ///
    /// - Returns: whether the process must exit.
    mutating func sessionStalled(at now: MonotonicTime) -> Bool {
        self.times.removeAll { now - $0 >= Self.span }
        self.times.append(now)
        return self.times.count >= Self.limit
    }
}

/// Ends a session whose batches do not become durable, although none of its calls failed permanently.
struct SessionStalledError: Error, CustomStringConvertible {
    /// The last batch's error.
    var cause: String?

    var description: String {
        "No progress for \(ProgressWatch.limit.count / 1000) s; the last error: \(self.cause ?? "none")."
    }
}
