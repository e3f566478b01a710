// SPDX-License-Identifier: Apache-2.0
package import Observability
package import PlazaModel

/// The kind of broker, which determines the guarantees.
package enum KafkaMode: String, CaseIterable, Sendable {
    /// A real Kafka: batches commit in transactions, exactly once.
    case full
    /// The in-memory broker: effects are written at least once after a crash of a service; a crash of the broker loses
    /// all data.
    case embedded
}

/// The dependencies of a new processor.
package struct ProcessorContext: Sendable {
    /// The machine's name, used as a metrics label.
    package let machine: String
    package let partition: Int
    package let log: Log
    package let metrics: MetricsRegistry
    /// The apps' settings, if the machine needs them.
    package let apps: AppTableFollower?
}

/// One machine of a service: its topics and its processor.
package struct MachineSpec: Sendable {
    /// The machine's name; also the name of its consumer group and its metrics label.
    package let name: String
    /// The topic with the machine's inputs.
    package let inbox: PlazaTopic
    /// The compacted topic with the machine's rows.
    package let state: PlazaTopic
    /// The compacted public topics that the machine writes.
    package let publicTopics: [PlazaTopic]
    /// The public topic to which the machine appends batches without a transaction; full mode only.
    ///
    /// Only batches that do not write to another topic are appended. Their records go to the partition with the same
    /// number as the inbox partition.
    package let appendsTo: PlazaTopic?
    /// The apps' settings that the machine needs before its first batch.
    package let apps: AppTableFollower?
    /// Creates the processor of a partition; called on the shell's thread.
    package let makeProcessor: @Sendable (ProcessorContext) -> any PartitionProcessor

    package init(
        name: String, inbox: PlazaTopic, state: PlazaTopic, publicTopics: [PlazaTopic] = [],
        appendsTo: PlazaTopic? = nil, apps: AppTableFollower? = nil,
        makeProcessor: @escaping @Sendable (ProcessorContext) -> any PartitionProcessor
    ) {
        self.name = name
        self.inbox = inbox
        self.state = state
        self.publicTopics = publicTopics
        self.appendsTo = appendsTo
        self.apps = apps
        self.makeProcessor = makeProcessor
    }
}
