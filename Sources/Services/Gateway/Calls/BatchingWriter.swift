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
    private struct Waiting: Sendable {
        let record: TopicRecord
        let token: UInt64
    }
    private struct State {
        var policy: BatchingPolicy<Waiting>
        var isStopping = false
    }

    /// The least time between two batches.
    ///
    /// It is shorter than the time that a machine needs for a batch on a busy cluster, so it adds little latency.
    static let gap = Milliseconds(8)
    /// The largest number of buffered records.
    ///
    /// The records of one gap fit. The limit is reached only if the flushing thread is delayed; further records are then
    /// refused.
    static let limit = 20_000

    private let next: any RecordSink
    private let lost: @Sendable (_ token: UInt64) -> Void
    private let state: Locked<State>
    private let waitBegan = WakeSignal()
    private let stopping = WakeSignal()

    /// Creates a writer that batches the records for `next`.
    ///
    /// - Parameters:
    ///   - next: The sink that the records are written to.
    ///   - gap: The least time between two batches.
    ///   - lost: Called with the token of each buffered record that `next` refuses when it is flushed.
    init(
        _ next: any RecordSink, gap: Milliseconds = BatchingWriter.gap,
        lost: @escaping @Sendable (_ token: UInt64) -> Void
    ) {
        self.state = Locked(State(policy: BatchingPolicy(gap: gap, limit: Self.limit)))
        self.next = next
        self.lost = lost
    }

    func write(_ record: TopicRecord, token: UInt64) throws(SinkRefusal) {
        let now = MonotonicClock.now
        let step = self.state.withLock {
            $0.isStopping ? .send : $0.policy.add(Waiting(record: record, token: token), now: now)
        }
        switch step {
        case .send: try self.next.write(record, token: token)
        case .wait: break
        case .begin: self.waitBegan.wakeUp()
        case .full: throw .full
        }
    }

    /// Flushes the buffered records each time they are due.
    ///
    /// Returns after `stop`.
    func run() {
        while true {
            self.waitBegan.wait()
            while !self.state.withLock({ $0.isStopping }) {
                let pause = self.state.withLock { $0.policy.due } - MonotonicClock.now
                self.stopping.wait(timeout: .milliseconds(pause.count))
                let waiting = self.state.withLock { $0.policy.take(now: MonotonicClock.now) }
                if waiting.isEmpty { break }
                for each in waiting { self.send(each) }
            }
            guard self.state.withLock({ $0.isStopping }) else { continue }
            for each in self.state.withLock({ $0.policy.take(now: MonotonicClock.now) }) { self.send(each) }
            return
        }
    }

    /// Makes `run` flush the buffered records and return.
    ///
    /// Records that are written later are no longer buffered.
    func stop() {
        self.state.withLock { $0.isStopping = true }
        self.stopping.wakeUp()
        self.waitBegan.wakeUp()
    }

    private func send(_ waiting: Waiting) {
        do throws(SinkRefusal) {
            try self.next.write(waiting.record, token: waiting.token)
        } catch {
            self.lost(waiting.token)
        }
    }
}
