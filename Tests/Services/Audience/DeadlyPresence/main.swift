// SPDX-License-Identifier: Apache-2.0
import Glibc
import KafkaClient
import MachineKit
import Observability
import PlazaModel
import Presence
import ServiceShell
import Settings

// This process runs the presence service with a fault, for tests in which a due row (a row of presence's state whose
// timer has expired) ends the process.

/// The processor of presence with a fault: it ends its process when it publishes a count of 2 for a deadly live.
///
/// A live is deadly if its name begins with `deadly`. Presence publishes a live's count at most once a second. So if
/// two viewers join within a second, the count 2 is published when the live's row is due, not when a join is processed.
final class DeadlyProcessor: PartitionProcessor {
    private let presence: any PartitionProcessor

    init(_ presence: any PartitionProcessor) { self.presence = presence }

    /// Ends the process if one of the effects (what presence is about to write) is a count of 2 for a deadly live.
    private func endIfDeadly(_ effects: [Effect]) {
        for case .count(let record) in effects where record.live.text.hasPrefix("deadly") && record.count == 2 {
            fatalError("a deadly row")
        }
    }

    func process(_ inputs: [InboxInput], effects: inout [Effect]) throws(ProcessorError) -> Int {
        defer { self.endIfDeadly(effects) }
        return try self.presence.process(inputs, effects: &effects)
    }

    func processNextDue(before input: InboxInput, effects: inout [Effect]) throws(ProcessorError) -> Bool {
        defer { self.endIfDeadly(effects) }
        return try self.presence.processNextDue(before: input, effects: &effects)
    }

    func restore(key: String, row: [UInt8]?) { self.presence.restore(key: key, row: row) }
    func acquired(generation: Int64, committedMetadata: String, at now: Timestamp) throws(ProcessorError) {
        try self.presence.acquired(generation: generation, committedMetadata: committedMetadata, at: now)
    }
    func dueRowKey(before input: InboxInput) -> String? { self.presence.dueRowKey(before: input) }
    func removeNextDue(before input: InboxInput) -> (key: String, row: [UInt8])? {
        self.presence.removeNextDue(before: input)
    }
    var causeIndexes: [Int] { self.presence.causeIndexes }
    var changes: [(key: String, row: [UInt8]?)] { self.presence.changes }
    var offsetMetadata: String { self.presence.offsetMetadata }
    var nextDue: Timestamp? { self.presence.nextDue }
    var rowCount: Int { self.presence.rowCount }
    func committed() { self.presence.committed() }
    func rolledBack() { self.presence.rolledBack() }
}

let arguments = CommandLine.arguments
guard arguments.count == 5, let partitionCount = Int(arguments[3]) else {
    print("usage: DeadlyPresence BROKERS INSTANCE PARTITION-COUNT REDIS-PORT")
    exit(64)  // EX_USAGE
}
let (brokers, instance, redisPort) = (arguments[1], arguments[2], arguments[4])
var reader = SettingsReader(
    program: "audience-presence", summary: "", arguments: ["--redis", "127.0.0.1:\(redisPort)"], environment: [:])
let presenceSpec = PresenceSettings(&reader).spec(policies: Policies())
let deadlySpec = MachineSpec(
    name: presenceSpec.name, inbox: presenceSpec.inbox, state: presenceSpec.state,
    publicTopics: presenceSpec.publicTopics
) { DeadlyProcessor(presenceSpec.makeProcessor($0)) }
// The closure drops the Kafka client's log lines.
let kafka = KafkaSettings(brokers: brokers, clientID: instance) { _, _, _ in }
let settings = ShellSettings(kafka: kafka, instance: instance, partitions: partitionCount, mode: .full)
MachineShell(deadlySpec, settings: settings, log: .none, metrics: MetricsRegistry()).run()
