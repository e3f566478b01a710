// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import PlazaModel
import Settings

/// `plaza broker`: the embedded broker, in the process that `plaza up` starts for it.
enum BrokerCommand: Subcommand {
    static let name = "broker"
    static let summary = "runs the embedded broker (started by plaza up)"

    static func run(_ arguments: [String], environment: [String: String]) async throws -> Int32 {
        var reader = SettingsReader(
            program: "plaza broker",
            summary: "runs the in-memory broker until SIGTERM; `plaza up` starts it, and it keeps nothing.",
            arguments: arguments, environment: environment)
        let file = reader.string("address-file", placeholder: "FILE", help: "where to write its address, host:port")
        let partitions = reader.int("partitions", default: 12, range: 1...1024, help: "partitions of each topic")
        try reader.finish()
        let signals = StopSignals()
        let broker = try BrokerProcess(
            addressFile: file, topics: PlazaTopic.allCases.map(\.rawValue), partitions: partitions)
        Subcommands.say("the embedded broker listens on \(broker.address)")
        _ = await signals.next()
        return withExtendedLifetime(broker) { 0 }
    }
}
