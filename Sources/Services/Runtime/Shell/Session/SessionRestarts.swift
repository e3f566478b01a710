// SPDX-License-Identifier: Apache-2.0
internal import KafkaClient
internal import MachineKit

/// Decides what a shell, the run loop of a machine, does after one of its sessions has failed.
struct SessionRestarts {
    /// What the shell must do.
    enum Decision: Equatable {
        /// Begin the next session after a pause.
        case restart(after: Milliseconds)
        /// End the process, so that its supervisor starts a new one.
        case exit
    }

    /// A session that lasted longer than this resets the pause between two sessions.
    private static let resetDuration = Milliseconds.seconds(10)
    /// The number of stuck sessions within `stuckSpan` after which the process ends.
    private static let maxStuckSessions = 3
    private static let stuckSpan = Milliseconds.seconds(60)

    /// The pauses between two sessions.
    private var backOff = ExponentialBackOff(firstPause: Milliseconds(50), longestPause: .seconds(1))
    /// When the stuck sessions of the last `stuckSpan` ended.
    private var stuckAt: [MonotonicTime] = []

    /// Decides what follows a session that failed.
    ///
    /// A session was stuck if it lasted for at least 10 s and some work has waited for 10 s, or if it ended because a
    /// write to Kafka was not answered. A new client continues after most faults; a process that needs a new client
    /// again and again is replaced.
    ///
    /// - Parameters:
    ///   - error: the error that ended the session.
    ///   - isStalled: whether a partition has had work for 10 s and none of it became durable, in this session or in
    ///     former ones.
    ///   - beganAt: when the session began.
    ///   - now: when the session ended.
    /// - Returns: whether to begin the next session.
    mutating func sessionFailed(
        _ error: any Error, isStalled: Bool, beganAt: MonotonicTime, at now: MonotonicTime
    ) -> Decision {
        let hasMadeNoProgress = isStalled && now - beganAt >= ProgressWatch.limit
        if hasMadeNoProgress || (error as? KafkaError)?.kind == .unanswered {
            self.stuckAt.removeAll { now - $0 >= Self.stuckSpan }
            self.stuckAt.append(now)
            if self.stuckAt.count >= Self.maxStuckSessions { return .exit }
        }
        if now - beganAt > Self.resetDuration { self.backOff.reset() }
        return .restart(after: self.backOff.nextPause())
    }
}

/// Ends a session whose batches do not become durable, although none of its calls failed permanently.
struct SessionStalledError: Error, CustomStringConvertible {
    /// The error of the last batch that failed; nil if none failed.
    var cause: String?

    var description: String {
        "No progress for \(ProgressWatch.limit.count / 1000) s; the last error: \(self.cause ?? "none")."
    }
}
