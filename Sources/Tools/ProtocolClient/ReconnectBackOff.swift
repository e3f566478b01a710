// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

/// The pauses before reconnects: at most 100 ms after the first failure, doubled by each further one to at most 5 s.
struct ReconnectBackOff: Sendable {
    /// The longest first pause.
    private static let maxFirstPause = Milliseconds(100)
    /// The longest pause.
    private static let maxPause = Milliseconds.seconds(5)
    /// After this many failures the longest pause is reached: 100 ms doubled six times is more than 5 s.
    private static let maxDoublings = 6

    /// The number of disconnects since the last successful login.
    private var failureCount = 0

    /// Counts a failure.
    ///
    /// The pause has full jitter, so that the clients of a dead gateway do not reconnect at the same moment.
    ///
    /// - Returns: the pause before the next attempt.
    mutating func nextPause(using random: inout SeededRandom) -> Milliseconds {
        let longestPause = min(
            Self.maxPause, Milliseconds(Self.maxFirstPause.count << min(self.failureCount, Self.maxDoublings)))
        self.failureCount += 1
        return Milliseconds(Int64.random(in: 0...longestPause.count, using: &random))
    }

    mutating func reset() { self.failureCount = 0 }
}
