// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)

extension Subscribers {
    /// How many values a subscriber asks for.
    public struct Demand: Equatable, Hashable, Comparable, Codable, CustomStringConvertible, Sendable {
        /// `UInt.max` stands for no limit, because no publisher could send so many values.
        private let count: UInt

        private init(count: UInt) { self.count = count }

        /// All values that the publisher has.
        public static let unlimited = Demand(count: .max)

        /// No value.
        public static let none = Demand(count: 0)

        /// At most this many values.
        ///
        /// - Parameter value: The number, not negative.
        /// - Returns: The demand.
        public static func max(_ value: Int) -> Demand {
            precondition(value >= 0, "a demand is not negative")
            return Demand(count: UInt(value))
        }

        /// The number of values; nil if there is no limit.
        public var max: Int? { self == .unlimited ? nil : Int(clamping: self.count) }

        /// `unlimited` or `max(n)`.
        public var description: String { self.max.map { "max(\($0))" } ?? "unlimited" }

        /// The sum.
        ///
        /// The sum is unlimited if either demand is unlimited, or if it would be greater than `Int.max`.
        public static func + (lhs: Demand, rhs: Demand) -> Demand {
            if lhs == .unlimited || rhs == .unlimited { return .unlimited }
            // Each limited count is at most `Int.max`, so the sum of two fits into a `UInt`.
            let sum = lhs.count + rhs.count
            return sum > UInt(Int.max) ? .unlimited : Demand(count: sum)
        }

        /// The sum with a number.
        public static func + (lhs: Demand, rhs: Int) -> Demand { lhs + .max(rhs) }

        /// Adds another demand.
        public static func += (lhs: inout Demand, rhs: Demand) { lhs = lhs + rhs }

        /// Adds a number.
        public static func += (lhs: inout Demand, rhs: Int) { lhs = lhs + rhs }

        /// The product with a number, not negative.
        public static func * (lhs: Demand, rhs: Int) -> Demand {
            if lhs == .unlimited { return .unlimited }
            let (product, overflow) = lhs.count.multipliedReportingOverflow(by: Demand.max(rhs).count)
            return overflow || product > UInt(Int.max) ? .unlimited : Demand(count: product)
        }

        /// Multiplies by a number, not negative.
        public static func *= (lhs: inout Demand, rhs: Int) { lhs = lhs * rhs }

        /// The difference; `none` if it would be negative.
        ///
        /// An unlimited demand stays unlimited.
        public static func - (lhs: Demand, rhs: Demand) -> Demand {
            if lhs == .unlimited { return .unlimited }
            return rhs.count > lhs.count ? .none : Demand(count: lhs.count - rhs.count)
        }

        /// The difference with a number.
        public static func - (lhs: Demand, rhs: Int) -> Demand { lhs - .max(rhs) }

        /// Subtracts another demand.
        public static func -= (lhs: inout Demand, rhs: Demand) { lhs = lhs - rhs }

        /// Subtracts a number.
        public static func -= (lhs: inout Demand, rhs: Int) { lhs = lhs - rhs }

        /// Whether the first demand is for fewer values; no demand is greater than an unlimited one.
        public static func < (lhs: Demand, rhs: Demand) -> Bool { lhs.count < rhs.count }

        /// Whether the demand is for exactly this many values.
        public static func == (lhs: Demand, rhs: Int) -> Bool { lhs.max == rhs }

        /// Whether the demand is not for exactly this many values.
        public static func != (lhs: Demand, rhs: Int) -> Bool { lhs.max != rhs }

        /// Whether the demand is for more values.
        public static func > (lhs: Demand, rhs: Int) -> Bool { lhs > .max(rhs) }

        /// Whether the demand is for as many values or more.
        public static func >= (lhs: Demand, rhs: Int) -> Bool { lhs >= .max(rhs) }

        /// Whether the demand is for fewer values.
        public static func < (lhs: Demand, rhs: Int) -> Bool { lhs < .max(rhs) }

        /// Whether the demand is for as many values or fewer.
        public static func <= (lhs: Demand, rhs: Int) -> Bool { lhs <= .max(rhs) }
    }

    /// How a sequence of values ended.
    public enum Completion<Failure: Error> {
        /// The sequence ended normally.
        case finished

        /// The sequence ended with this error.
        case failure(Failure)
    }
}

extension Subscribers.Completion: Equatable where Failure: Equatable {}
extension Subscribers.Completion: Hashable where Failure: Hashable {}
extension Subscribers.Completion: Sendable {}
#endif
