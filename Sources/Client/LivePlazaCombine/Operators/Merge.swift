// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)

extension Publishers {
    /// A publisher of the values of two publishers.
    public struct Merge<A: Publisher, B: Publisher>: Publisher
    where A.Failure == B.Failure, A.Output == B.Output {
        /// The kind of values of the sources.
        public typealias Output = A.Output

        /// The kind of error of the sources.
        public typealias Failure = A.Failure

        /// The first source.
        public let a: A

        /// The second source.
        public let b: B

        /// Makes a publisher of the values of all sources.
        public init(_ a: A, _ b: B) {
            self.a = a
            self.b = b
        }

        /// Attaches a subscriber.
        ///
        /// - Parameter subscriber: The subscriber, which gets the values, one at a time.
        public func receive<S: Subscriber>(subscriber: S) where Output == S.Input, Failure == S.Failure {
            let merge = MergeInner(subscriber, sourceCount: 2)
            // The subscriber gets its subscription before any source can send a value.
            merge.start()
            self.a.subscribe(MergeSource(merge, index: 0))
            self.b.subscribe(MergeSource(merge, index: 1))
        }
    }

    /// A publisher of the values of three publishers.
    public struct Merge3<A: Publisher, B: Publisher, C: Publisher>: Publisher
    where A.Failure == B.Failure, A.Output == B.Output, A.Failure == C.Failure, A.Output == C.Output {
        /// The kind of values of the sources.
        public typealias Output = A.Output

        /// The kind of error of the sources.
        public typealias Failure = A.Failure

        /// The first source.
        public let a: A

        /// The second source.
        public let b: B

        /// The third source.
        public let c: C

        /// Makes a publisher of the values of all sources.
        public init(_ a: A, _ b: B, _ c: C) {
            self.a = a
            self.b = b
            self.c = c
        }

        /// Attaches a subscriber.
        ///
        /// - Parameter subscriber: The subscriber, which gets the values, one at a time.
        public func receive<S: Subscriber>(subscriber: S) where Output == S.Input, Failure == S.Failure {
            let merge = MergeInner(subscriber, sourceCount: 3)
            // The subscriber gets its subscription before any source can send a value.
            merge.start()
            self.a.subscribe(MergeSource(merge, index: 0))
            self.b.subscribe(MergeSource(merge, index: 1))
            self.c.subscribe(MergeSource(merge, index: 2))
        }
    }

    /// A publisher of the values of four publishers.
    public struct Merge4<A: Publisher, B: Publisher, C: Publisher, D: Publisher>: Publisher
    where
        A.Failure == B.Failure, A.Output == B.Output, A.Failure == C.Failure, A.Output == C.Output,
        A.Failure == D.Failure, A.Output == D.Output
    {
        /// The kind of values of the sources.
        public typealias Output = A.Output

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

        /// Makes a publisher of the values of all sources.
        public init(_ a: A, _ b: B, _ c: C, _ d: D) {
            self.a = a
            self.b = b
            self.c = c
            self.d = d
        }

        /// Attaches a subscriber.
        ///
        /// - Parameter subscriber: The subscriber, which gets the values, one at a time.
        public func receive<S: Subscriber>(subscriber: S) where Output == S.Input, Failure == S.Failure {
            let merge = MergeInner(subscriber, sourceCount: 4)
            // The subscriber gets its subscription before any source can send a value.
            merge.start()
            self.a.subscribe(MergeSource(merge, index: 0))
            self.b.subscribe(MergeSource(merge, index: 1))
            self.c.subscribe(MergeSource(merge, index: 2))
            self.d.subscribe(MergeSource(merge, index: 3))
        }
    }

    /// A publisher of the values of any number of publishers of one type.
    public struct MergeMany<Upstream: Publisher>: Publisher {
        /// The kind of values of the sources.
        public typealias Output = Upstream.Output

        /// The kind of error of the sources.
        public typealias Failure = Upstream.Failure

        /// The sources.
        public let publishers: [Upstream]

        /// Makes a publisher of the values of all sources.
        ///
        /// - Parameter upstream: The sources.
        public init(_ upstream: Upstream...) { self.publishers = upstream }

        /// Makes a publisher of the values of all sources.
        ///
        /// - Parameter upstream: The sources; if there is none, the publisher finishes at once.
        public init<S: Swift.Sequence>(_ upstream: S) where S.Element == Upstream { self.publishers = Array(upstream) }

        /// Attaches a subscriber.
        ///
        /// - Parameter subscriber: The subscriber, which gets the values, one at a time.
        public func receive<S: Subscriber>(subscriber: S) where Output == S.Input, Failure == S.Failure {
            let merge = MergeInner(subscriber, sourceCount: self.publishers.count)
            // The subscriber gets its subscription before any source can send a value.
            merge.start()
            for (index, publisher) in self.publishers.enumerated() {
                publisher.subscribe(MergeSource(merge, index: index))
            }
        }
    }
}

extension Publisher {
    /// Publishes the values of another publisher too.
    ///
    /// The merged sequence ends when all publishers have finished, or when one has failed.
    ///
    /// - Parameter other: The other publisher.
    /// - Returns: The publisher.
    public func merge<P: Publisher>(with other: P) -> Publishers.Merge<Self, P>
    where Failure == P.Failure, Output == P.Output {
        Publishers.Merge(self, other)
    }

    /// Publishes the values of two other publishers too.
    ///
    /// The merged sequence ends when all publishers have finished, or when one has failed.
    ///
    /// - Parameters:
    ///   - b: Another publisher.
    ///   - c: Another publisher.
    /// - Returns: The publisher.
    public func merge<B: Publisher, C: Publisher>(with b: B, _ c: C) -> Publishers.Merge3<Self, B, C>
    where Failure == B.Failure, Output == B.Output, Failure == C.Failure, Output == C.Output {
        Publishers.Merge3(self, b, c)
    }

    /// Publishes the values of three other publishers too.
    ///
    /// The merged sequence ends when all publishers have finished, or when one has failed.
    ///
    /// - Parameters:
    ///   - b: Another publisher.
    ///   - c: Another publisher.
    ///   - d: Another publisher.
    /// - Returns: The publisher.
    public func merge<B: Publisher, C: Publisher, D: Publisher>(
        with b: B, _ c: C, _ d: D
    ) -> Publishers.Merge4<Self, B, C, D>
    where
        Failure == B.Failure, Output == B.Output, Failure == C.Failure, Output == C.Output, Failure == D.Failure,
        Output == D.Output
    {
        Publishers.Merge4(self, b, c, d)
    }

    /// Publishes the values of another publisher of the same type too.
    ///
    /// - Parameter other: The other publisher.
    /// - Returns: The publisher.
    public func merge(with other: Self) -> Publishers.MergeMany<Self> { Publishers.MergeMany([self, other]) }
}
#endif
