// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

/// Returns random numbers from 0 to below 1.
package typealias RandomSource = @Sendable () -> Double

/// How long to pause before the next attempt.
enum BackOff {
    /// The pause after a failed attempt.
    ///
    /// When a gateway dies, its clients must not reconnect at the same moment. Therefore the pause has full jitter
    /// (PROTOCOL.md, section 7).
    ///
    /// - Parameters:
    ///   - failures: the number of failures in a row before the present one; 0 after the first failure.
    ///   - random: a random number from 0 to below 1.
    ///   - first: the longest pause after the first failure; it doubles with each further failure.
    ///   - longest: the longest pause after any number of failures.
    /// - Returns: the pause, from 0 to `min(longest, first · 2^failures)`.
    static func pause(
        failures: Int, random: Double, first: Milliseconds = Milliseconds(100), max longest: Milliseconds = .seconds(5)
    ) -> Milliseconds {
        ExponentialBackOff(firstPause: first, longestPause: longest).pause(afterEarlierFailures: failures)
            .randomPart(random)
    }
}
