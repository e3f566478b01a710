// SPDX-License-Identifier: Apache-2.0

/// Returns random numbers from 0 to below 1.
package typealias RandomSource = @Sendable () -> Double

/// How long to wait before the next attempt.
enum BackOff {
    /// The pause after a failure.
    ///
    /// It has full jitter, so that the clients of a gateway that died do not reconnect at the same moment
    /// (PROTOCOL.md, section 7).
    ///
    /// - Parameters:
    ///   - failures: how many attempts failed in a row before this one, from 0.
    ///   - random: a random number from 0 to below 1.
    ///   - first: the longest wait after the first failure, in milliseconds.
    ///   - longest: the longest wait of all, in milliseconds.
    /// - Returns: milliseconds, from 0 to `min(longest, first · 2^failures)`.
    static func pause(failures: Int, random: Double, first: Double = 100, max longest: Double = 5000) -> Double {
        random * min(longest, first * Double(1 << min(max(failures, 0), 20)))
    }
}
