// SPDX-License-Identifier: Apache-2.0
public import LivePlazaCombine

extension StatePublisher where State: Sendable {
    /// The present state, and each new one, for `for await`.
    ///
    /// Each use begins a new sequence. If states come faster than the reader takes them, only the newest one waits. The
    /// sequence ends when its task is cancelled.
    public var values: AsyncStream<State> { self.subscribe().stream(.bufferingNewest(1)) }
}

extension Publisher where Output: Sendable, Failure == Never {
    /// The values that are published from now on, for `for await`, such as the events of a store.
    ///
    /// The sequence ends with the publisher, or when its task is cancelled.
    ///
    /// - Parameter limit: the maximum number of values that wait for a slow reader; the oldest are dropped beyond it.
    /// - Returns: the sequence.
    public func events(bufferingNewest limit: Int = 1_000) -> AsyncStream<Output> {
        self.stream(.bufferingNewest(limit))
    }

    fileprivate func stream(_ policy: AsyncStream<Output>.Continuation.BufferingPolicy) -> AsyncStream<Output> {
        AsyncStream(bufferingPolicy: policy) { continuation in
            let subscription = Locked<AnyCancellable?>(nil)
            continuation.onTermination = { _ in
                let endedSubscription = subscription.withLock { subscription in
                    defer { subscription = nil }
                    return subscription
                }
                endedSubscription?.cancel()
            }
            let cancellable = self.sink(
                receiveCompletion: { _ in continuation.finish() }, receiveValue: { continuation.yield($0) })
            subscription.withLock { $0 = cancellable }
        }
    }
}
