// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import GatewayCore
internal import MachineKit
internal import PlazaWire

/// Writes records to the producer immediately while the rate is low, and in batches while it is high
/// (`BatchingPolicy`).
///
/// One thread flushes the batches; it sleeps while no record is buffered.
final class BatchingWriter: RecordSink {
    private struct BufferedRecord: Sendable {
        let record: TopicRecord
        let token: UInt64
    }
    private struct State {
        var policy: BatchingPolicy<BufferedRecord>
        var isStopping = false
    }

    /// The minimum time between two batches.
    ///
    /// On a busy cluster, a machine (a service that decides calls) needs more time for each batch of its own, so the
    /// gap adds little latency.
    static let gap = Milliseconds(8)
    /// The largest number of buffered records.
    ///
    /// The records that come within one gap fit into the buffer. So the limit is reached only if the flushing thread is
    /// delayed; further records are then rejected.
    static let maxBufferedRecords = 20_000

    private let sink: any RecordSink
    private let recordLost: @Sendable (_ token: UInt64) -> Void
    private let state: Locked<State>
    /// Wakes the flushing thread when the first record has been buffered.
    private let batchScheduled = WakeSignal()
    /// Interrupts the flushing thread's pause between two batches at `stop`.
    private let stopRequested = WakeSignal()

    /// Creates a writer that batches the records for `sink`.
    ///
    /// - Parameters:
    ///   - sink: The sink that the records are written to.
    ///   - gap: The minimum time between two batches.
    ///   - recordLost: Called with the token of each buffered record that `sink` rejects when the record is flushed.
    init(
        _ sink: any RecordSink, gap: Milliseconds = BatchingWriter.gap,
        recordLost: @escaping @Sendable (_ token: UInt64) -> Void
    ) {
        self.state = Locked(State(policy: BatchingPolicy(gap: gap, limit: Self.maxBufferedRecords)))
        self.sink = sink
        self.recordLost = recordLost
    }

    func write(_ record: TopicRecord, token: UInt64) throws(SinkRejection) {
        let now = MonotonicClock.now
        let action = self.state.withLock {
            $0.isStopping ? .send : $0.policy.add(BufferedRecord(record: record, token: token), now: now)
        }
        switch action {
        case .send: try self.sink.write(record, token: token)
        case .wait: break
        case .scheduleBatch: self.batchScheduled.wakeUp()
        case .reject: throw .full
        }
    }

    /// Whether a batch has been due for 30 s (`TurnClock.turnLimit`), which means that the flushing thread hangs.
    var isHung: Bool {
        self.state.withLock { $0.policy.overdueTime(at: MonotonicClock.now) >= TurnClock.turnLimit }
    }

    /// Flushes the buffered records each time they are due.
    ///
    /// Returns after `stop`.
    func run() {
        while true {
            self.batchScheduled.wait()
            while !self.state.withLock({ $0.isStopping }) {
                let pause = self.state.withLock { $0.policy.nextBatchAt } - MonotonicClock.now
                self.stopRequested.wait(timeout: .milliseconds(pause.count))
                let batch = self.state.withLock { $0.policy.takeBatch(now: MonotonicClock.now) }
                // Nothing was buffered since the last batch, so the thread sleeps until the next record is buffered.
                if batch.isEmpty { break }
                for buffered in batch { self.flush(buffered) }
            }
            guard self.state.withLock({ $0.isStopping }) else { continue }
            // The last batch; from now on `write` buffers nothing.
            for buffered in self.state.withLock({ $0.policy.takeBatch(now: MonotonicClock.now) }) {
                self.flush(buffered)
            }
            return
        }
    }

    /// Makes `run` flush the buffered records and return.
    ///
    /// Later records are written to the sink immediately.
    func stop() {
        self.state.withLock { $0.isStopping = true }
        self.stopRequested.wakeUp()
        self.batchScheduled.wakeUp()
    }

    /// Writes a buffered record to the sink; reports the record as lost if the sink rejects it.
    private func flush(_ buffered: BufferedRecord) {
        do throws(SinkRejection) {
            try self.sink.write(buffered.record, token: buffered.token)
        } catch {
            self.recordLost(buffered.token)
        }
    }
}
