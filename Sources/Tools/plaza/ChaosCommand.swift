// SPDX-License-Identifier: Apache-2.0
import ChaosKit
import ClusterKit
import Foundation
import Settings
import Tokens

/// `plaza chaos`: starts a cluster, injects faults by a seed while clients use it, and checks what the clients saw.
enum ChaosCommand: Subcommand {
    static let name = "chaos"
    static let summary =
        "kills, stops and restarts the processes of a cluster under load; exits 0 if every promise held"
    static let help = """
        starts a cluster of its own, and injects one fault after the other while clients chat, send gifts and likes, \
        join and leave, take seats, connect and battle, and hosts mute, kick, ban and write metadata: kill -9 of each \
        service, alone, in pairs and again and again; SIGSTOP for 5 to 20 s, also in a battle's last second and right \
        after a burst of calls; SIGTERM; rolling restarts; the same with Redis, whose data are lost, and with a \
        broker; FLUSHALL; a full disk under a broker; cuts, silence in one or both directions, and delays between an \
        instance and Kafka, Redis or its clients; a clock of an instance that is wrong by 30 s. After each fault a \
        checker reads what every client saw: order and content of feeds, lost or repeated messages, requests and \
        battles that ended once, exact scores and totals, false leaves, counts, the ledger, and the time of the \
        recovery; and what the app's backend got, which now and then fails: signed events, in order, none lost, and \
        questions about gifts. Beside the rounds, viewers enter one live and leave it or fall silent: a silent one \
        must leave 90 to 92 s after its last heartbeat, which a run of less than 2 minutes can check for few. The \
        exit status is 1 if a promise was broken, or a round could not run. The report has the shortest history that \
        shows what was broken.

        Seed and number of a round give the same fault at the same time. Each fault comes once before any comes again; \
        a round takes about half a minute. The run stops by itself.

        With --compose the faults go to the containers of a running docker-compose.yml, by the program `docker`: \
        kill -9, pause, restart, and a container that is taken off its network. Full disks, FLUSHALL, wrong clocks \
        and the other interruptions are left out, the ledger is not read, and the app has no backend.

        For example: plaza chaos --minutes 30 --seed 7 --kafka-home ~/kafka
                     plaza chaos --seed 7 --round 12 --kafka-home ~/kafka      one round again
                     plaza chaos --minutes 30 --compose liveplaza    of a running `docker compose -p liveplaza up -d`
        """

    static func run(_ reader: inout SettingsReader) async throws -> Int32 {
        let options = try ChaosOptions(&reader)
        // The rounds of an existing report file are part of the report that is printed and written.
        var combinedReport = ChaosReport()
        if let reportFile = options.reportFile, FileManager.default.fileExists(atPath: reportFile) {
            combinedReport = try ChaosReport(json: String(contentsOfFile: reportFile, encoding: .utf8))
        }
        // After each round the files have the rounds so far, so that a run that is ended early leaves its results.
        let earlierReport = combinedReport
        let save: @Sendable (ChaosReport) -> Void = { report in
            var combined = earlierReport
            combined.append(report)
            do {
                try Self.write(combined, options)
            } catch {
                Subcommands.printDiagnostic("the report could not be written: \(error)")
            }
        }
        let report: ChaosReport
        if let project = options.composeProject {
            report = try await Self.runOnComposeCluster(options, project, save: save)
        } else {
            report = try await Self.runOnNewCluster(options, save: save)
        }
        combinedReport.append(report)
        Subcommands.printLine(combinedReport.table)
        try Self.write(combinedReport, options)
        return report.isPassed ? 0 : 1
    }

    /// Writes the report into the files that the options name.
    private static func write(_ report: ChaosReport, _ options: ChaosOptions) throws {
        if let reportFile = options.reportFile {
            try Data(report.json.utf8).write(to: URL(filePath: reportFile), options: .atomic)
        }
        if let markdownFile = options.markdownFile {
            try Data((report.markdown + "\n").utf8).write(to: URL(filePath: markdownFile), options: .atomic)
        }
    }

    /// Starts a cluster, runs the rounds, and ends it.
    private static func runOnNewCluster(
        _ options: ChaosOptions, save: @escaping @Sendable (ChaosReport) -> Void
    ) async throws -> ChaosReport {
        if options.clockLibrary == nil {
            Subcommands.printDiagnostic(
                "no clock will be wrong: libfaketime is not installed (Debian package libfaketime), or not wanted")
        }
        if case .embedded = options.cluster.broker {
            Subcommands.printDiagnostic(
                "the broker is in memory, and writes at least once: after a kill or a stop an effect may come twice. "
                    + "The promises are those of a real Kafka: use --kafka-home")
        }
        var clusterOptions = options.cluster
        let network = try ChaosNetwork(for: &clusterOptions)
        defer { network.stop() }
        let backend = try AppBackend(for: &clusterOptions)
        defer { backend.stop() }
        let cluster = LocalCluster(clusterOptions)
        Subcommands.printDiagnostic("seed \(options.seed): starting the cluster in \(clusterOptions.runDirectory)")
        try await cluster.start()
        let result: Result<ChaosReport, any Error>
        do {
            try await cluster.waitUntilReady(within: .seconds(120))
            let plan = try Self.plan(options, apps: .file(cluster.directory.appsFile))
            result = .success(
                try await ChaosRunner.run(
                    plan, on: cluster, network: network, backend: backend,
                    say: { Subcommands.printDiagnostic($0) }, save: save))
        } catch {
            result = .failure(error)
        }
        await cluster.stop()
        return try result.get()
    }

    /// Runs the rounds on a cluster of `docker-compose.yml`, which keeps running afterwards.
    private static func runOnComposeCluster(
        _ options: ChaosOptions, _ project: String, save: @escaping @Sendable (ChaosReport) -> Void
    ) async throws -> ChaosReport {
        let cluster = ComposeCluster(project: project)
        let address = try ClusterAccess.parseAddress(try await cluster.clientAddress())
        var plan = try Self.plan(options, apps: .json(try await cluster.appsJSON()))
        // The cluster may have lives of an earlier run.
        plan.name = String(UInt32.random(in: .min ... .max), radix: 36)
        Subcommands.printDiagnostic("seed \(options.seed): waiting for the containers of \(project)")
        try await cluster.waitUntilReady(within: .seconds(120))
        return try await ChaosRunner.run(
            plan, on: cluster, address: address, say: { Subcommands.printDiagnostic($0) }, save: save)
    }

    /// The plan of a run, with tokens of the demo app, valid for one day.
    private static func plan(_ options: ChaosOptions, apps: AppsFile.Source) throws -> ChaosPlan {
        let key = try AppsFile.signingKey(of: AppsFile.demoApp, in: apps)
        return ChaosPlan(
            seed: UInt64(options.seed), rounds: options.rounds, duration: .seconds(60 * options.minutes),
            only: options.only, clockLibrary: options.clockLibrary
        ) { user, isServer in
            let claims = TokenClaims(
                app: AppsFile.demoApp, user: user, expires: Int64(Date().timeIntervalSince1970) + 86_400,
                role: isServer ? .server : .user)
            // Signing cannot fail, because the key can sign. If it did fail, a gateway would reject the empty token.
            return (try? TokenSigner.sign(claims, with: key)) ?? ""
        }
    }
}
