// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import EventLoop

/// Runs load plans, each on an event loop and thread of its own.
package enum LoadRunner {
    /// Runs a plan until its lives have ended.
    ///
    /// - Parameters:
    ///   - plan: the addresses, the load and the duration.
    ///   - progress: called each second and at the beginning of each stage, on the run's thread.
    /// - Returns: the results.
    /// - Throws: `LoadError.noLoop` when the system has no thread or descriptor left.
    package static func run(
        _ plan: LoadPlan, progress: @escaping @Sendable (LoadProgress) -> Void = { _ in }
    ) async throws -> LoadReport {
        let thread = Locked<LoopThread?>(nil)
        let report = await withCheckedContinuation { (continuation: CheckedContinuation<LoadReport?, Never>) in
            let pending = Locked<CheckedContinuation<LoadReport?, Never>?>(continuation)
            // `finish` may be called twice, but a continuation must be resumed only once. So the first call removes it.
            let finish: @Sendable (LoadReport?) -> Void = { report in
                pending.withLock { pending in
                    defer { pending = nil }
                    return pending
                }?.resume(returning: report)
            }
            let started = try? EventLoop.start(name: "plaza-load") { loop in
                do {
                    let run = try LoadRun(plan, loop: loop, onProgress: progress) { finish($0) }
                    try run.start()
                } catch {
                    finish(nil)
                }
            }
            guard let started else { return finish(nil) }
            thread.withLock { $0 = started }
        }
        if let thread = thread.withLock({ $0 }) {
            thread.stop()
            thread.join()
        }
        guard let report else { throw LoadError.noLoop }
        return report
    }
}

/// Why a run could not begin.
package enum LoadError: Error, Sendable, CustomStringConvertible {
    /// The system has no thread or descriptor left.
    case noLoop

    package var description: String {
        "no event loop could be started; raise the limit on open files or threads (ulimit -n, ulimit -u)"
    }
}
