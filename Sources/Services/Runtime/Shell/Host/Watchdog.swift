// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
package import MachineKit

/// Checks the loops of a process on a thread of its own, and reports the loops that hang (`HangWatch`).
package final class Watchdog: Sendable {
    private let interval: Milliseconds
    private let hungLoops: @Sendable () -> [String]
    private let report: @Sendable ([String]) -> Void
    private let isStopping = ConditionVariable(false)

    /// Creates a watchdog; `run` starts it.
    ///
    /// - Parameters:
    ///   - interval: the time between two checks.
    ///   - hungLoops: returns the names of the loops that have not turned for too long.
    ///   - report: called at most once, with the names of the loops that stay hung.
    package init(
        interval: Milliseconds = HangWatch.interval, hungLoops: @escaping @Sendable () -> [String],
        report: @escaping @Sendable ([String]) -> Void
    ) {
        self.interval = interval
        self.hungLoops = hungLoops
        self.report = report
    }

    /// Checks the loops on the calling thread, until `stop` is called or a loop was reported.
    package func run() {
        var watch = HangWatch()
        while self.isStopping.wait(timeout: Duration(self.interval), for: { $0 ? () : nil }) == nil {
            let names = watch.check(self.hungLoops(), at: MonotonicClock.now)
            if !names.isEmpty { return self.report(names) }
        }
    }

    /// Makes `run` return.
    ///
    /// May be called from any thread.
    package func stop() { self.isStopping.update { $0 = true } }
}
