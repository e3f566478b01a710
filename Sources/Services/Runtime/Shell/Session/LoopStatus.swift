// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
package import KafkaClient
package import MachineKit

/// The state of a consumer loop, as its thread reports it and other threads query it; other threads also stop the loop.
package final class LoopStatus: Sendable {
    private struct State {
        var isStopping = false
        var isReady = false
        /// When a turn last ended; at first, when the status was created.
        var lastTurnAt = MonotonicClock.now
        /// When progress or a failure was last reported, also within a turn.
        var lastActivityAt = MonotonicClock.now
        var progress = ProgressWatch()
        var damagedPartitions: [Int32] = []
        var unreadableRowCounts: [Int32: Int] = [:]
        var waker: ConsumerWaker?
    }

    private let state = Locked(State())

    package init() {}

    /// Whether the loop has joined its group and restored its state.
    package var isReady: Bool { self.state.withLock { $0.isReady } }

    /// Whether a turn or a batch has ended, or a session has begun, within the last 30 s; if not, the thread hangs.
    package var isTurning: Bool {
        self.state.withLock { MonotonicClock.now - max($0.lastTurnAt, $0.lastActivityAt) < TurnClock.turnLimit }
    }

    /// Whether a turn has ended within the last 30 s; false while each session fails before its first turn.
    package var hasTurned: Bool { self.state.withLock { MonotonicClock.now - $0.lastTurnAt < TurnClock.turnLimit } }

    /// Whether a partition has had work for 10 s, and none of its batches became durable in this time.
    ///
    /// The time of former sessions counts as well.
    package var isStalled: Bool { self.state.withLock { $0.progress.isStalled(at: MonotonicClock.now) } }

    /// Whether a partition has had work for 10 s of the current session, and none of its batches became durable in this
    /// time.
    var isSessionStalled: Bool { self.state.withLock { $0.progress.isSessionStalled(at: MonotonicClock.now) } }

    /// The partitions that the current session cannot read, so that it is unknown whether they have work.
    var unreadablePartitions: [TopicPartition] { self.state.withLock { $0.progress.unreadablePartitions } }

    /// The pause before a failed batch is processed again.
    var retryPause: Milliseconds { self.state.withLock { $0.progress.retryPause } }

    /// How long polled records have waited for a batch to become durable; zero if no records are waiting.
    package var waitingTime: Milliseconds {
        self.state.withLock { $0.progress.waitingTime(at: MonotonicClock.now) }
    }

    /// The numbers of the assigned partitions that are not served, because their rows cannot be restored.
    package var damagedPartitions: [Int32] { self.state.withLock { $0.damagedPartitions } }

    /// For each owned partition that is served without some of its rows, the number of rows that could not be read.
    package var unreadableRowCounts: [Int32: Int] { self.state.withLock { $0.unreadableRowCounts } }

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

    /// Records the beginning of a session.
    package func reportSessionBegan() { self.reportProgress { $0.sessionBegan() } }

    /// Records the end of a turn.
    package func reportTurn(isReady: Bool) {
        self.state.withLock { state in
            state.isReady = isReady
            state.lastTurnAt = MonotonicClock.now
        }
    }

    /// Records progress or a failure of the loop.
    ///
    /// - Parameter update: calls one method of `ProgressWatch`.
    package func reportProgress(_ update: (inout ProgressWatch) -> Void) {
        self.state.withLock { state in
            state.lastActivityAt = MonotonicClock.now
            update(&state.progress)
        }
    }

    /// Records which assigned partitions are not served, because their rows cannot be restored.
    package func setDamagedPartitions(_ partitions: [Int32]) {
        self.state.withLock { $0.damagedPartitions = partitions }
    }

    /// Records how many rows of which owned partitions could not be read.
    package func setUnreadableRowCounts(_ counts: [Int32: Int]) {
        self.state.withLock { $0.unreadableRowCounts = counts }
    }

    /// Records that the loop is not ready; unlike `reportTurn`, this does not count as the end of a turn.
    package func resetReadiness() { self.state.withLock { $0.isReady = false } }
}
