// SPDX-License-Identifier: Apache-2.0

/// A point in time on the broker's clock, in whole milliseconds since 1970.
///
/// Machines never read a clock: every `Timestamp` that they see is part of an input. A record may hold any number, so a
/// time is limited to `distantPast` ... `distantFuture`. Then no calculation with times and spans can overflow.
@usableFromInline package struct Timestamp: TimePoint, Codable {
    /// Milliseconds since 1970-01-01 00:00 UTC.
    @usableFromInline package let milliseconds: Int64

    /// Makes a time from milliseconds since 1970; a number out of bounds becomes `distantPast` or `distantFuture`.
    @inlinable package init(milliseconds: Int64) {
        self.milliseconds = Self.clamped(milliseconds)
    }

    @usableFromInline package init(from decoder: any Decoder) throws {
        self.init(milliseconds: try decoder.singleValueContainer().decode(Int64.self))
    }
    @usableFromInline package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.milliseconds)
    }
}

/// A span of time in whole milliseconds.
///
/// It is at most half of what an `Int64` holds, so that a span added to a time or to a span cannot overflow.
@usableFromInline package struct Milliseconds: Hashable, Comparable, Sendable, Codable {
    /// The number of milliseconds.
    @usableFromInline package let count: Int64

    /// A span of `count` milliseconds; a number out of bounds becomes the nearest bound.
    @inlinable package init(_ count: Int64) { self.count = min(max(count, Int64.min / 2), Int64.max / 2) }
    /// A span of `count` seconds; a number out of bounds becomes the nearest bound.
    @inlinable package static func seconds(_ count: Int64) -> Milliseconds {
        Milliseconds(min(max(count, Int64.min / 2000), Int64.max / 2000) * 1000)
    }

    @inlinable package static func < (a: Milliseconds, b: Milliseconds) -> Bool { a.count < b.count }
    /// The sum of two spans.
    @inlinable package static func + (a: Milliseconds, b: Milliseconds) -> Milliseconds {
        Milliseconds(a.count + b.count)
    }

    @usableFromInline package init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(Int64.self))
    }
    @usableFromInline package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.count)
    }
}
