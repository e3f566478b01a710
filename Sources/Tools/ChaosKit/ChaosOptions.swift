// SPDX-License-Identifier: Apache-2.0
package import ClusterKit
package import Settings

/// The options of `plaza chaos`.
package struct ChaosOptions: Sendable {
    /// How long faults are injected.
    package var minutes: Int
    /// The number of the only round to run; nil to run all rounds from the first on.
    package var round: Int?
    /// The seed of all faults.
    package var seed: Int
    /// Only faults whose kind contains this text are injected; nil for all faults.
    package var only: String?
    /// The file of the report in JSON.
    package var reportFile: String?
    /// The file of the report's table in Markdown.
    package var markdownFile: String?
    /// The file of libfaketime; nil if no clock can be set wrong.
    package var clockLibrary: String?
    /// The compose project whose containers get the faults; nil to start a cluster for the run.
    package var composeProject: String?
    /// The cluster to start.
    package var cluster: ClusterOptions

    /// The value of `--faketime` with which no clock is set wrong.
    static let noClock = "none"

    /// The numbers of the rounds to run.
    package var rounds: ClosedRange<Int> { self.round.map { $0...$0 } ?? 1...100_000 }

    /// Reads the options.
    ///
    /// - Throws: `SettingsError` with all invalid options, or with the help text if the help was asked for.
    package init(_ reader: inout SettingsReader) throws {
        self.minutes = reader.int("minutes", default: 3, range: 1...600, help: "how long faults are injected")
        let round = reader.int(
            "round", default: 0, range: 0...100_000, help: "the only round to run; 0: from the first on")
        self.round = round == 0 ? nil : round
        self.seed = reader.int(
            "seed", default: Int.random(in: 1..<1_000_000), range: 0...1_000_000_000, help: "the seed of all faults")
        self.only = reader.optionalString(
            "only", placeholder: "TEXT",
            help: "inject only the faults whose kind has this in its name, such as redis, in any case of letters")
        let instances = reader.int("instances", default: 2, range: 1...4, help: "instances of each service")
        self.reportFile = reader.optionalString(
            "report", placeholder: "FILE",
            help: "also write the report as JSON; rounds that the file has already are kept and shown")
        self.markdownFile = reader.optionalString(
            "markdown", placeholder: "FILE", help: "also write the table of the report in Markdown")
        let faketime = reader.optionalString(
            "faketime", placeholder: "FILE",
            help: "libfaketime.so.1; without it the one of the system, if installed; `none` leaves out wrong clocks")
        self.clockLibrary = faketime == Self.noClock ? nil : faketime ?? FaketimeLibrary.path()
        reader.section("Cluster")
        self.composeProject = reader.optionalString(
            "compose", placeholder: "PROJECT",
            help: "the running cluster of docker-compose.yml with this project name, instead of one of its own")
        self.cluster = ClusterOptions(
            runDirectory: reader.string(
                "run-dir", default: ".chaos", placeholder: "DIR",
                help: "the directory of the cluster, its logs and data"))
        let home = reader.optionalString(
            "kafka-home", placeholder: "DIR",
            help: "an unpacked Apache Kafka 4; without it the broker is in memory and writes at least once")
        let brokers = reader.int(
            "brokers", default: 1, range: 1...3, help: "brokers to start with --kafka-home: 1 or 3")
        try reader.finish()
        if let home { self.cluster.broker = .kafkaHome(home, brokers: brokers) }
        for kind in ServiceKind.allCases { self.cluster.scale[kind] = instances }
        // Any free ports, so that another cluster may run on this machine.
        (self.cluster.port, self.cluster.httpPort, self.cluster.opsPort) = (0, 0, 0)
        // The crowd of the workload sends twice as many texts at once (`StageWorkload.runCrowd`).
        self.cluster.feedBudget = 60
    }
}
