// SPDX-License-Identifier: Apache-2.0
import ChaosKit
import ClusterKit
import Foundation
import Settings
import Tokens

/// `plaza chaos`: starts a cluster, injects faults by a seed while clients use it, and judges what they saw.
enum ChaosCommand: Subcommand {
    static let name = "chaos"
    static let summary =
        "kills, stops and restarts the processes of a cluster under load; exits 0 if every promise held"
    static let help = """
        starts a cluster of its own, and injects one fault after the other while clients chat, take seats, connect and \
        battle: kill -9 of each service, alone, in pairs and again and again; SIGSTOP for 5 to 20 s, also in a battle's \
        last second; SIGTERM; rolling restarts; the same with Redis, whose data are lost, and with a broker; FLUSHALL; \
        a full disk under a broker; cuts, silence in one or both directions, and delays between an instance and Kafka, \
        Redis or its clients; a clock of an instance that is wrong by 30 s. After each fault a checker reads what \
        every client saw: order and content of feeds, lost or repeated messages, requests and battles that ended once, \
        exact scores, false leaves, counts, and the time of the recovery. The exit status is 1 if a promise was broken.

        Seed and number of a round give the same fault at the same time. Each fault comes once before any comes again; \
        a round takes about half a minute. The run stops by itself.

        For example: plaza chaos --minutes 30 --seed 7 --kafka-home ~/kafka
                     plaza chaos --seed 7 --round 12 --kafka-home ~/kafka      one round again
        """

    static func run(_ reader: inout SettingsReader) async throws -> Int32 {
        let minutes = reader.int("minutes", default: 3, range: 1...600, help: "how long faults are injected")
        let round = reader.int(
            "round", default: 0, range: 0...100_000, help: "the only round to run; 0: from the first on")
        let seed = reader.int(
            "seed", default: Int.random(in: 1..<1_000_000), range: 0...1_000_000_000, help: "the seed of all faults")
        let only = reader.optionalString(
            "only", placeholder: "TEXT", help: "inject only the faults whose kind has this in its name, such as redis")
        let instances = reader.int("instances", default: 2, range: 1...4, help: "instances of each service")
        let reportFile = reader.optionalString(
            "report", placeholder: "FILE",
            help: "also write the report as JSON; rounds that the file has already are kept and shown")
        let markdownFile = reader.optionalString(
            "markdown", placeholder: "FILE", help: "also write the table of the report in Markdown")
        let faketime = reader.optionalString(
            "faketime", placeholder: "FILE", help: "libfaketime.so.1; without it the one of the system, if installed")
        reader.section("Cluster")
        var options = ClusterOptions(
            runDirectory: reader.string(
                "run-dir", default: ".chaos", placeholder: "DIR",
                help: "the directory of the cluster, its logs and data"))
        let home = reader.optionalString(
            "kafka-home", placeholder: "DIR",
            help: "an unpacked Apache Kafka 4; without it the broker is in memory, and left alone")
        let brokers = reader.int(
            "brokers", default: 1, range: 1...3, help: "brokers to start with --kafka-home: 1 or 3")
        try reader.finish()
        if let home { options.broker = .kafkaHome(home, brokers: brokers) }
        for kind in ServiceKind.allCases { options.scale[kind] = instances }
        // Any free ports, so that another cluster may run on this machine.
        (options.port, options.httpPort, options.opsPort) = (0, 0, 0)
        options.feedBudget = 60

        // The rounds of an existing report file are part of the report that is printed and written.
        var combinedReport = ChaosReport()
        if let reportFile, FileManager.default.fileExists(atPath: reportFile) {
            combinedReport = try ChaosReport(json: String(contentsOfFile: reportFile, encoding: .utf8))
        }
        let clockLibrary = faketime ?? FakeClock.library()
        if clockLibrary == nil {
            Subcommands.printDiagnostic(
                "no clock will be wrong: libfaketime is not installed (Debian package libfaketime)")
        }
        let network = try ChaosNetwork(for: &options)
        defer { network.stop() }
        let plan = ChaosPlan(
            seed: UInt64(seed), rounds: round == 0 ? 1...100_000 : round...round, duration: .seconds(60 * minutes),
            only: only, clockLibrary: clockLibrary
        ) { _, _ in
            // `runPlan` replaces this function as soon as the cluster has signing keys.
            ""
        }
        let cluster = LocalCluster(options)
        Subcommands.printDiagnostic("seed \(seed): starting the cluster in \(options.runDirectory)")
        try await cluster.start()
        let result: Result<ChaosReport, any Error>
        do {
            try await cluster.waitUntilReady(within: .seconds(120))
            result = .success(try await Self.runPlan(plan, cluster, network))
        } catch {
            result = .failure(error)
        }
        await cluster.stop()
        let report = try result.get()
        combinedReport.rounds += report.rounds
        Subcommands.printLine(combinedReport.table)
        if let reportFile { try Data(combinedReport.json.utf8).write(to: URL(filePath: reportFile)) }
        if let markdownFile { try Data((combinedReport.markdown + "\n").utf8).write(to: URL(filePath: markdownFile)) }
        return report.isPassed ? 0 : 1
    }

    /// Runs the plan with tokens of the demo app.
    private static func runPlan(
        _ plan: ChaosPlan, _ cluster: LocalCluster, _ network: ChaosNetwork
    ) async throws -> ChaosReport {
        let key = try AppsFile.signingKey(of: AppsFile.demoApp, in: .file(cluster.directory.appsFile))
        var plan = plan
        plan.token = { user, isServer in
            let claims = TokenClaims(
                app: AppsFile.demoApp, user: user, expires: Int64(Date().timeIntervalSince1970) + 86_400,
                role: isServer ? .server : .user)
            // Signing cannot fail, because the key can sign. If it failed nevertheless, a gateway would reject the
            // empty token.
            return (try? TokenSigner.sign(claims, with: key)) ?? ""
        }
        return try await ChaosRunner.run(plan, on: cluster, network: network) { Subcommands.printDiagnostic($0) }
    }
}
