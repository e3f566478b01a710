// SPDX-License-Identifier: Apache-2.0
package import LivePlazaKit
package import MachineKit

/// A clock that shows 0 at first, and advances only when a simulated cluster or a test advances it.
package final class SimulationClock: PlazaClock {
    private struct Timer {
        /// Grows with each timer: of two timers that are due at the same time, the one that was set first runs first.
        let id: Int
        let dueAt: MonotonicTime
        let queue: EngineQueue
        let action: @Sendable () -> Void
    }

    private struct State {
        var now = SimulationClock.zero
        var lastID = 0
        var timers: [Timer] = []
    }

    private let state = Locked(State())
    private let start: WallTime

    /// What the clock shows at first.
    package static let zero = MonotonicTime(milliseconds: 0)

    /// `start`: the time of day at the clock's 0.
    package init(start: WallTime) { self.start = start }

    package var now: MonotonicTime { self.state.withLock { $0.now } }
    package var wall: WallTime { self.start + self.elapsed }
    /// How long the clock has run.
    package var elapsed: Milliseconds { self.now - Self.zero }

    package func schedule(
        after delay: Milliseconds, on queue: EngineQueue, _ action: @escaping @Sendable () -> Void
    ) -> PlazaTimer {
        let id = self.state.withLock { state in
            state.lastID += 1
            let dueAt = state.now + max(Milliseconds(0), delay)
            state.timers.append(Timer(id: state.lastID, dueAt: dueAt, queue: queue, action: action))
            return state.lastID
        }
        return PlazaTimer { [weak self] in self?.state.withLock { state in state.timers.removeAll { $0.id == id } } }
    }

    /// How many timers are set.
    package var timerCount: Int { self.state.withLock { $0.timers.count } }

    /// When the next timer is due; nil if there is none.
    package var nextTimerTime: MonotonicTime? { self.state.withLock { $0.timers.map(\.dueAt).min() } }

    /// Advances the clock to `time`; an earlier time has no effect.
    package func advance(to time: MonotonicTime) { self.state.withLock { $0.now = max($0.now, time) } }

    /// Advances to the first timer that is due at `end` or earlier, and adds its action to its queue.
    ///
    /// - Returns: False if no timer is due at `end` or earlier; in this case the clock does not advance.
    package func runNextTimer(by end: MonotonicTime) -> Bool {
        let timer = self.state.withLock { state -> Timer? in
            let dueTimers = state.timers.filter { $0.dueAt <= end }
            guard let next = dueTimers.min(by: { ($0.dueAt, $0.id) < ($1.dueAt, $1.id) }) else { return nil }
            state.timers.removeAll { $0.id == next.id }
            state.now = max(state.now, next.dueAt)
            return next
        }
        guard let timer else { return false }
        timer.queue.async(timer.action)
        return true
    }
}
