// SPDX-License-Identifier: Apache-2.0

@testable import LivePlazaKit

/// A queue whose work runs only when a test calls `drain`, on the test's thread.
final class ManualQueue: WorkQueue {
    private struct State {
        var work: [@Sendable () -> Void] = []
        var isRunning = false
    }

    private let state = Locked(State())

    func async(_ work: @escaping @Sendable () -> Void) { self.state.withLock { $0.work.append(work) } }

    func preconditionIsCurrent() { precondition(self.state.withLock { $0.isRunning }, "not on the queue") }

    /// Runs all work, including work that is added meanwhile.
    func drain() {
        self.state.withLock { $0.isRunning = true }
        while let work = self.state.withLock({ $0.work.isEmpty ? nil : $0.work.removeFirst() }) { work() }
        self.state.withLock { $0.isRunning = false }
    }
}

/// A clock that a test moves forward.
final class ManualClock: PlazaClock {
    private struct Timer {
        let id: Int
        let dueTime: Double
        let queue: EngineQueue
        let action: @Sendable () -> Void
    }

    private struct State {
        var time = 1000.0
        var nextID = 1
        var timers: [Timer] = []
    }

    private let state = Locked(State())
    /// The milliseconds since 1970 when the clock shows 0.
    private static let wallStart = 1_700_000_000_000.0

    var now: Double { self.state.withLock { $0.time } }
    /// How many timers are set.
    var timerCount: Int { self.state.withLock { $0.timers.count } }
    var wall: Double { Self.wallStart + self.now }

    func schedule(after delay: Double, on queue: EngineQueue, _ action: @escaping @Sendable () -> Void) -> PlazaTimer {
        precondition(delay >= 0, "a timer of \(delay) ms")
        let id = self.state.withLock { state in
            defer { state.nextID += 1 }
            state.timers.append(Timer(id: state.nextID, dueTime: state.time + delay, queue: queue, action: action))
            return state.nextID
        }
        return PlazaTimer { [weak self] in self?.state.withLock { $0.timers.removeAll { $0.id == id } } }
    }

    /// Moves the clock, and runs the timers that become due, in order, with all work that follows.
    func advance(by milliseconds: Double, _ queue: ManualQueue) {
        let end = self.now + milliseconds
        while let timer = self.takeDueTimer(by: end) {
            timer.queue.async(timer.action)
            queue.drain()
        }
        self.state.withLock { $0.time = end }
    }

    private func takeDueTimer(by end: Double) -> Timer? {
        self.state.withLock { state in
            guard
                let next = state.timers.filter({ $0.dueTime <= end }).min(by: {
                    ($0.dueTime, $0.id) < ($1.dueTime, $1.id)
                })
            else {
                return nil
            }
            state.timers.removeAll { $0.id == next.id }
            state.time = max(state.time, next.dueTime)
            return next
        }
    }
}
