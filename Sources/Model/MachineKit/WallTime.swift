// SPDX-License-Identifier: Apache-2.0

/// A point in time on this host's time-of-day clock, in whole milliseconds since 1970.
///
/// The clock may be wrong, jump and go back, so neither machines nor waits use it. A `WallTime` is only shown to
/// people, or compared with a time from outside, such as a token's expiry. It is not convertible to a
/// `Timestamp`, the broker's time of a record, or to a `MonotonicTime`.
@usableFromInline package struct WallTime: TimePoint {
    /// Milliseconds since 1970-01-01 00:00 UTC.
    @usableFromInline package let milliseconds: Int64

    /// Makes a time from milliseconds since 1970; a number out of bounds becomes `distantPast` or `distantFuture`.
    @inlinable package init(milliseconds: Int64) {
        self.milliseconds = Self.clamped(milliseconds)
    }
}
