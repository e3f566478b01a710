// SPDX-License-Identifier: Apache-2.0
import LivePlazaTesting
import MachineKit

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
        let clock = SimulationClock(start: .seconds(1_700_000_000))
        clock.advance(to: .seconds(1))
        return clock
    }

    /// Advances the clock, and runs the timers that become due, in order, with all work that follows from them.
    func advance(by span: Milliseconds, _ queue: ManualQueue) {
        let end = self.now + span
        while self.runNextTimer(by: end) { queue.drain() }
        self.advance(to: end)
    }
}

extension TimePoint {
    /// The point that is `count` milliseconds after the clock's zero.
    static func milliseconds(_ count: Int64) -> Self { Self(milliseconds: count) }
}
