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

/// The executor of a `PlazaEngine`, which is the actor of one client: a serial queue.
///
/// All work of a client runs on the queue on which the app receives completions and published values. Therefore
/// completions and values need no other queue, and arrive in the order of the work.
///
/// A piece of work may resume a caller, for example because the reply to its call has arrived. The caller runs right
/// after this piece of work, before any work that waits in the queue. Otherwise the client would show the next frame
/// before the caller knows its reply.
package final class EngineQueue: SerialExecutor {
    /// The state of the current turn: a piece of work, and then the jobs that were enqueued during the turn.
    private struct TurnState {
        /// Whether a turn runs; otherwise there are no jobs.
        var isRunning = false
        /// The jobs that have not run yet, in order.
        var jobs: [UnownedJob] = []
    }

    private let queue: any WorkQueue
    private let turnState = Locked(TurnState())

    /// An executor that runs its work on `queue`.
    package init(_ queue: any WorkQueue) { self.queue = queue }

    /// Adds work from any thread.
    package func async(_ work: @escaping @Sendable () -> Void) { self.queue.async { self.runTurn(work) } }

    /// Adds a job of the Swift runtime: to the turn that runs now, or as a turn of its own if none runs.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isAddedToTurn = self.turnState.withLock { state in
            if state.isRunning { state.jobs.append(job) }
            return state.isRunning
        }
        if !isAddedToTurn { self.queue.async { self.runTurn { self.run(job) } } }
    }

    package func checkIsolated() { self.queue.preconditionIsCurrent() }

    /// Runs work, and then all jobs that are enqueued during the turn.
    private func runTurn(_ work: () -> Void) {
        self.turnState.withLock { $0.isRunning = true }
        work()
        while let job = self.takeJob() { self.run(job) }
    }

    /// Removes and returns the next job of the turn; ends the turn if there is none.
    private func takeJob() -> UnownedJob? {
        self.turnState.withLock { state in
            state.isRunning = !state.jobs.isEmpty
            return state.isRunning ? state.jobs.removeFirst() : nil
        }
    }

    private func run(_ job: UnownedJob) { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
}

/// A task that prefers this executor resumes on the queue directly. Otherwise the task would first resume on a thread
/// of the system's pool, where another task could overtake it.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension EngineQueue: TaskExecutor {}
