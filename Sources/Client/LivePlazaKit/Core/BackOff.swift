// SPDX-License-Identifier: Apache-2.0

/// Returns random numbers from 0 to below 1.
package typealias RandomSource = @Sendable () -> Double

/// How long to wait before the next attempt.
enum BackOff {
    /// The pause after a failed attempt.
    ///
    /// When a gateway dies, its clients must not reconnect at the same moment. Therefore the pause has full jitter
    /// (PROTOCOL.md, section 7).
    ///
    /// - Parameters:
    ///   - failures: how many attempts had failed in a row before the attempt that has failed now; 0 after the first
    ///     failure.
    ///   - random: a random number from 0 to below 1.
    ///   - first: the longest wait after the first failure, in milliseconds.
    ///   - longest: the longest wait after any number of failures, in milliseconds.
    /// - Returns: milliseconds, from 0 to `min(longest, first · 2^failures)`.
    static func pause(failures: Int, random: Double, first: Double = 100, max longest: Double = 5000) -> Double {
        // A shift by 63 or more bits would overflow. With 20 bits the product is above any `longest` that is used.
        random * min(longest, first * Double(1 << min(max(failures, 0), 20)))
    }
}
