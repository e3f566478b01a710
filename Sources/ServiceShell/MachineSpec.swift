// SPDX-License-Identifier: Apache-2.0
package import Observability
package import PlazaModel

/// Which guarantees the broker gives.
package enum KafkaMode: String, CaseIterable, Sendable {
    /// A real Kafka: everything commits in transactions.
    case full
    /// The in-memory broker: at least once after a crash, and nothing is kept.
    case embedded
}

/// What a processor is made with.
package struct ProcessorContext: Sendable {
    /// The machine's name, as its metrics have it.
    package let machine: String
    package let partition: Int
    package let log: Log
    package let metrics: MetricsRegistry
    /// The apps' settings, when the machine follows them.
    package let apps: AppTableFollower?
}

/// One machine of a service: its topics, and what decides.
package struct MachineSpec: Sendable {
    /// The machine's name: of its consumer group, its thread and its metrics.
    package let name: String
    package let inbox: PlazaTopic
    package let state: PlazaTopic
    /// The compacted public topics that the machine writes.
    package let facts: [PlazaTopic]
    /// The public topic to which the machine appends batches that write nothing else, instead of in transactions.
    ///
    /// Its records fall into the partition with the inbox's number. Only in full mode.
    package let appendsTo: PlazaTopic?
    /// The apps' settings that the machine needs before its first batch; a component of its own beside the shell.
    package let apps: AppTableFollower?
    /// Makes the processor of a partition, on the shell's thread.
    package let makeProcessor: @Sendable (ProcessorContext) -> any PartitionProcessor

    package init(
        name: String, inbox: PlazaTopic, state: PlazaTopic, facts: [PlazaTopic] = [],
        appendsTo: PlazaTopic? = nil, apps: AppTableFollower? = nil,
        makeProcessor: @escaping @Sendable (ProcessorContext) -> any PartitionProcessor
    ) {
        self.name = name
        self.inbox = inbox
        self.state = state
        self.facts = facts
        self.appendsTo = appendsTo
        self.apps = apps
        self.makeProcessor = makeProcessor
    }
}
