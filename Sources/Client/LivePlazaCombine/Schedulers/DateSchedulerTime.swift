// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
public import Foundation

/// A point in time for run loops and operation queues, whose clock is the time of day.
///
/// Apps know it as `RunLoop.SchedulerTimeType` and `OperationQueue.SchedulerTimeType`.
public struct DateSchedulerTime: Strideable, Hashable, Codable, Sendable {
    /// The point in time.
    public var date: Date

    /// Creates a point in time.
    ///
    /// - Parameter date: The point in time.
    public init(_ date: Date) { self.date = date }

    /// The span from this to another point in time.
    ///
    /// - Parameter other: The other point in time.
    /// - Returns: The span, negative if the other is earlier.
    public func distance(to other: DateSchedulerTime) -> Stride {
        Stride(magnitude: other.date.timeIntervalSince(self.date))
    }

    /// The point in time after a span.
    ///
    /// - Parameter n: The span; negative for an earlier point.
    /// - Returns: The point.
    public func advanced(by n: Stride) -> DateSchedulerTime {
        DateSchedulerTime(self.date.addingTimeInterval(n.magnitude))
    }

    /// A span of time in seconds.
    public struct Stride: SchedulerTimeIntervalConvertible, Comparable, SignedNumeric, ExpressibleByFloatLiteral,
        Hashable, Codable, Sendable
    {
        /// The number of seconds, with its sign.
        ///
        /// Combine has given this property its name, although a magnitude usually has no sign.
        public var magnitude: Double

        init(magnitude: Double) { self.magnitude = magnitude }

        /// Makes a span.
        ///
        /// - Parameter timeInterval: The seconds.
        public init(_ timeInterval: TimeInterval) { self.magnitude = timeInterval }

        /// Makes a span of seconds.
        public init(floatLiteral value: Double) { self.magnitude = value }

        /// Makes a span of seconds.
        public init(integerLiteral value: Double) { self.magnitude = value }

        /// Makes a span of seconds; nil if a `Double` cannot represent their number exactly.
        public init?<T: BinaryInteger>(exactly source: T) {
            guard let count = Double(exactly: source) else { return nil }
            self.magnitude = count
        }

        /// The seconds.
        public var timeInterval: TimeInterval { self.magnitude }

        /// A span of this many seconds.
        public static func seconds(_ s: Int) -> Stride { Stride(magnitude: Double(s)) }

        /// A span of this many seconds.
        public static func seconds(_ s: Double) -> Stride { Stride(magnitude: s) }

        /// A span of this many milliseconds.
        public static func milliseconds(_ ms: Int) -> Stride { Stride(magnitude: Double(ms) / 1_000) }

        /// A span of this many microseconds.
        public static func microseconds(_ us: Int) -> Stride { Stride(magnitude: Double(us) / 1_000_000) }

        /// A span of this many nanoseconds.
        public static func nanoseconds(_ ns: Int) -> Stride { Stride(magnitude: Double(ns) / 1_000_000_000) }

        /// Whether the first span is less than the second one.
        public static func < (lhs: Stride, rhs: Stride) -> Bool { lhs.magnitude < rhs.magnitude }

        /// The sum.
        public static func + (lhs: Stride, rhs: Stride) -> Stride { Stride(magnitude: lhs.magnitude + rhs.magnitude) }

        /// The difference.
        public static func - (lhs: Stride, rhs: Stride) -> Stride { Stride(magnitude: lhs.magnitude - rhs.magnitude) }

        /// The span whose number of seconds is the product of both numbers of seconds.
        public static func * (lhs: Stride, rhs: Stride) -> Stride { Stride(magnitude: lhs.magnitude * rhs.magnitude) }

        /// Adds another span.
        public static func += (lhs: inout Stride, rhs: Stride) { lhs.magnitude += rhs.magnitude }

        /// Subtracts another span.
        public static func -= (lhs: inout Stride, rhs: Stride) { lhs.magnitude -= rhs.magnitude }

        /// Multiplies by the number of seconds of another span.
        public static func *= (lhs: inout Stride, rhs: Stride) { lhs.magnitude *= rhs.magnitude }
    }
}
#endif
