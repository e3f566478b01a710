// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import PlazaModel
import Settings

/// `plaza broker`: runs the embedded broker in the process that `plaza up` starts for it.
enum BrokerCommand: Subcommand {
    static let name = "broker"
    static let summary = "runs the embedded broker (started by plaza up)"
    static let help =
        "runs the in-memory broker until SIGTERM. `plaza up` starts it. Its data are lost when it ends."

    static func run(_ reader: inout SettingsReader) async throws -> Int32 {
        let file = reader.string(
            "address-file", placeholder: "FILE", help: "the file for the broker's address, host:port")
        let partitions = reader.int("partitions", default: 12, range: 1...1024, help: "partitions of each topic")
        try reader.finish()
        let signals = InterruptSignals()
        let broker = try BrokerProcess(
            addressFile: file, topics: PlazaTopic.allCases.map(\.rawValue), partitions: partitions)
        Subcommands.printLine("the embedded broker listens on \(broker.address)")
        _ = await signals.nextReason()
        return withExtendedLifetime(broker) { 0 }
    }
}
