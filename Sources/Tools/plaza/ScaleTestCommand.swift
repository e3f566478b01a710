// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import ScaleKit
import Settings
import Tokens

/// `plaza scale-test`: runs each service with 1, 2 and 4 instances under load and compares what a unit of work costs.
enum ScaleTestCommand: Subcommand {
    static let name = "scale-test"
    static let summary = "runs each service with 1, 2 and 4 instances under load; exits 0 if it scales without loss"
    static let help = """
        starts a cluster of its own, and runs each service with 1, 2 and 4 instances under a steady load. The exit \
        status is 1 if a unit of work costs more than 115 % of the processor time that it costs with one instance, if a \
        feed pauses for more than 500 ms while instances are added, or if anything acknowledged is lost, repeated or \
        reordered while instances come and go. Costs are compared, not rates, because one machine has few cores; what \
        idle instances use is subtracted. Prints a table in Markdown.

        For example: plaza scale-test --kafka-home ~/kafka
                     plaza scale-test --service barrage-fanout,gateway --kafka-home ~/kafka
        """

    static func run(_ reader: inout SettingsReader) async throws -> Int32 {
        let names = reader.list("service", placeholder: "NAME,…", help: "the services to scale; default: all")
        let seconds = reader.int("seconds", default: 15, range: 5...300, help: "how long each step is measured")
        let reportFile = reader.optionalString("report", placeholder: "FILE", help: "also write the report as JSON")
        for name in names where ServiceKind(rawValue: name) == nil {
            let hint = Suggestion.nearest(to: name, among: ServiceKind.allCases.map(\.rawValue))
            // The help of `plaza up --scale` lists the services.
            reader.reject("service", value: name, remedy: hint.map { "did you mean \($0)?" } ?? "see plaza up --help")
        }
        reader.section("Cluster")
        var options = ClusterOptions(
            runDirectory: reader.string(
                "run-dir", default: ".scale", placeholder: "DIR",
                help: "the directory of the cluster, its logs and data"))
        let home = reader.optionalString(
            "kafka-home", placeholder: "DIR",
            help: "an unpacked Apache Kafka 4; without it the broker is in memory, and slower")
        let partitions = reader.int("partitions", default: 12, range: 4...64, help: "partitions of each topic")
        try reader.finish()
        if let home { options.broker = .kafkaHome(home, brokers: 1) }
        // Any free ports, so that another cluster may run on this machine.
        (options.port, options.httpPort, options.opsPort) = (0, 0, 0)
        options.partitions = partitions
        // In messages a second for each live. The loads of this test send far fewer, so the budget drops none.
        options.feedBudget = 200

        let cluster = LocalCluster(options)
        Subcommands.printDiagnostic("starting the cluster in \(options.runDirectory)")
        try await cluster.start()
        let kinds = names.isEmpty ? ServiceKind.allCases : names.compactMap { ServiceKind(rawValue: $0) }
        let result: Result<ScaleReport, any Error>
        do {
            try await cluster.waitUntilReady(within: .seconds(120))
            result = .success(try await Self.scale(kinds, seconds, cluster))
        } catch {
            result = .failure(error)
        }
        await cluster.stop()
        let report = try result.get()
        Subcommands.printLine(report.table)
        if let reportFile { try Data(report.json.utf8).write(to: URL(filePath: reportFile)) }
        return report.isPassed ? 0 : 1
    }

    /// Runs the scale test with tokens of the demo app, which are valid for one day.
    private static func scale(
        _ kinds: [ServiceKind], _ seconds: Int, _ cluster: LocalCluster
    ) async throws -> ScaleReport {
        let key = try AppsFile.signingKey(of: AppsFile.demoApp, in: .file(cluster.directory.appsFile))
        // Random, so that no live or user has the name of one from an earlier test in the same directory.
        let namePrefix = "sc" + String(UInt32.random(in: .min ... .max), radix: 36)
        var plan = ScalePlan(services: kinds, name: namePrefix) { user in
            let claims = TokenClaims(
                app: AppsFile.demoApp, user: user, expires: Int64(Date().timeIntervalSince1970) + 86_400)
            // Signing cannot fail, because the key can sign. If it failed nevertheless, a gateway would reject the
            // empty token.
            return (try? TokenSigner.sign(claims, with: key)) ?? ""
        }
        plan.measuringTime = .seconds(seconds)
        return try await ScaleRunner.run(plan, on: cluster) { Subcommands.printDiagnostic($0) }
    }
}
