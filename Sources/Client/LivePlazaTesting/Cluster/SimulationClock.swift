// SPDX-License-Identifier: Apache-2.0
internal import LivePlazaKit

/// The clock of a simulated cluster and its clients; it advances only when the cluster advances it.
final class SimulationClock: PlazaClock {
    private struct Timer {
        let id: Int
        /// When the timer is due, in milliseconds of the clock.
        let at: Double
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
    init(start: Double) { self.start = start }

    var now: Double { self.state.withLock { $0.now } }
    var wall: Double { self.start + self.now }

    func schedule(after delay: Double, on queue: EngineQueue, _ action: @escaping @Sendable () -> Void) -> PlazaTimer {
        let id = self.state.withLock { state in
            state.lastID += 1
            let at = state.now + max(0, delay)
            state.timers.append(Timer(id: state.lastID, at: at, queue: queue, action: action))
            return state.lastID
        }
        return PlazaTimer { [weak self] in self?.state.withLock { state in state.timers.removeAll { $0.id == id } } }
    }

    /// When the next timer is due; nil if there is none.
    var nextTimerTime: Double? { self.state.withLock { $0.timers.map(\.at).min() } }

    /// Advances the clock; does not go back.
    func advance(to time: Double) { self.state.withLock { $0.now = max($0.now, time) } }

    /// Runs the first timer that is due, on its queue.
    ///
    /// - Returns: False if none is due.
    func runNextDueTimer() -> Bool {
        let timer = self.state.withLock { state -> Timer? in
            let dueTimers = state.timers.filter { $0.at <= state.now }
            guard let next = dueTimers.min(by: { ($0.at, $0.id) < ($1.at, $1.id) }) else { return nil }
            state.timers.removeAll { $0.id == next.id }
            return next
        }
        guard let timer else { return false }
        timer.queue.async(timer.action)
        return true
    }
}
