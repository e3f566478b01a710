// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import EventLoop

/// Runs load plans, each on a loop of its own.
package enum LoadRunner {
    /// Runs `plan` to its end.
    ///
    /// - Parameters:
    ///   - plan: what it does.
    ///   - progress: told each second and at each stage's begin, on the run's thread.
    /// - Returns: what it saw.
    /// - Throws: `LoopError` when the system has no thread or descriptor left.
    package static func run(
        _ plan: LoadPlan, progress: @escaping @Sendable (LoadProgress) -> Void = { _ in }
    ) async throws -> LoadReport {
        let thread = Locked<LoopThread?>(nil)
        let report = await withCheckedContinuation { (continuation: CheckedContinuation<LoadReport?, Never>) in
            let once = Locked<CheckedContinuation<LoadReport?, Never>?>(continuation)
            let finish: @Sendable (LoadReport?) -> Void = { report in
                once.withLock { waiting in
                    defer { waiting = nil }
                    return waiting
                }?.resume(returning: report)
            }
            let started = try? EventLoop.start(name: "plaza-load") { loop in
                do {
                    let run = try LoadRun(plan, loop: loop, progress: progress) { finish($0) }
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

    package var description: String { "no event loop could be started: too many open files?" }
}
