// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import LivePlazaKit

/// The serial queue on which the simulated cluster and all its clients run.
///
/// The cluster drains the queue before it advances its clock. Therefore work runs at the time at which it was added.
final class SimulationQueue: WorkQueue {
    private struct State {
        var work: [@Sendable () -> Void] = []
        /// Whether `drain` runs, or is about to run on the dispatch queue.
        var isDraining = false

        /// Removes and returns the next work; if there is none, the draining ends.
        mutating func takeNext() -> (@Sendable () -> Void)? {
            guard !self.work.isEmpty else {
                self.isDraining = false
                return nil
            }
            return self.work.removeFirst()
        }
    }

    let dispatchQueue: DispatchQueue
    /// Has the value true on this queue, so that `sync` notices a call from the queue itself, which would deadlock.
    private let isOnQueueKey = DispatchSpecificKey<Bool>()
    private let state = Locked(State())

    init(_ dispatchQueue: DispatchQueue) {
        self.dispatchQueue = dispatchQueue
        dispatchQueue.setSpecific(key: self.isOnQueueKey, value: true)
    }

    func async(_ work: @escaping @Sendable () -> Void) {
        let mustDrain = self.state.withLock { state in
            state.work.append(work)
            defer { state.isDraining = true }
            return !state.isDraining
        }
        if mustDrain { self.dispatchQueue.async { self.drain() } }
    }

    func preconditionIsCurrent() { dispatchPrecondition(condition: .onQueue(self.dispatchQueue)) }

    /// Runs `body` on the queue, and returns its result.
    func sync<Result>(_ body: () throws -> Result) rethrows -> Result {
        let isOnQueue = DispatchQueue.getSpecific(key: self.isOnQueueKey) == true
        return isOnQueue ? try body() : try self.dispatchQueue.sync(execute: body)
    }

    /// Runs all work, and the work that it adds; must be called on the queue.
    func drain() {
        while let work = self.state.withLock({ $0.takeNext() }) { work() }
    }
}
