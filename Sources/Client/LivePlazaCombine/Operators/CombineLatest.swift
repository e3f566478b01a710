// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)

extension Publishers {
    /// A publisher of the latest values of two publishers together.
    public struct CombineLatest<A: Publisher, B: Publisher>: Publisher
    where A.Failure == B.Failure {
        /// The latest value of each source.
        public typealias Output = (A.Output, B.Output)

        /// The kind of error of the sources.
        public typealias Failure = A.Failure

        /// The first source.
        public let a: A

        /// The second source.
        public let b: B

        /// Makes a publisher of the latest values of all sources.
        public init(_ a: A, _ b: B) {
            self.a = a
            self.b = b
        }

        /// Attaches a subscriber.
        ///
        /// - Parameter subscriber: The subscriber, which gets the combinations, one at a time.
        public func receive<S: Subscriber>(subscriber: S) where Output == S.Input, Failure == S.Failure {
            let inner = CombineLatestInner(subscriber, sourceCount: 2)
            let sourceA = CombineLatestSource<A.Output, S>(inner, index: 0)
            let sourceB = CombineLatestSource<B.Output, S>(inner, index: 1)
            inner.start {
                guard let a = sourceA.latest, let b = sourceB.latest else { return nil }
                return (a, b)
            }
            self.a.subscribe(sourceA)
            self.b.subscribe(sourceB)
        }
    }

    /// A publisher of the latest values of three publishers together.
    public struct CombineLatest3<A: Publisher, B: Publisher, C: Publisher>: Publisher
    where A.Failure == B.Failure, A.Failure == C.Failure {
        /// The latest value of each source.
        public typealias Output = (A.Output, B.Output, C.Output)

        /// The kind of error of the sources.
        public typealias Failure = A.Failure

        /// The first source.
        public let a: A

        /// The second source.
        public let b: B

        /// The third source.
        public let c: C

        /// Makes a publisher of the latest values of all sources.
        public init(_ a: A, _ b: B, _ c: C) {
            self.a = a
            self.b = b
            self.c = c
        }

        /// Attaches a subscriber.
        ///
        /// - Parameter subscriber: The subscriber, which gets the combinations, one at a time.
        public func receive<S: Subscriber>(subscriber: S) where Output == S.Input, Failure == S.Failure {
            let inner = CombineLatestInner(subscriber, sourceCount: 3)
            let sourceA = CombineLatestSource<A.Output, S>(inner, index: 0)
            let sourceB = CombineLatestSource<B.Output, S>(inner, index: 1)
            let sourceC = CombineLatestSource<C.Output, S>(inner, index: 2)
            inner.start {
                guard let a = sourceA.latest, let b = sourceB.latest, let c = sourceC.latest else { return nil }
                return (a, b, c)
            }
            self.a.subscribe(sourceA)
            self.b.subscribe(sourceB)
            self.c.subscribe(sourceC)
        }
    }

    /// A publisher of the latest values of four publishers together.
    public struct CombineLatest4<A: Publisher, B: Publisher, C: Publisher, D: Publisher>: Publisher
    where A.Failure == B.Failure, A.Failure == C.Failure, A.Failure == D.Failure {
        /// The latest value of each source.
        public typealias Output = (A.Output, B.Output, C.Output, D.Output)

        /// The kind of error of the sources.
        public typealias Failure = A.Failure

        /// The first source.
        public let a: A

        /// The second source.
        public let b: B

        /// The third source.
        public let c: C

        /// The fourth source.
        public let d: D

        /// Makes a publisher of the latest values of all sources.
        public init(_ a: A, _ b: B, _ c: C, _ d: D) {
            self.a = a
            self.b = b
            self.c = c
            self.d = d
        }

        /// Attaches a subscriber.
        ///
        /// - Parameter subscriber: The subscriber, which gets the combinations, one at a time.
        public func receive<S: Subscriber>(subscriber: S) where Output == S.Input, Failure == S.Failure {
            let inner = CombineLatestInner(subscriber, sourceCount: 4)
            let sourceA = CombineLatestSource<A.Output, S>(inner, index: 0)
            let sourceB = CombineLatestSource<B.Output, S>(inner, index: 1)
            let sourceC = CombineLatestSource<C.Output, S>(inner, index: 2)
            let sourceD = CombineLatestSource<D.Output, S>(inner, index: 3)
            inner.start {
                guard let a = sourceA.latest, let b = sourceB.latest, let c = sourceC.latest, let d = sourceD.latest
                else { return nil }
                return (a, b, c, d)
            }
            self.a.subscribe(sourceA)
            self.b.subscribe(sourceB)
            self.c.subscribe(sourceC)
            self.d.subscribe(sourceD)
        }
    }
}

extension Publisher {
    /// Publishes the latest values of this and another publisher together.
    ///
    /// The first combination is published when each publisher has sent a value. The result ends when all publishers
    /// have finished, or when one has failed.
    ///
    /// - Parameter other: The other publisher.
    /// - Returns: The publisher.
    public func combineLatest<P: Publisher>(_ other: P) -> Publishers.CombineLatest<Self, P>
    where Failure == P.Failure {
        Publishers.CombineLatest(self, other)
    }

    /// Publishes what `transform` makes of the latest values of this and another publisher.
    ///
    /// - Parameters:
    ///   - other: Another publisher.
    ///   - transform: Returns the value to publish.
    /// - Returns: The publisher.
    public func combineLatest<P: Publisher, T>(
        _ other: P, _ transform: @escaping (Output, P.Output) -> T
    ) -> Publishers.Map<Publishers.CombineLatest<Self, P>, T>
    where Failure == P.Failure {
        self.combineLatest(other).map { transform($0.0, $0.1) }
    }

    /// Publishes the latest values of this and two other publishers together.
    ///
    /// The first combination is published when each publisher has sent a value. The result ends when all publishers
    /// have finished, or when one has failed.
    ///
    /// - Parameters:
    ///   - publisher1: The second publisher.
    ///   - publisher2: The third publisher.
    /// - Returns: The publisher.
    public func combineLatest<P: Publisher, Q: Publisher>(
        _ publisher1: P, _ publisher2: Q
    ) -> Publishers.CombineLatest3<Self, P, Q> where Failure == P.Failure, Failure == Q.Failure {
        Publishers.CombineLatest3(self, publisher1, publisher2)
    }

    /// Publishes what `transform` makes of the latest values of this and two other publishers.
    ///
    /// - Parameters:
    ///   - publisher1: The second publisher.
    ///   - publisher2: The third publisher.
    ///   - transform: Returns the value to publish.
    /// - Returns: The publisher.
    public func combineLatest<P: Publisher, Q: Publisher, T>(
        _ publisher1: P, _ publisher2: Q, _ transform: @escaping (Output, P.Output, Q.Output) -> T
    ) -> Publishers.Map<Publishers.CombineLatest3<Self, P, Q>, T>
    where Failure == P.Failure, Failure == Q.Failure {
        self.combineLatest(publisher1, publisher2).map { transform($0.0, $0.1, $0.2) }
    }

    /// Publishes the latest values of this and three other publishers together.
    ///
    /// The first combination is published when each publisher has sent a value. The result ends when all publishers
    /// have finished, or when one has failed.
    ///
    /// - Parameters:
    ///   - publisher1: The second publisher.
    ///   - publisher2: The third publisher.
    ///   - publisher3: The fourth publisher.
    /// - Returns: The publisher.
    public func combineLatest<P: Publisher, Q: Publisher, R: Publisher>(
        _ publisher1: P, _ publisher2: Q, _ publisher3: R
    ) -> Publishers.CombineLatest4<Self, P, Q, R>
    where Failure == P.Failure, Failure == Q.Failure, Failure == R.Failure {
        Publishers.CombineLatest4(self, publisher1, publisher2, publisher3)
    }

    /// Publishes what `transform` makes of the latest values of this and three other publishers.
    ///
    /// - Parameters:
    ///   - publisher1: The second publisher.
    ///   - publisher2: The third publisher.
    ///   - publisher3: The fourth publisher.
    ///   - transform: Returns the value to publish.
    /// - Returns: The publisher.
    public func combineLatest<P: Publisher, Q: Publisher, R: Publisher, T>(
        _ publisher1: P, _ publisher2: Q, _ publisher3: R,
        _ transform: @escaping (Output, P.Output, Q.Output, R.Output) -> T
    ) -> Publishers.Map<Publishers.CombineLatest4<Self, P, Q, R>, T>
    where Failure == P.Failure, Failure == Q.Failure, Failure == R.Failure {
        self.combineLatest(publisher1, publisher2, publisher3).map { transform($0.0, $0.1, $0.2, $0.3) }
    }
}
#endif
