// SPDX-License-Identifier: Apache-2.0
internal import Dispatch

/// Runs pieces of work one after the other, in the order in which they are added.
package protocol WorkQueue: Sendable {
    /// Adds work from any thread.
    func async(_ work: @escaping @Sendable () -> Void)
    /// Traps unless it is called on the queue.
    func preconditionIsCurrent()
}

/// A dispatch queue, which must be a serial one.
struct DispatchWorkQueue: WorkQueue {
    let queue: DispatchQueue

    func async(_ work: @escaping @Sendable () -> Void) { self.queue.async(execute: work) }
    func preconditionIsCurrent() { dispatchPrecondition(condition: .onQueue(self.queue)) }
}

/// The executor of an engine: a serial queue.
///
/// All work of a client runs on the queue on which the app receives completions and publications. Therefore they need
/// no hop to another queue, and they arrive in the order of the work.
package final class EngineQueue: SerialExecutor {
    private let queue: any WorkQueue

    /// An executor that runs its work on `queue`.
    package init(_ queue: any WorkQueue) { self.queue = queue }

    /// Adds work from any thread.
    package func async(_ work: @escaping @Sendable () -> Void) { self.queue.async(work) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        self.queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    package func checkIsolated() { self.queue.preconditionIsCurrent() }
}

/// A task that prefers the queue resumes on it, and not on one of the pool's threads first, which would let another
/// task overtake it.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension EngineQueue: TaskExecutor {}
