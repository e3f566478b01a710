// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)

extension Publishers {
    /// A publisher of the results of a closure for each value, without those that are nil.
    public struct CompactMap<Upstream: Publisher, Output>: Publisher {
        /// The kind of error of the source.
        public typealias Failure = Upstream.Failure

        /// The source.
        public let upstream: Upstream

        /// Returns the value to publish, or nil to leave it out.
        public let transform: (Upstream.Output) -> Output?

        /// Makes a publisher.
        ///
        /// - Parameters:
        ///   - upstream: The source.
        ///   - transform: Returns the value to publish, or nil to leave it out.
        public init(upstream: Upstream, transform: @escaping (Upstream.Output) -> Output?) {
            self.upstream = upstream
            self.transform = transform
        }

        /// Attaches a subscriber.
        ///
        /// - Parameter subscriber: The subscriber, which gets the values.
        public func receive<S: Subscriber>(subscriber: S) where Output == S.Input, Failure == S.Failure {
            self.upstream.subscribe(TransformInner(subscriber, self.transform))
        }
    }
}

extension Publisher {
    /// Publishes the result of a closure for each value, unless it is nil.
    ///
    /// - Parameter transform: Returns the value to publish, or nil to leave it out.
    /// - Returns: The publisher.
    public func compactMap<T>(_ transform: @escaping (Output) -> T?) -> Publishers.CompactMap<Self, T> {
        Publishers.CompactMap(upstream: self, transform: transform)
    }
}
#endif
