// SPDX-License-Identifier: Apache-2.0

/// The time that an attack lasts: as planned, or longer if too little was measured for a verdict.
package struct AttackPeriod: Sendable {
    /// The longest extension.
    ///
    /// It need not be longer, because a gateway that answers no request for 20 s fails the verdict in any case.
    package static let maxExtension = Duration.seconds(20)

    private let planned: Duration
    /// The time since the beginning at which the attack ended; nil while it continues.
    private var end: Duration?

    /// Makes the period of an attack that lasts at least `planned`.
    package init(_ planned: Duration) { self.planned = planned }

    /// Advances the time, and ends the attack if its planned time is over and it may end.
    ///
    /// - Parameters:
    ///   - elapsed: the time since the attack began.
    ///   - mayEnd: whether enough was measured.
    /// - Returns: the time since the beginning at which the attack ended, the same in every later call; nil while the
    ///   attack continues.
    package mutating func advance(to elapsed: Duration, mayEnd: Bool) -> Duration? {
        if self.end == nil, elapsed >= self.planned, mayEnd || elapsed >= self.planned + Self.maxExtension {
            self.end = elapsed
        }
        return self.end
    }
}
