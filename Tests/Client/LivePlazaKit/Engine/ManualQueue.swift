// SPDX-License-Identifier: Apache-2.0
import LivePlazaTesting

@testable import LivePlazaKit

/// A queue whose work runs only when a test calls `drain`, on the thread of the test.
final class ManualQueue: WorkQueue {
    private struct State {
        var work: [@Sendable () -> Void] = []
        var isRunning = false
    }

    private let state = Locked(State())

    func async(_ work: @escaping @Sendable () -> Void) { self.state.withLock { $0.work.append(work) } }

    func preconditionIsCurrent() { precondition(self.state.withLock { $0.isRunning }, "not on the queue") }

    /// Runs all work, including the work that is added meanwhile.
    func drain() {
        self.state.withLock { $0.isRunning = true }
        while let work = self.state.withLock({ $0.work.isEmpty ? nil : $0.work.removeFirst() }) { work() }
        self.state.withLock { $0.isRunning = false }
    }
}

extension SimulationClock {
    /// The clock of a test, which shows 1 s at the beginning.
    static func forTest() -> SimulationClock {
        // `start` is the wall time at the clock's 0, in milliseconds since 1970.
        let clock = SimulationClock(start: 1_700_000_000_000)
        clock.advance(to: 1000)
        return clock
    }

    /// Advances the clock, and runs the timers that become due, in order, with all work that follows from them.
    func advance(by milliseconds: Double, _ queue: ManualQueue) {
        let end = self.now + milliseconds
        while self.runNextTimer(by: end) { queue.drain() }
        self.advance(to: end)
    }
}
