// SPDX-License-Identifier: Apache-2.0

internal import Concurrency

/// What a client has heard and nobody has taken yet: bounded, the oldest go first; for one consumer.
///
/// No `AsyncStream`: that ends for good when a wait for its next element is cancelled, and a wait with a deadline is.
package final class UpdateQueue: Sendable {
    private struct State {
        var waiting: [ClientUpdate] = []
        var consumer: CheckedContinuation<ClientUpdate?, Never>?
        /// Which wait the consumer is in, so that a late alarm wakes no later one.
        var wait = 0
        var isEnded = false
    }

    private let limit: Int
    private let state = Locked(State())

    init(limit: Int) { self.limit = limit }

    /// The next update; nil at the deadline, or when the client has ended and nothing is left.
    package func next(before deadline: ContinuousClock.Instant) async -> ClientUpdate? {
        if let update = self.state.withLock({ $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }) { return update }
        let number = self.state.withLock { state in
            state.wait += 1
            return state.wait
        }
        let alarm = Task { [weak self] in
            // Cancelled when something came first.
            guard (try? await Task.sleep(until: deadline)) != nil else { return }
            self?.wake(number)
        }
        defer { alarm.cancel() }
        return await withCheckedContinuation { (continuation: CheckedContinuation<ClientUpdate?, Never>) in
            let ready = self.state.withLock { state -> ClientUpdate?? in
                if !state.waiting.isEmpty { return .some(state.waiting.removeFirst()) }
                if state.isEnded || ContinuousClock.now >= deadline { return .some(nil) }
                state.consumer = continuation
                return .none
            }
            if let ready { continuation.resume(returning: ready) }
        }
    }

    func append(_ update: ClientUpdate) {
        let limit = self.limit
        let consumer = self.state.withLock { state -> CheckedContinuation<ClientUpdate?, Never>? in
            if let consumer = state.consumer {
                state.consumer = nil
                return consumer
            }
            state.waiting.append(update)
            if state.waiting.count > limit { state.waiting.removeFirst() }
            return nil
        }
        consumer?.resume(returning: update)
    }

    func end() {
        self.state.withLock { state -> CheckedContinuation<ClientUpdate?, Never>? in
            state.isEnded = true
            defer { state.consumer = nil }
            return state.consumer
        }?.resume(returning: nil)
    }

    private func wake(_ number: Int) {
        self.state.withLock { state -> CheckedContinuation<ClientUpdate?, Never>? in
            guard state.wait == number else { return nil }
            defer { state.consumer = nil }
            return state.consumer
        }?.resume(returning: nil)
    }
}
