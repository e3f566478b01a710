// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

/// The pauses before reconnects: at most 100 ms after the first failure, doubled by each further one to at most 5 s.
struct ReconnectBackOff: Sendable {
    /// The longest first pause in milliseconds.
    private static let maxFirstPause = 100
    /// The longest pause in milliseconds.
    private static let maxPause = 5_000
    /// After this many failures the longest pause is reached: 100 ms doubled six times is more than 5 s.
    private static let maxDoublings = 6

    /// The number of disconnects since the last successful login.
    private var failureCount = 0

    /// Counts a failure.
    ///
    /// The pause has full jitter, so that the clients of a dead gateway do not reconnect at the same moment.
    ///
    /// - Returns: the pause before the next attempt, in milliseconds.
    mutating func nextPause(using random: inout SeededRandom) -> Int64 {
        let longestPause = min(Self.maxPause, Self.maxFirstPause << min(self.failureCount, Self.maxDoublings))
        self.failureCount += 1
        return Int64.random(in: 0...Int64(longestPause), using: &random)
    }

    mutating func reset() { self.failureCount = 0 }
}
