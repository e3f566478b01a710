// SPDX-License-Identifier: Apache-2.0
package import KafkaClient
package import MachineKit

/// Detects a partition whose work, the records that its owner must process, does not become durable.
///
/// Each partition is watched on its own, because the progress of some partitions must not hide that another is stalled.
package struct ProgressWatch: Sendable {
    /// How long the work of a partition may wait until a batch of the partition becomes durable.
    package static let limit = Milliseconds.seconds(10)
    /// The pauses before a failed batch is processed again.
    private static let backOff = ExponentialBackOff(firstPause: Milliseconds(50), longestPause: .seconds(1))

    /// The work of a partition that is not durable yet.
    private struct WaitingWork {
        /// When the oldest part of the work arrived; for assumed work, when the read first failed.
        var since: MonotonicTime
        /// Since when the work has waited in the current session; nil until the session has found the work.
        var sessionSince: MonotonicTime?
        /// Whether the work is only assumed, because the partition cannot be read.
        var isAssumed: Bool
        /// How many batches of the current session have failed in a row.
        var failures = 0
    }

    private var waiting: [TopicPartition: WaitingWork] = [:]

    package init() {}

    /// Records that a partition has work: a polled record, or a tick that was written and is not read back.
    package mutating func workArrived(in partition: TopicPartition, at now: MonotonicTime) {
        self.workFound(in: partition, at: now, isAssumed: false)
    }

    /// Records that a partition could not be read, so that it may have work.
    package mutating func readFailed(in partition: TopicPartition, at now: MonotonicTime) {
        self.workFound(in: partition, at: now, isAssumed: true)
    }

    /// Records that a partition has work, or, with `isAssumed`, that it may have some.
    private mutating func workFound(in partition: TopicPartition, at now: MonotonicTime, isAssumed: Bool) {
        var work = self.waiting[partition] ?? WaitingWork(since: now, isAssumed: true)
        work.sessionSince = work.sessionSince ?? now
        if !isAssumed { work.isAssumed = false }
        self.waiting[partition] = work
    }

    /// Records that a new session begins, which has not found any work yet; the work of former sessions still waits.
    package mutating func sessionBegan() {
        self.waiting = self.waiting.mapValues { WaitingWork(since: $0.since, isAssumed: true) }
    }

    /// Records that a batch of a partition is durable, or that the partition was read to its end.
    package mutating func workDone(in partition: TopicPartition) { self.waiting[partition] = nil }

    /// Records that a batch of a partition failed and will be processed again.
    package mutating func workFailed(in partition: TopicPartition) { self.waiting[partition]?.failures += 1 }

    /// Records which partitions the consumer owns from now on; the work of all other partitions is for other members of
    /// the group.
    package mutating func partitionsAssigned(_ partitions: some Collection<TopicPartition>) {
        self.waiting = self.waiting.filter { partitions.contains($0.key) }
    }

    /// Records that no broker can be reached.
    ///
    /// Work that waits for a broker is no reason to restart the process: a new process would wait as well.
    package mutating func brokerUnreachable() { self.waiting.removeAll() }

    /// The partitions that cannot be read, so that it is unknown whether they have work.
    ///
    /// Partitions that the current session has not tried to read are left out.
    package var unreadablePartitions: [TopicPartition] {
        self.waiting.filter { $0.value.isAssumed && $0.value.sessionSince != nil }.map(\.key)
    }

    /// How long the oldest work has waited; zero if no work is waiting.
    package func waitingTime(at now: MonotonicTime) -> Milliseconds {
        self.waiting.values.reduce(Milliseconds(0)) { max($0, now - $1.since) }
    }

    /// Whether the work of a partition has waited for at least `limit`; the time of former sessions counts as well.
    package func isStalled(at now: MonotonicTime) -> Bool {
        self.waitingTime(at: now) >= Self.limit
    }

    /// Whether the work of a partition has waited for at least `limit` in the current session.
    package func isSessionStalled(at now: MonotonicTime) -> Bool {
        self.waiting.values.contains { work in
            work.sessionSince.map { now - $0 >= Self.limit } ?? false
        }
    }

    /// The partitions that have, or may have, work that is not done yet.
    var waitingPartitions: Set<TopicPartition> { Set(self.waiting.keys) }

    /// For each partition that has work or may have some, how long the work has waited.
    func waitingTimes(at now: MonotonicTime) -> [TopicPartition: Milliseconds] {
        self.waiting.mapValues { now - $0.since }
    }

    /// The pause before a failed batch is processed again: 50 ms, doubled with each further failure up to one second.
    var retryPause: Milliseconds {
        let failures = self.waiting.values.reduce(0) { max($0, $1.failures) }
        return Self.backOff.pause(afterEarlierFailures: failures - 1)
    }
}
