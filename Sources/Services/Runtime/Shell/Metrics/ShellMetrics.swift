// SPDX-License-Identifier: Apache-2.0
internal import Observability

/// The metrics of a machine's shell.
struct ShellMetrics {
    /// Inbox records of committed batches.
    let recordsIn: Counter
    /// Records that committed batches have written.
    let recordsOut: Counter
    /// Replies that were sent.
    let replies: Counter
    /// Replies that could not be sent.
    let lostReplies: Counter
    /// Batches that were committed.
    let committed: Counter
    /// Batches that were rolled back because of a `KafkaError`.
    let aborted: Counter
    /// Inputs and rows that were set aside.
    let deadLetters: Counter
    /// The time from a batch's poll to its commit.
    let batches: Timing
    /// The time of an acquisition of partitions.
    let restore: Timing
    /// Rebalances that assigned partitions to this member.
    let assigned: Counter
    /// Rebalances that revoked partitions of this member.
    let revoked: Counter
    /// The number of partitions that this instance owns.
    let partitions: Gauge
    /// The number of assigned partitions whose rows cannot be restored.
    let damagedPartitions: Gauge
    /// The number of rows of the owned partitions.
    let rows: Gauge
    private let registry: MetricsRegistry
    private let machine: String

    init(_ registry: MetricsRegistry, machine: String) {
        self.registry = registry
        self.machine = machine
        func labels(_ additional: [String: String] = [:]) -> [String: String] {
            additional.merging(["machine": machine]) { first, _ in first }
        }
        let names = MetricNames.Shell.self
        self.recordsIn = registry.counter(names.recordsIn, help: "Inbox records decided.", labels: labels())
        self.recordsOut = registry.counter(names.recordsOut, help: "Records written in batches.", labels: labels())
        self.replies = registry.counter(
            names.replies, help: "Replies, by what became of them.", labels: labels(["fate": "sent"]))
        self.lostReplies = registry.counter(
            names.replies, help: "Replies, by what became of them.", labels: labels(["fate": "lost"]))
        self.committed = registry.counter(
            names.transactions, help: "Batches, by outcome.", labels: labels(["outcome": "committed"]))
        self.aborted = registry.counter(
            names.transactions, help: "Batches, by outcome.", labels: labels(["outcome": "aborted"]))
        self.deadLetters = registry.counter(
            names.deadLetters, help: "Inputs and rows that could not be processed and were set aside.",
            labels: labels())
        self.batches = registry.timing(names.batch, help: "Time from a batch's poll to its commit.", labels: labels())
        self.restore = registry.timing(names.restore, help: "Time to restore and take partitions.", labels: labels())
        func rebalances(_ kind: String) -> Counter {
            registry.counter(
                MetricNames.Kafka.rebalances, help: "Times that the group gave partitions, or took them.",
                labels: labels(["kind": kind]))
        }
        self.assigned = rebalances("assigned")
        self.revoked = rebalances("revoked")
        self.partitions = registry.gauge(names.partitions, help: "Partitions owned.", labels: labels())
        self.damagedPartitions = registry.gauge(
            names.damagedPartitions, help: "Assigned partitions whose rows cannot be restored.", labels: labels())
        self.rows = registry.gauge(names.rows, help: "Rows held.", labels: labels())
    }

    /// Records whether this instance owns a partition after a rebalance that assigned or revoked it.
    func setOwned(_ isOwned: Bool, partition: Int32) {
        self.registry.gauge(
            MetricNames.Shell.ownedPartition, help: "Whether a partition is owned: 1 or 0.",
            labels: ["machine": self.machine, "partition": "\(partition)"]
        ).set(isOwned ? 1 : 0)
    }

    /// Records a committed batch.
    func batchCommitted(records: Int, written: Int, replies: Int, milliseconds: Int64, rows: Int) {
        self.recordsIn.add(records)
        self.recordsOut.add(written)
        self.replies.add(replies)
        self.committed.add()
        self.batches.record(milliseconds: Int(milliseconds))
        self.rows.set(rows)
    }
}
