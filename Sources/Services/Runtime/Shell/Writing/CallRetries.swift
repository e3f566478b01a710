// SPDX-License-Identifier: Apache-2.0
internal import KafkaClient
internal import MachineKit

/// Decides whether a call of a producer is repeated, and after which pause.
///
/// Some retriable errors are returned at once. Without a pause, the calls would keep a core busy until the deadline.
struct CallRetries {
    private let deadline: MonotonicTime
    private var backOff = ExponentialBackOff(firstPause: Milliseconds(20), longestPause: Milliseconds(100))

    /// Begins the attempts of one call; none begins after `deadline`.
    init(until deadline: MonotonicTime) { self.deadline = deadline }

    /// Decides what follows a failed attempt.
    ///
    /// - Parameters:
    ///   - error: the error of the attempt.
    ///   - now: when the attempt ended.
    /// - Returns: the pause before the next attempt, which never extends beyond the deadline; nil if the call must not
    ///   be repeated.
    mutating func pause(after error: KafkaError, at now: MonotonicTime) -> Milliseconds? {
        let isRepeatable = (error.isRetriable || error.kind == .timedOut) && !error.requiresAbort && !error.isFatal
        guard isRepeatable, now < self.deadline else { return nil }
        return min(self.backOff.nextPause(), self.deadline - now)
    }
}
