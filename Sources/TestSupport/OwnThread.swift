// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// Runs a body that blocks on a thread of its own and waits for it, so that it holds none of Swift's.
///
/// It stays in the caller's task, so that a failed expectation is the failure of the test that runs.
///
/// - Parameter body: what to do.
/// - Returns: what the body returns.
/// - Throws: what the body throws.
package func onOwnThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withTaskExecutorPreference(OwnThreadExecutor()) { try await runHere(body) }
}

/// `@concurrent` is what takes it to the preferred executor.
@concurrent private func runHere<Result: Sendable>(_ body: @Sendable () throws -> Result) async throws -> Result {
    try body()
}

/// Runs each job on a new thread.
private final class OwnThreadExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
