// SPDX-License-Identifier: Apache-2.0

/// A point in time on the process's monotonic clock, in whole milliseconds since a fixed but unknown point.
///
/// Used for deadlines, rates and pauses, because it never decreases. It has no meaning in another process and no
/// relation to the time of day, so it is neither `Codable` nor convertible to a `Timestamp`, the broker's time of a
/// record. Like a `Timestamp` it has bounds, so that no calculation overflows.
@usableFromInline package struct MonotonicTime: TimePoint {
    /// Milliseconds since the fixed point.
    @usableFromInline package let milliseconds: Int64

    /// Makes a time from milliseconds of the monotonic clock; a number out of bounds becomes `distantPast` or
    /// `distantFuture`.
    @inlinable package init(milliseconds: Int64) {
        self.milliseconds = Self.clamped(milliseconds)
    }
}
