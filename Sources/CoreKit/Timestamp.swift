// SPDX-License-Identifier: Apache-2.0

/// A point in time in whole milliseconds since 1970, as the broker stamps it.
///
/// Cores never read a clock: every `Timestamp` that they see came with an input.
@usableFromInline package struct Timestamp: Hashable, Comparable, Sendable, Codable {
    /// Milliseconds since 1970-01-01 00:00 UTC.
    @usableFromInline package var milliseconds: Int64

    /// A time from milliseconds since 1970.
    @inlinable package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Before everything.
    @inlinable package static var distantPast: Timestamp { Timestamp(milliseconds: .min / 4) }
    /// After everything.
    @inlinable package static var distantFuture: Timestamp { Timestamp(milliseconds: .max / 4) }

    /// Whole seconds since 1970, rounded down.
    @inlinable package var seconds: Int64 { self.milliseconds / 1000 }

    @inlinable package static func < (a: Timestamp, b: Timestamp) -> Bool { a.milliseconds < b.milliseconds }
    /// The time `span` later.
    @inlinable package static func + (a: Timestamp, span: Milliseconds) -> Timestamp {
        Timestamp(milliseconds: a.milliseconds + span.count)
    }
    /// The time `span` earlier.
    @inlinable package static func - (a: Timestamp, span: Milliseconds) -> Timestamp {
        Timestamp(milliseconds: a.milliseconds - span.count)
    }
    /// How long after `b` the time `a` is.
    @inlinable package static func - (a: Timestamp, b: Timestamp) -> Milliseconds {
        Milliseconds(a.milliseconds - b.milliseconds)
    }

    @usableFromInline package init(from decoder: any Decoder) throws {
        self.milliseconds = try decoder.singleValueContainer().decode(Int64.self)
    }
    @usableFromInline package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.milliseconds)
    }
}

/// A span of time in whole milliseconds.
@usableFromInline package struct Milliseconds: Hashable, Comparable, Sendable, Codable {
    /// How many milliseconds.
    @usableFromInline package var count: Int64

    /// A span of `count` milliseconds.
    @inlinable package init(_ count: Int64) { self.count = count }
    /// A span of `count` seconds.
    @inlinable package static func seconds(_ count: Int64) -> Milliseconds { Milliseconds(count * 1000) }

    @inlinable package static func < (a: Milliseconds, b: Milliseconds) -> Bool { a.count < b.count }
    /// The sum of two spans.
    @inlinable package static func + (a: Milliseconds, b: Milliseconds) -> Milliseconds {
        Milliseconds(a.count + b.count)
    }

    @usableFromInline package init(from decoder: any Decoder) throws {
        self.count = try decoder.singleValueContainer().decode(Int64.self)
    }
    @usableFromInline package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.count)
    }
}
