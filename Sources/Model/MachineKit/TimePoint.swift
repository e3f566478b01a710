// SPDX-License-Identifier: Apache-2.0

/// A point in time of one clock, in whole milliseconds.
///
/// It lies between `distantPast` and `distantFuture`, so that no calculation with points and spans can overflow.
/// Each clock has its own type, so the compiler keeps points of different clocks apart.
@usableFromInline package protocol TimePoint: Hashable, Comparable, Sendable {
    /// Milliseconds since the clock's zero.
    var milliseconds: Int64 { get }
    /// Makes a point in time; a number out of bounds becomes `distantPast` or `distantFuture`.
    init(milliseconds: Int64)
}

extension TimePoint {
    /// The earliest point, before every other point.
    @inlinable package static var distantPast: Self { Self(milliseconds: .min) }
    /// The latest point, after every other point.
    @inlinable package static var distantFuture: Self { Self(milliseconds: .max) }

    /// The point that is `count` seconds after the clock's zero; a number out of bounds becomes the nearest bound.
    @inlinable package static func seconds(_ count: Int64) -> Self {
        Self(milliseconds: Milliseconds.seconds(count).count)
    }
    /// Whole seconds since the clock's zero; a fraction is cut off.
    @inlinable package var seconds: Int64 { self.milliseconds / 1000 }

    /// Returns `milliseconds`, limited to the range from `Int64.min / 4` to `Int64.max / 4`.
    ///
    /// The difference of two such numbers is at most half of what an `Int64` holds, which is also the limit of a span
    /// (`Milliseconds`).
    @inlinable package static func clamped(_ milliseconds: Int64) -> Int64 {
        min(max(milliseconds, Int64.min / 4), Int64.max / 4)
    }

    @inlinable package static func < (a: Self, b: Self) -> Bool { a.milliseconds < b.milliseconds }
    /// The point `span` later.
    @inlinable package static func + (a: Self, span: Milliseconds) -> Self {
        Self(milliseconds: a.milliseconds + span.count)
    }
    /// The point `span` earlier.
    @inlinable package static func - (a: Self, span: Milliseconds) -> Self {
        Self(milliseconds: a.milliseconds - span.count)
    }
    /// The span from `b` to `a`; negative if `a` is earlier.
    @inlinable package static func - (a: Self, b: Self) -> Milliseconds {
        Milliseconds(a.milliseconds - b.milliseconds)
    }
}
