// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)

extension Publishers {
    /// A publisher that leaves out the first values.
    public struct Drop<Upstream: Publisher>: Publisher {
        /// The kind of values of the source.
        public typealias Output = Upstream.Output

        /// The kind of error of the source.
        public typealias Failure = Upstream.Failure

        /// The source.
        public let upstream: Upstream

        /// How many values are left out.
        public let count: Int

        /// Makes a publisher.
        ///
        /// - Parameters:
        ///   - upstream: The source.
        ///   - count: How many values are left out; not negative.
        public init(upstream: Upstream, count: Int) {
            precondition(count >= 0, "a count is not negative")
            self.upstream = upstream
            self.count = count
        }

        /// Attaches a subscriber.
        ///
        /// Each subscriber has its own count.
        ///
        /// - Parameter subscriber: The subscriber, which gets the values.
        public func receive<S: Subscriber>(subscriber: S) where Output == S.Input, Failure == S.Failure {
            let remainingDrops = ValueBox(self.count)
            // nil leaves the value out; `.some`, because the value may be an optional itself.
            self.upstream.subscribe(
                TransformInner(subscriber) { remainingDrops.decrementIfPositive() ? nil : .some($0) })
        }
    }
}

extension Publishers.Drop: Equatable where Upstream: Equatable {}

extension Publisher {
    /// Leaves out the first values.
    ///
    /// - Parameter count: How many; not negative.
    /// - Returns: The publisher.
    public func dropFirst(_ count: Int = 1) -> Publishers.Drop<Self> { Publishers.Drop(upstream: self, count: count) }
}
#endif
