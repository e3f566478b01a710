// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
package import KafkaClient
package import MachineKit

/// The state of a consumer loop that other threads read and change.
package final class LoopStatus: Sendable {
    private struct State {
        var isStopping = false
        var isReady = false
        var lastTurnAt = MonotonicClock.now
        var progress = ProgressWatch()
        var waker: ConsumerWaker?
    }

    private let state = Locked(State())

    package init() {}

    /// Whether the loop has joined its group and restored its state.
    package var isReady: Bool { self.state.withLock { $0.isReady } }

    /// Whether the loop makes progress: false if no turn has ended for 30 s, or if records are waiting and no batch has
    /// become durable for 10 s.
    package var isLive: Bool {
        self.state.withLock { state in
            let now = MonotonicClock.now
            return now - state.lastTurnAt < .seconds(30) && !state.progress.isStalled(at: now)
        }
    }

    /// Whether a partition has had work for 10 s, and none of its batches became durable.
    ///
    /// The time of former sessions counts as well.
    package var isStalled: Bool { self.state.withLock { $0.progress.isStalled(at: MonotonicClock.now) } }

    /// How long polled records have waited for a batch to become durable; zero if no records are waiting.
    package var waitingTime: Milliseconds {
        self.state.withLock { $0.progress.waitingTime(at: MonotonicClock.now) }
    }

    /// Whether `stop` was called.
    package var isStopping: Bool { self.state.withLock { $0.isStopping } }

    /// Makes the loop end, and wakes its consumer.
    package func stop() {
        let waker = self.state.withLock { state in
            state.isStopping = true
            return state.waker
        }
        waker?.wakeUp()
    }

    /// Sets the waker of the current consumer.
    package func setWaker(_ waker: ConsumerWaker) { self.state.withLock { $0.waker = waker } }

    /// Records the end of a turn.
    package func reportTurn(isReady: Bool) {
        self.state.withLock { state in
            state.isReady = isReady
            state.lastTurnAt = MonotonicClock.now
        }
    }

    /// Records progress or a failure of the loop.
    ///
    /// - Parameter change: calls one method of `ProgressWatch`.
    package func reportProgress(_ change: (inout ProgressWatch) -> Void) {
        self.state.withLock { change(&$0.progress) }
    }

    /// Records that the loop is not ready; unlike `reportTurn`, this does not count as the end of a turn.
    package func resetReadiness() { self.state.withLock { $0.isReady = false } }
}
