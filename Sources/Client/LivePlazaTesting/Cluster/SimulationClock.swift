// SPDX-License-Identifier: Apache-2.0
package import LivePlazaKit
package import MachineKit

/// A clock that shows 0 at first, and advances only when a simulated cluster or a test advances it.
package final class SimulationClock: PlazaClock {
    private struct Timer {
        /// Grows with each timer: of two timers that are due at the same time, the one that was set first runs first.
        let id: Int
        /// When the timer is due, in milliseconds of the clock.
        let dueAt: Double
        let queue: EngineQueue
        let action: @Sendable () -> Void
    }

    private struct State {
        var now = 0.0
        var lastID = 0
        var timers: [Timer] = []
    }

    private let state = Locked(State())
    private let start: Double

    /// `start`: the time at the clock's 0, in milliseconds since 1970.
    package init(start: Double) { self.start = start }

    package var now: Double { self.state.withLock { $0.now } }
    package var wall: WallTime { WallTime(fractionalMilliseconds: self.start + self.now) }

    package func schedule(
        after delay: Double, on queue: EngineQueue, _ action: @escaping @Sendable () -> Void
    ) -> PlazaTimer {
        let id = self.state.withLock { state in
            state.lastID += 1
            let dueAt = state.now + max(0, delay)
            state.timers.append(Timer(id: state.lastID, dueAt: dueAt, queue: queue, action: action))
            return state.lastID
        }
        return PlazaTimer { [weak self] in self?.state.withLock { state in state.timers.removeAll { $0.id == id } } }
    }

    /// How many timers are set.
    package var timerCount: Int { self.state.withLock { $0.timers.count } }

    /// When the next timer is due; nil if there is none.
    package var nextTimerTime: Double? { self.state.withLock { $0.timers.map(\.dueAt).min() } }

    /// Advances the clock to `time`; an earlier time has no effect.
    package func advance(to time: Double) { self.state.withLock { $0.now = max($0.now, time) } }

    /// Advances to the first timer that is due at `end` or earlier, and adds its action to its queue.
    ///
    /// - Returns: False if no timer is due at `end` or earlier; in this case the clock does not advance.
    package func runNextTimer(by end: Double) -> Bool {
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
