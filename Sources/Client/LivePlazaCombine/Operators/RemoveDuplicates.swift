// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)

extension Publishers {
    /// A publisher of the values that differ from the one published before.
    public struct RemoveDuplicates<Upstream: Publisher>: Publisher {
        /// The kind of error of the source.
        public typealias Failure = Upstream.Failure

        /// The kind of values of the source.
        public typealias Output = Upstream.Output

        /// The source.
        public let upstream: Upstream

        /// Whether two values, the one published before and a new one, are the same.
        public let predicate: (Output, Output) -> Bool

        /// Makes a publisher.
        ///
        /// - Parameters:
        ///   - upstream: The source.
        ///   - predicate: Whether two values, the one published before and a new one, are the same.
        public init(upstream: Upstream, predicate: @escaping (Output, Output) -> Bool) {
            self.upstream = upstream
            self.predicate = predicate
        }

        /// Attaches a subscriber.
        ///
        /// - Parameter subscriber: The subscriber, which gets the values.
        public func receive<S: Subscriber>(subscriber: S) where Output == S.Input, Failure == S.Failure {
            let predicate = self.predicate
            let lastDelivered = ValueBox<Output?>(nil)
            self.upstream.subscribe(
                TransformInner(subscriber) { value in
                    if let previous = lastDelivered.value, predicate(previous, value) { return nil }
                    // `.some`, because the value may be an optional itself.
                    lastDelivered.value = .some(value)
                    return .some(value)
                })
        }
    }
}

extension Publisher {
    /// Publishes the values that differ from the one published before.
    ///
    /// - Parameter predicate: Whether two values, the one published before and a new one, are the same.
    /// - Returns: The publisher.
    public func removeDuplicates(by predicate: @escaping (Output, Output) -> Bool) -> Publishers.RemoveDuplicates<Self>
    {
        Publishers.RemoveDuplicates(upstream: self, predicate: predicate)
    }
}

extension Publisher where Output: Equatable {
    /// Publishes the values that are not equal to the one published before.
    ///
    /// - Returns: The publisher.
    public func removeDuplicates() -> Publishers.RemoveDuplicates<Self> {
        Publishers.RemoveDuplicates(upstream: self, predicate: ==)
    }
}
#endif
