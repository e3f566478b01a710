// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import ScaleKit
import Settings
import Tokens

/// `plaza scale-test`: runs each service with 1, 2, 4, 2 and 1 instances under load, compares what a unit of work
/// costs, and checks what must hold while instances are added and removed.
enum ScaleTestCommand: Subcommand {
    static let name = "scale-test"
    static let summary = "runs each service with 1, 2 and 4 instances under load; exits 0 if it scales without loss"
    static let help = """
        starts a cluster of its own, and runs each service with 1, 2 and 4 instances, and back, under a steady load: \
        changes of metadata, pages of audiences, messages, seats, co-hosts of many apps, and reads of gateways. Takes \
        about four minutes for each of the six. The exit status is 1 if a promise is broken: a unit of work costs more \
        than 115 % of the processor time that it costs with one instance; a feed pauses for more than 500 ms while \
        instances are added; anything acknowledged is lost, repeated or reordered while instances come and go; viewers \
        of a live on four gateways see different orders; an instance has not its share of the partitions; or too many \
        partitions move when one is added. Costs are compared, not rates, because one machine has few cores; what idle \
        instances use is subtracted. Prints two tables in Markdown, and each promise with what became of it.

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
        let coHostApps = ScaleLoad.coHostApps(partitions: partitions)
        options.additionalApps = coHostApps
        // In messages a second for each live. The loads of this test send far fewer, so the budget drops none.
        options.feedBudget = 200

        let cluster = LocalCluster(options)
        Subcommands.printDiagnostic("starting the cluster in \(options.runDirectory)")
        try await cluster.start()
        let kinds = names.isEmpty ? ServiceKind.allCases : names.compactMap { ServiceKind(rawValue: $0) }
        let result: Result<ScaleReport, any Error>
        do {
            try await cluster.waitUntilReady(within: .seconds(120))
            result = .success(try await Self.scale(kinds, coHostApps, seconds, cluster))
        } catch {
            result = .failure(error)
        }
        await cluster.stop()
        let report = try result.get()
        Subcommands.printLine(report.text)
        if let reportFile { try Data(report.json.utf8).write(to: URL(filePath: reportFile)) }
        return report.isPassed ? 0 : 1
    }

    /// Runs the scale test with tokens of the demo app and of the other apps, which are valid for one day.
    private static func scale(
        _ kinds: [ServiceKind], _ coHostApps: [String], _ seconds: Int, _ cluster: LocalCluster
    ) async throws -> ScaleReport {
        var keys: [String: AppKey] = [:]
        for app in [AppsFile.demoApp] + coHostApps {
            keys[app] = try AppsFile.signingKey(of: app, in: .file(cluster.directory.appsFile))
        }
        // Random, so that no live or user has the name of one from an earlier test in the same directory.
        let namePrefix = "sc" + String(UInt32.random(in: .min ... .max), radix: 36)
        var plan = ScalePlan(services: kinds, coHostApps: coHostApps, name: namePrefix) { [keys] app, user in
            let claims = TokenClaims(app: app, user: user, expires: Int64(Date().timeIntervalSince1970) + 86_400)
            // Signing cannot fail, because each app has a key that can sign. If it did fail, a gateway would reject the
            // empty token.
            return keys[app].flatMap { try? TokenSigner.sign(claims, with: $0) } ?? ""
        }
        plan.measuringTime = .seconds(seconds)
        return await ScaleRunner.run(plan, on: cluster) { Subcommands.printDiagnostic($0) }
    }
}
