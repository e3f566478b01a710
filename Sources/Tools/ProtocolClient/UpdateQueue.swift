// SPDX-License-Identifier: Apache-2.0
internal import Concurrency

/// The updates that a client has received and that its only consumer has not read yet.
///
/// When the queue is full, the oldest updates are dropped. It is not an `AsyncStream`, because a wait must end at its
/// deadline. An `AsyncStream` could end a wait only by cancelling it, which would also end the stream.
package final class UpdateQueue: Sendable {
    private struct State {
        var updates: [ClientUpdate] = []
        /// The consumer, while it waits for an update.
        var consumer: CheckedContinuation<ClientUpdate?, Never>?
        /// The number of the consumer's waits so far, by which the deadline of an earlier wait does not end a later
        /// wait.
        var waitNumber = 0
        var isEnded = false
    }

    /// The result of the last look at the queue before the consumer waits.
    private enum WaitResult {
        case update(ClientUpdate)
        /// The client has ended, or the deadline has passed.
        case nothingMore
        case mustWait
    }

    private let limit: Int
    private let state = Locked(State())

    init(limit: Int) { self.limit = limit }

    /// Waits for the next update.
    ///
    /// - Returns: the update; nil at the deadline, or when the client has ended and no update is left.
    package func next(before deadline: ContinuousClock.Instant) async -> ClientUpdate? {
        if let update = self.state.withLock({ $0.updates.isEmpty ? nil : $0.updates.removeFirst() }) { return update }
        let waitNumber = self.state.withLock { state in
            state.waitNumber += 1
            return state.waitNumber
        }
        let deadlineTask = Task { [weak self] in
            // The sleep is cancelled when an update is received before the deadline.
            guard (try? await Task.sleep(until: deadline)) != nil else { return }
            self?.endWait(waitNumber)
        }
        defer { deadlineTask.cancel() }
        return await withCheckedContinuation { (consumer: CheckedContinuation<ClientUpdate?, Never>) in
            let waitResult = self.state.withLock { state -> WaitResult in
                if !state.updates.isEmpty { return .update(state.updates.removeFirst()) }
                if state.isEnded || ContinuousClock.now >= deadline { return .nothingMore }
                state.consumer = consumer
                return .mustWait
            }
            switch waitResult {
            case .update(let update): consumer.resume(returning: update)
            case .nothingMore: consumer.resume(returning: nil)
            case .mustWait: break
            }
        }
    }

    /// Adds an update, or passes it to the waiting consumer.
    func append(_ update: ClientUpdate) {
        let limit = self.limit
        let consumer = self.state.withLock { state -> CheckedContinuation<ClientUpdate?, Never>? in
            if let consumer = state.consumer {
                state.consumer = nil
                return consumer
            }
            state.updates.append(update)
            if state.updates.count > limit { state.updates.removeFirst() }
            return nil
        }
        consumer?.resume(returning: update)
    }

    /// Ends the queue; after the last queued update the consumer gets nil.
    func end() {
        let consumer = self.state.withLock { state -> CheckedContinuation<ClientUpdate?, Never>? in
            state.isEnded = true
            defer { state.consumer = nil }
            return state.consumer
        }
        consumer?.resume(returning: nil)
    }

    /// Ends a wait at its deadline; does nothing if the consumer is not in this wait any more.
    private func endWait(_ waitNumber: Int) {
        let consumer = self.state.withLock { state -> CheckedContinuation<ClientUpdate?, Never>? in
            guard state.waitNumber == waitNumber else { return nil }
            defer { state.consumer = nil }
            return state.consumer
        }
        consumer?.resume(returning: nil)
    }
}
