// SPDX-License-Identifier: Apache-2.0
package import KafkaClient
package import MachineKit

/// Detects a reader that has something to read and reads nothing, and reports whether the broker or the reader is the
/// cause.
///
/// A partition waits (has something to read) in three cases: it was not read to its end yet, a read has failed, or a
/// query shows that its end lies beyond what was read. After 10 s without progress the ends of the waiting partitions
/// are queried. If the broker answers, a new consumer or process could read: the reader is stalled. If the broker
/// cannot be reached, a new consumer or process would wait as well.
package struct ReadWatch: Sendable {
    /// What a reader does.
    package enum State: Equatable, Sendable {
        /// It reads, has nothing to read, or has waited for less than 10 s.
        case reading
        /// It has read nothing for 10 s, because the broker does not answer or does not permit it.
        case waitingForBroker
        /// It has read nothing for 10 s, although the broker answers and has records that it has not read.
        case stalled
    }

    /// A longer time between two turns of the reader's loop shows that the whole process was suspended meanwhile.
    static let maxTurnInterval = Milliseconds.seconds(5)
    /// The time between two queries of the partitions' ends while no partition is overdue, and after a failed query.
    ///
    /// It is long, because a query delays the reader.
    static let checkInterval = Milliseconds.seconds(10)
    /// The time between two queries while a partition is overdue, that is, has waited for 10 s.
    static let overdueCheckInterval = Milliseconds.seconds(2)
    /// How long a partition continues to wait after a scan (the reading of one range) that has read nothing.
    ///
    /// If no other scan of the partition begins within this time, the partition is not watched any more.
    static let maxTimeToNextScan = Milliseconds.seconds(3)

    /// The state of a partition that the current consumer reads.
    private struct Partition {
        /// The offset after the last record that was read; nil until it is known.
        var position: Int64?
        /// True from the assignment of the partition until its end is reached for the first time.
        var isLoading = true
        /// True from the assignment of the partition until a record or the end is read.
        var hasReadNothing = true
        /// Whether records or the end were read since the last check.
        var wasReadSinceCheck = true
    }

    private var partitions: [TopicPartition: Partition] = [:]
    /// The partitions that wait although the consumer does not read them, each with the time when that began or when a
    /// request for the partition was last queued.
    private var unassignedSince: [TopicPartition: MonotonicTime] = [:]
    /// When a partition that is loading was read last.
    private var loadingProgressAt = MonotonicTime.distantPast
    private var lastTurnAt: MonotonicTime?
    /// The partitions that wait, and since when; here the "work" of `ProgressWatch` is to read records.
    private var progress = ProgressWatch()
    /// Whether the broker answered the last query of the ends, or the last attempt to set up a consumer.
    ///
    /// Nil if neither was made since a partition became overdue.
    private var isBrokerAnswering: Bool?
    private var nextCheckAt: MonotonicTime
    private var nextOverdueCheckAt = MonotonicTime.distantPast
    /// Since when the current consumer reads; nil while there is none.
    private var readingSince: MonotonicTime?
    /// Since when no consumer could be set up; nil while there is one.
    private var failingSince: MonotonicTime?
    /// Since when the broker has been reachable without interruption, as far as is known.
    package private(set) var reachableSince: MonotonicTime

    /// Creates the watch of a reader that begins at `now`.
    package init(at now: MonotonicTime) {
        self.nextCheckAt = now + Self.checkInterval
        self.reachableSince = now
    }

    // MARK: The consumer

    /// Records that a turn of the reader's loop begins; the first turn after a failure is the first of a new consumer.
    package mutating func turnBegan(at now: MonotonicTime) {
        self.failingSince = nil
        if self.readingSince == nil { self.readingSince = now }
        if let lastTurnAt, now - lastTurnAt > Self.maxTurnInterval { self.restartWaiting(at: now) }
        self.lastTurnAt = now
    }

    /// Restarts the waiting time of everything that waits.
    private mutating func restartWaiting(at now: MonotonicTime) {
        for partition in self.progress.waitingPartitions {
            self.progress.workDone(in: partition)
            self.progress.workArrived(in: partition, at: now)
        }
        if self.failingSince != nil { self.failingSince = now }
    }

    /// Records that the consumer cannot be used any more, or could not be set up.
    package mutating func consumerFailed(_ error: KafkaError, at now: MonotonicTime) {
        let hadConsumer = self.readingSince != nil
        self.readingSince = nil
        self.lastTurnAt = nil
        self.partitions.removeAll()
        // A consumer that could read is replaced at once. The reader waits only if no new one could be set up.
        guard !hadConsumer else { return }
        if self.failingSince == nil { self.failingSince = now }
        self.brokerQueried(isAnswering: !Self.isBrokerCause(error), at: now)
    }

    /// Records the partitions that the consumer begins to read, each with its start offset.
    ///
    /// A partition that waits already continues to wait.
    package mutating func partitionsAssigned(_ offsets: [TopicPartition: Int64], at now: MonotonicTime) {
        for (partition, offset) in offsets {
            // A logical offset, such as the beginning, is negative: the position is not known yet.
            self.partitions[partition] = Partition(position: offset >= 0 ? offset : nil)
            self.progress.workArrived(in: partition, at: now)
        }
    }

    /// Records that partitions need not be read any more.
    package mutating func partitionsUnassigned(_ partitions: some Collection<TopicPartition>) {
        for partition in partitions {
            self.partitions[partition] = nil
            self.progress.workDone(in: partition)
        }
    }

    /// Records that a range of a partition is not read any more.
    ///
    /// If nothing of the range was read, the partition continues to wait, until a later range is read or
    /// `forgetWithoutScan` removes the partition.
    package mutating func scanEnded(in partition: TopicPartition) {
        let hasReadNothing = self.partitions.removeValue(forKey: partition)?.hasReadNothing ?? true
        if !hasReadNothing { self.progress.workDone(in: partition) }
    }

    /// Stops watching the partitions that the consumer does not read.
    package mutating func forgetUnassigned() {
        for partition in self.progress.waitingPartitions where self.partitions[partition] == nil {
            self.progress.workDone(in: partition)
        }
    }

    /// Stops watching each partition that has waited for `maxTimeToNextScan` without a scan or a queued request.
    ///
    /// - Parameters:
    ///   - queuedPartitions: the partitions with a queued request.
    ///   - now: the time.
    package mutating func forgetWithoutScan(queuedPartitions: Set<TopicPartition>, at now: MonotonicTime) {
        let waiting = self.progress.waitingPartitions.filter { self.partitions[$0] == nil }
        self.unassignedSince = self.unassignedSince.filter { waiting.contains($0.key) }
        for partition in waiting {
            if queuedPartitions.contains(partition) { self.unassignedSince[partition] = now }
            let since = self.unassignedSince[partition, default: now]
            self.unassignedSince[partition] = since
            if now - since >= Self.maxTimeToNextScan { self.progress.workDone(in: partition) }
        }
    }

    // MARK: Progress

    /// Records that partitions could not be read.
    package mutating func readFailed(_ partitions: some Collection<TopicPartition>, at now: MonotonicTime) {
        for partition in partitions { self.progress.readFailed(in: partition, at: now) }
    }

    /// Records the result of a poll.
    package mutating func polled(_ records: [IncomingRecord], _ outcome: PollOutcome, at now: MonotonicTime) {
        // The last offset of each run is the progress in its partition.
        for run in ShellSession.partitionRuns(of: records[...]) {
            let record = records[run.upperBound - 1]
            self.recordsRead(in: record.topicPartition, upTo: record.offset + 1, at: now)
        }
        for (partition, end) in outcome.reachedEnds {
            self.partitions[partition]?.isLoading = false
            self.recordsRead(in: partition, upTo: end, at: now)
        }
        // A late error may concern a partition that is not read any more.
        self.readFailed(outcome.partitionErrors.keys.filter { self.partitions[$0] != nil }, at: now)
        // `errors` name no partition, so each partition may have unread records. The next query of the ends shows which
        // have some.
        if !outcome.errors.isEmpty { self.readFailed(self.partitions.keys, at: now) }
    }

    /// Records that the consumer has read a partition up to `offset`.
    private mutating func recordsRead(in partition: TopicPartition, upTo offset: Int64, at now: MonotonicTime) {
        guard var entry = self.partitions[partition] else { return }
        entry.position = max(entry.position ?? 0, offset)
        entry.wasReadSinceCheck = true
        entry.hasReadNothing = false
        self.partitions[partition] = entry
        self.progress.workDone(in: partition)
        // A partition that is loading has more to read, and its waiting time begins again.
        guard entry.isLoading else { return }
        self.loadingProgressAt = now
        self.progress.workArrived(in: partition, at: now)
    }

    // MARK: Queries of the ends

    /// Returns the partitions whose ends must be queried now, and schedules the next query.
    ///
    /// The overdue partitions, which have waited for 10 s, are queried every `overdueCheckInterval`. If there are none,
    /// the quiet partitions, from which nothing was read since the last check, are queried every `checkInterval`: an
    /// answer to a read may be missing without any error.
    package mutating func takePartitionsToCheck(at now: MonotonicTime) -> Set<TopicPartition> {
        let overdue = self.waitingTimes(at: now).filter { $0.value >= ProgressWatch.limit }.keys
        guard overdue.isEmpty else {
            if now < self.nextOverdueCheckAt { return [] }
            self.nextOverdueCheckAt = now + Self.overdueCheckInterval
            return Set(overdue)
        }
        // No partition is overdue, so an earlier answer of the broker does not count any more.
        self.isBrokerAnswering = nil
        guard now >= self.nextCheckAt else { return [] }
        self.nextCheckAt = now + Self.checkInterval
        let quiet = self.partitions.filter { !$0.value.wasReadSinceCheck && $0.value.position != nil }.keys
        for partition in self.partitions.keys { self.partitions[partition]?.wasReadSinceCheck = false }
        return Set(quiet)
    }

    /// Records the ends of partitions.
    package mutating func endsReceived(_ ends: [TopicPartition: Int64], at now: MonotonicTime) {
        self.brokerQueried(isAnswering: true, at: now)
        for (partition, end) in ends {
            // If the position is not known, only an empty partition (end 0) has nothing to read.
            if end <= self.partitions[partition]?.position ?? 0 {
                self.progress.workDone(in: partition)
            } else {
                self.progress.workArrived(in: partition, at: now)
            }
        }
    }

    /// Records that the ends of partitions could not be queried.
    package mutating func checkFailed(
        _ error: KafkaError, of partitions: some Collection<TopicPartition>, at now: MonotonicTime
    ) {
        self.readFailed(partitions, at: now)
        self.nextOverdueCheckAt = now + Self.checkInterval
        self.brokerQueried(isAnswering: !Self.isBrokerCause(error), at: now)
    }

    /// Records whether the broker has answered.
    private mutating func brokerQueried(isAnswering: Bool, at now: MonotonicTime) {
        // The broker answers again: until now the partitions waited for the broker, not for the reader.
        if isAnswering, self.isBrokerAnswering == false { self.restartWaiting(at: now) }
        // The uninterrupted time in which the broker is reachable cannot have begun before now.
        if !isAnswering { self.reachableSince = now }
        self.isBrokerAnswering = isAnswering
    }

    /// Whether an error shows that the broker cannot be reached or does not permit the read, so that a new consumer or
    /// process could not read either.
    private static func isBrokerCause(_ error: KafkaError) -> Bool {
        if error.needsOperator || error.isRetriable { return true }
        switch error.kind {
        case .timedOut, .brokerDown, .retriable: return true
        default: return false
        }
    }

    // MARK: What the watch has found

    /// How long something to read has waited without progress; zero if nothing waits.
    package func waitingTime(at now: MonotonicTime) -> Milliseconds {
        let failing = self.failingSince.map { now - $0 } ?? Milliseconds(0)
        return self.waitingTimes(at: now).values.reduce(failing) { max($0, $1) }
    }

    /// How long each partition has waited.
    ///
    /// Partitions that are loading share one queue of fetched records, so one of them may wait while another is read.
    /// Therefore progress in one of them counts as progress in all of them.
    private func waitingTimes(at now: MonotonicTime) -> [TopicPartition: Milliseconds] {
        let sinceLoadingProgress = now - self.loadingProgressAt
        return self.progress.waitingTimes(at: now).reduce(into: [:]) { times, entry in
            let isLoading = self.partitions[entry.key]?.isLoading ?? false
            times[entry.key] = isLoading ? min(entry.value, sinceLoadingProgress) : entry.value
        }
    }

    /// What the reader does.
    package func state(at now: MonotonicTime) -> State {
        guard self.waitingTime(at: now) >= ProgressWatch.limit else { return .reading }
        switch self.isBrokerAnswering {
        // Not known yet: the reader queries the ends at its next turn.
        case nil: return .reading
        case false: return .waitingForBroker
        case true: return .stalled
        }
    }

    /// Whether the current consumer has read nothing for 10 s and must be replaced by a new one.
    package func mustReplaceConsumer(at now: MonotonicTime) -> Bool {
        guard let readingSince, now - readingSince >= ProgressWatch.limit else { return false }
        return self.state(at: now) == .stalled
    }
}
