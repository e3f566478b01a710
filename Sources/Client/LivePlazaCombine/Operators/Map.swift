// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)

extension Publishers {
    /// A publisher of the results of a closure for each value.
    public struct Map<Upstream: Publisher, Output>: Publisher {
        /// The kind of error of the source.
        public typealias Failure = Upstream.Failure

        /// The source.
        public let upstream: Upstream

        /// Returns the value to publish.
        public let transform: (Upstream.Output) -> Output

        /// Makes a publisher.
        ///
        /// - Parameters:
        ///   - upstream: The source.
        ///   - transform: Returns the value to publish.
        public init(upstream: Upstream, transform: @escaping (Upstream.Output) -> Output) {
            self.upstream = upstream
            self.transform = transform
        }

        /// Attaches a subscriber.
        ///
        /// - Parameter subscriber: The subscriber, which gets the values.
        public func receive<S: Subscriber>(subscriber: S) where Output == S.Input, Failure == S.Failure {
            let transform = self.transform
            // `.some`, because the result may be an optional itself; a nil result is a value, and must not be left out.
            self.upstream.subscribe(TransformInner(subscriber) { .some(transform($0)) })
        }
    }

    /// A publisher of a property of each value.
    public struct MapKeyPath<Upstream: Publisher, Output>: Publisher {
        /// The kind of error of the source.
        public typealias Failure = Upstream.Failure

        /// The source.
        public let upstream: Upstream

        /// The property.
        public let keyPath: KeyPath<Upstream.Output, Output>

        /// Attaches a subscriber.
        ///
        /// - Parameter subscriber: The subscriber, which gets the values.
        public func receive<S: Subscriber>(subscriber: S) where Output == S.Input, Failure == S.Failure {
            let keyPath = self.keyPath
            // `.some`, as in `Map`.
            self.upstream.subscribe(TransformInner(subscriber) { .some($0[keyPath: keyPath]) })
        }
    }
}

extension Publisher {
    /// Publishes the result of a closure for each value.
    ///
    /// - Parameter transform: Returns the value to publish.
    /// - Returns: The publisher.
    public func map<T>(_ transform: @escaping (Output) -> T) -> Publishers.Map<Self, T> {
        Publishers.Map(upstream: self, transform: transform)
    }

    /// Publishes a property of each value.
    ///
    /// - Parameter keyPath: The property.
    /// - Returns: The publisher.
    public func map<T>(_ keyPath: KeyPath<Output, T>) -> Publishers.MapKeyPath<Self, T> {
        Publishers.MapKeyPath(upstream: self, keyPath: keyPath)
    }
}
#endif
