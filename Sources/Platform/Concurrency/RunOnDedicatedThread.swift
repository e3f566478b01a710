// SPDX-License-Identifier: Apache-2.0

/// Runs a blocking body on a new thread and awaits its result, so that it blocks no thread of Swift concurrency.
///
/// The body stays in the caller's task, so it has the caller's task-local values, such as the current test.
///
/// - Parameters:
///   - name: the thread's name.
///   - body: the code to run; it may block.
/// - Returns: what the body returns.
/// - Throws: what the body throws.
package func runOnDedicatedThread<Result: Sendable, Failure: Error>(
    _ name: String = "blocking-call", _ body: @escaping @Sendable () throws(Failure) -> Result
) async throws(Failure) -> Result {
    try await withTaskExecutorPreference(ThreadPerJob(name: name)) { () async throws(Failure) -> Result in
        try await runOnPreferredExecutor(body)
    }
}

/// `@concurrent` makes the call run on the preferred executor.
@concurrent private func runOnPreferredExecutor<Result: Sendable, Failure: Error>(
    _ body: @Sendable () throws(Failure) -> Result
) async throws(Failure) -> Result {
    try body()
}

/// Runs each job on a new thread.
private final class ThreadPerJob: TaskExecutor {
    private let name: String

    init(name: String) { self.name = name }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        _ = DedicatedThread(self.name) { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
