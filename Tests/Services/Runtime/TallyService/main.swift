// SPDX-License-Identifier: Apache-2.0
import Glibc
import KafkaClient
import Observability
import PlazaModel
import ServiceShell
import TallyMachine

// A process that runs `TallyMachine`, for tests in which an input ends the process. The machine runs in a
// `MachineShell`, the loop that consumes inputs, decides and commits.
// Arguments: the brokers' addresses, the instance's name, "full" for a real Kafka or "embedded" for the in-memory
// broker, and the number of partitions.
let arguments = CommandLine.arguments
guard arguments.count == 5, let kafkaMode = KafkaMode(rawValue: arguments[3]), let partitions = Int(arguments[4]) else {
    print("usage: TallyService BROKERS INSTANCE full|embedded PARTITIONS")
    exit(64)  // EX_USAGE
}
let spec = MachineSpec(name: "barrage", inbox: .barrageInbox, state: .barrageState, appendsTo: .roomFeed) {
    MachineProcessor(TallyMachine(), $0)
}
let kafka = KafkaSettings(brokers: arguments[1], clientID: arguments[2]) { _, _, _ in }
let settings = ShellSettings(kafka: kafka, instance: arguments[2], partitions: partitions, mode: kafkaMode)
MachineShell(spec, settings: settings, log: .none, metrics: MetricsRegistry()).run()
