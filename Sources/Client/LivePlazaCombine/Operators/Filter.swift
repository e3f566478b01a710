// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)

extension Publishers {
    /// A publisher of the values that satisfy a condition.
    public struct Filter<Upstream: Publisher>: Publisher {
        /// The kind of error of the source.
        public typealias Failure = Upstream.Failure

        /// The kind of values of the source.
        public typealias Output = Upstream.Output

        /// The source.
        public let upstream: Upstream

        /// Whether a value is published.
        public let isIncluded: (Upstream.Output) -> Bool

        /// Makes a publisher.
        ///
        /// - Parameters:
        ///   - upstream: The source.
        ///   - isIncluded: Whether a value is published.
        public init(upstream: Upstream, isIncluded: @escaping (Upstream.Output) -> Bool) {
            self.upstream = upstream
            self.isIncluded = isIncluded
        }

        /// Attaches a subscriber.
        ///
        /// - Parameter subscriber: The subscriber, which gets the values.
        public func receive<S: Subscriber>(subscriber: S) where Output == S.Input, Failure == S.Failure {
            let isIncluded = self.isIncluded
            // nil leaves the value out; `.some`, because the value may be an optional itself.
            self.upstream.subscribe(TransformInner(subscriber) { isIncluded($0) ? .some($0) : nil })
        }
    }
}

extension Publisher {
    /// Publishes the values that satisfy a condition.
    ///
    /// - Parameter isIncluded: Whether a value is published.
    /// - Returns: The publisher.
    public func filter(_ isIncluded: @escaping (Output) -> Bool) -> Publishers.Filter<Self> {
        Publishers.Filter(upstream: self, isIncluded: isIncluded)
    }
}
#endif
