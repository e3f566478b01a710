// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
package import KafkaClient
package import MachineKit
package import Observability

/// The progress of a reader (a loop that polls a Kafka consumer), which its thread reports and other threads query.
package final class ReadStatus: Sendable {
    /// How long a query of the ends may take; short, because it delays the reader.
    private static let checkTimeout = Duration.milliseconds(500)

    private let watch = Locked(ReadWatch(at: MonotonicClock.now))

    package init() {}

    /// What the reader does.
    package var state: ReadWatch.State { self.watch.withLock { $0.state(at: MonotonicClock.now) } }

    /// How long something to read has waited without progress; zero if nothing waits.
    package var waitingTime: Milliseconds { self.watch.withLock { $0.waitingTime(at: MonotonicClock.now) } }

    /// Since when the broker has been reachable without interruption, as far as is known.
    package var reachableSince: MonotonicTime { self.watch.withLock { $0.reachableSince } }

    /// Records progress or a failure of the reader.
    ///
    /// - Parameter update: calls one method of `ReadWatch`.
    package func report(_ update: (inout ReadWatch) -> Void) { self.watch.withLock { update(&$0) } }

    /// Polls the consumer and records the result; before that, queries the ends of partitions if that is due.
    ///
    /// - Parameters:
    ///   - consumer: the reader's consumer.
    ///   - max: the maximum number of records to return.
    ///   - timeout: how long to wait for the first record.
    ///   - records: an empty array, to which the records are appended.
    /// - Returns: the result of the poll.
    /// - Throws: an error of the consumer; or `other` if the consumer has read nothing for 10 s although the broker has
    ///   records. The caller must then use a new consumer.
    package func poll(
        _ consumer: KafkaConsumer, max: Int, timeout: Duration, into records: inout [IncomingRecord]
    ) throws(KafkaError) -> PollOutcome {
        try self.checkProgress(of: consumer)
        let outcome = try consumer.poll(max: max, timeout: timeout, into: &records)
        self.report { $0.polled(records, outcome, at: MonotonicClock.now) }
        return outcome
    }

    /// Queries the ends of partitions if that is due.
    ///
    /// - Throws: `other` if the consumer must be replaced.
    private func checkProgress(of consumer: KafkaConsumer) throws(KafkaError) {
        let partitions = self.watch.withLock { $0.takePartitionsToCheck(at: MonotonicClock.now) }
        guard !partitions.isEmpty else { return }
        do throws(KafkaError) {
            let ends = try consumer.endOffsets(of: Array(partitions), timeout: Self.checkTimeout)
            self.report { $0.endsReceived(ends, at: MonotonicClock.now) }
        } catch {
            return self.report { $0.checkFailed(error, of: partitions, at: MonotonicClock.now) }
        }
        guard self.watch.withLock({ $0.mustReplaceConsumer(at: MonotonicClock.now) }) else { return }
        throw KafkaError(
            .other, "Nothing was read for \(ProgressWatch.limit.count / 1000) s, although there are records.")
    }

    /// Exports how long the reader has waited.
    ///
    /// - Parameters:
    ///   - registry: the registry of the process.
    ///   - reader: the label's value.
    package func export(to registry: MetricsRegistry, as reader: String) {
        registry.observe(
            MetricNames.Kafka.readerWaiting, help: "How long a reader has had something to read and has read nothing.",
            labels: ["reader": reader]
        ) { [weak self] in Double(self?.waitingTime.count ?? 0) / 1000 }
    }
}
