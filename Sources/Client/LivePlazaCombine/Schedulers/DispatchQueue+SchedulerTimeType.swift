// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
public import Dispatch

/// The time types of dispatch queues as Combine defines them, for systems that have no Combine.
extension DispatchQueue {
    /// A point in the time of dispatch queues; this time stands still while the machine sleeps.
    public struct SchedulerTimeType: Strideable, Hashable, Codable, Sendable {
        /// The point in time.
        public var dispatchTime: DispatchTime

        /// Creates a point in time.
        ///
        /// - Parameter time: The point in time.
        public init(_ time: DispatchTime) { self.dispatchTime = time }

        /// Decodes a point in time from its nanoseconds.
        ///
        /// - Parameter decoder: The decoder of the nanoseconds.
        /// - Throws: The decoder's error if there is no such number.
        public init(from decoder: any Decoder) throws {
            let nanoseconds = try decoder.singleValueContainer().decode(UInt64.self)
            self.dispatchTime = DispatchTime(uptimeNanoseconds: nanoseconds)
        }

        /// Writes the nanoseconds since the start of the machine.
        ///
        /// - Parameter encoder: The encoder of the number.
        /// - Throws: The encoder's error.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(self.dispatchTime.uptimeNanoseconds)
        }

        /// The span from this to another point in time.
        ///
        /// - Parameter other: The other point in time.
        /// - Returns: The span, negative if the other is earlier.
        public func distance(to other: SchedulerTimeType) -> Stride {
            let end = Int(clamping: other.dispatchTime.uptimeNanoseconds)
            return Stride(magnitude: end - Int(clamping: self.dispatchTime.uptimeNanoseconds))
        }

        /// The point in time after a span.
        ///
        /// - Parameter n: The span; negative for an earlier point.
        /// - Returns: The point, not before the start of the machine.
        public func advanced(by n: Stride) -> SchedulerTimeType {
            let (sum, overflow) = Int(clamping: self.dispatchTime.uptimeNanoseconds)
                .addingReportingOverflow(n.magnitude)
            // Only a long span into the future overflows, because a point in time is not negative.
            if overflow { return SchedulerTimeType(.distantFuture) }
            return SchedulerTimeType(DispatchTime(uptimeNanoseconds: UInt64(clamping: sum)))
        }

        /// Adds the point in time to a hasher.
        public func hash(into hasher: inout Hasher) { hasher.combine(self.dispatchTime.uptimeNanoseconds) }

        /// A span of time in nanoseconds.
        public struct Stride: SchedulerTimeIntervalConvertible, Comparable, SignedNumeric, ExpressibleByFloatLiteral,
            Hashable, Codable, Sendable
        {
            /// The number of nanoseconds, with its sign.
            ///
            /// Combine has given this property its name, although a magnitude usually has no sign.
            public var magnitude: Int

            /// Makes a span.
            ///
            /// - Parameter timeInterval: Its length; `.never` is the longest there is.
            public init(_ timeInterval: DispatchTimeInterval) {
                switch timeInterval {
                case .seconds(let count): self = .seconds(count)
                case .milliseconds(let count): self = .milliseconds(count)
                case .microseconds(let count): self = .microseconds(count)
                case .nanoseconds(let count): self = .nanoseconds(count)
                default: self.magnitude = .max
                }
            }

            init(magnitude: Int) { self.magnitude = magnitude }

            /// Makes a span of seconds.
            public init(floatLiteral value: Double) { self = .seconds(value) }

            /// Makes a span of seconds, and not of nanoseconds, as in Combine.
            public init(integerLiteral value: Int) { self = .seconds(value) }

            /// Makes a span of nanoseconds; nil if their number does not fit into an `Int`.
            public init?<T: BinaryInteger>(exactly source: T) {
                guard let count = Int(exactly: source) else { return nil }
                self.magnitude = count
            }

            /// The span as an interval of Dispatch.
            public var timeInterval: DispatchTimeInterval { .nanoseconds(self.magnitude) }

            /// A span of this many seconds.
            public static func seconds(_ s: Int) -> Stride { Self.product(s, 1_000_000_000) }

            /// A span of this many seconds, or the nearest possible span.
            public static func seconds(_ s: Double) -> Stride {
                // Longer spans do not fit into an `Int`: 2^63 ns are 9,223,372,036.9 s, or 292 years. The condition is
                // also false for infinity and NaN.
                guard abs(s) < 9_223_372_036 else { return Stride(magnitude: s < 0 ? .min : .max) }
                return Stride(magnitude: Int(s * 1_000_000_000))
            }

            /// A span of this many milliseconds.
            public static func milliseconds(_ ms: Int) -> Stride { Self.product(ms, 1_000_000) }

            /// A span of this many microseconds.
            public static func microseconds(_ us: Int) -> Stride { Self.product(us, 1_000) }

            /// A span of this many nanoseconds.
            public static func nanoseconds(_ ns: Int) -> Stride { Stride(magnitude: ns) }

            /// A span of `count` units of `unit` nanoseconds, or the nearest possible span.
            private static func product(_ count: Int, _ unit: Int) -> Stride {
                let (product, overflow) = count.multipliedReportingOverflow(by: unit)
                return Stride(magnitude: overflow ? (count < 0 ? .min : .max) : product)
            }

            /// Whether the first span is less than the second one.
            public static func < (lhs: Stride, rhs: Stride) -> Bool { lhs.magnitude < rhs.magnitude }

            /// The sum.
            public static func + (lhs: Stride, rhs: Stride) -> Stride {
                Stride(magnitude: lhs.magnitude + rhs.magnitude)
            }

            /// The difference.
            public static func - (lhs: Stride, rhs: Stride) -> Stride {
                Stride(magnitude: lhs.magnitude - rhs.magnitude)
            }

            /// The span whose number of nanoseconds is the product of both numbers of nanoseconds.
            public static func * (lhs: Stride, rhs: Stride) -> Stride {
                Stride(magnitude: lhs.magnitude * rhs.magnitude)
            }

            /// Adds another span.
            public static func += (lhs: inout Stride, rhs: Stride) { lhs.magnitude += rhs.magnitude }

            /// Subtracts another span.
            public static func -= (lhs: inout Stride, rhs: Stride) { lhs.magnitude -= rhs.magnitude }

            /// Multiplies by the number of nanoseconds of another span.
            public static func *= (lhs: inout Stride, rhs: Stride) { lhs.magnitude *= rhs.magnitude }
        }
    }
}
#endif
