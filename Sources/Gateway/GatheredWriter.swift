// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import CoreKit
internal import Dispatch
internal import GatewayCore
internal import PlazaWire

/// Hands records to the producer at once while few come, and together while many do (`Gathering`).
///
/// One thread, which waits only while records do.
final class GatheredWriter: RecordSink {
    private struct Waiting: Sendable {
        let record: TopicRecord
        let token: UInt64
    }
    private struct State {
        var gathering: Gathering<Waiting>
        var isStopping = false
    }

    /// Shorter than a batch of a machine takes on a busy cluster, so that few messages are later for it.
    static let gap = Milliseconds(8)
    /// More cannot come within a gap; what comes while the thread is held up is refused beyond it.
    static let limit = 20_000

    private let next: any RecordSink
    private let lost: @Sendable (_ token: UInt64) -> Void
    private let state: Locked<State>
    private let begun = DispatchSemaphore(value: 0)
    private let stopping = DispatchSemaphore(value: 0)

    /// Gathers for `next`.
    ///
    /// - Parameters:
    ///   - next: takes the records.
    ///   - gap: the least time between two sendings while records keep coming.
    ///   - lost: told of a record that had waited and that `next` refused.
    init(
        _ next: any RecordSink, gap: Milliseconds = GatheredWriter.gap,
        lost: @escaping @Sendable (_ token: UInt64) -> Void
    ) {
        self.state = Locked(State(gathering: Gathering(gap: gap, limit: Self.limit)))
        self.next = next
        self.lost = lost
    }

    func write(_ record: TopicRecord, token: UInt64) throws(SinkRefusal) {
        let now = MonotonicClock.now
        let step = self.state.withLock {
            $0.isStopping ? .send : $0.gathering.add(Waiting(record: record, token: token), now: now)
        }
        switch step {
        case .send: try self.next.write(record, token: token)
        case .wait: break
        case .begin: self.begun.signal()
        case .full: throw .full
        }
    }

    /// Sends what waits when its time has come, until `stop`.
    func run() {
        while true {
            self.begun.wait()
            while !self.state.withLock({ $0.isStopping }) {
                let pause = self.state.withLock { $0.gathering.due } - MonotonicClock.now
                _ = self.stopping.wait(timeout: .now() + .milliseconds(Int(pause.count)))
                let waiting = self.state.withLock { $0.gathering.take(now: MonotonicClock.now) }
                if waiting.isEmpty { break }
                for each in waiting { self.send(each) }
            }
            guard self.state.withLock({ $0.isStopping }) else { continue }
            for each in self.state.withLock({ $0.gathering.take(now: MonotonicClock.now) }) { self.send(each) }
            return
        }
    }

    /// Lets `run` send what waits, and end; from now on all is sent at once.
    func stop() {
        self.state.withLock { $0.isStopping = true }
        self.stopping.signal()
        self.begun.signal()
    }

    private func send(_ waiting: Waiting) {
        do throws(SinkRefusal) {
            try self.next.write(waiting.record, token: waiting.token)
        } catch {
            self.lost(waiting.token)
        }
    }
}
