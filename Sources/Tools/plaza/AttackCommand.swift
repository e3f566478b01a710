// SPDX-License-Identifier: Apache-2.0
import AttackKit
import Foundation
import PlazaModel
import Settings

/// `plaza attack`: attacks a cluster on this machine while honest clients use it, and checks what these clients saw.
enum AttackCommand: Subcommand {
    static let name = "attack"
    static let summary = "attacks a cluster on this machine while honest clients use it; exits 0 if it withstands"
    static var help: String {
        let width = (AttackCatalog.all.map(\.name.count).max() ?? 0) + 2
        let attacks = AttackCatalog.all.map {
            "  " + $0.name.padding(toLength: width, withPad: " ", startingAt: 0) + $0.summary
        }
        return """
            attacks a cluster on this machine, first not at all and then in one way after another, while a few honest \
            clients exchange messages. An attack fails, and the exit status is 1, if the honest clients' p99 more than \
            doubles (50 ms are always allowed), if anything that was acknowledged is missing or fewer than nine in ten \
            messages are admitted, if a gateway ends or takes more than 64 MiB and 24 KiB for each connection (320 MiB \
            more for slow-reader), if HTTP requests are not answered, or if a partition of the directory makes no live \
            afterwards.

            It attacks only addresses of the loopback interface, and connects from many of them (127.x.y.z), because \
            gateways limit what one address may do. A cluster of `plaza up` has no such limits. All rates and numbers \
            are bounded. It leaves the cluster as it was, apart from the metrics and the log.

            Attacks, in the order in which they run:
            \(attacks.joined(separator: "\n"))

            For example: plaza attack --attack half-frames --connections 20000 --seconds 10
            """
    }

    static func run(_ reader: inout SettingsReader) async throws -> Int32 {
        reader.section("Attack")
        let names = reader.list("attack", placeholder: "NAME,…", help: "the attacks to run; default: all")
        let seconds = reader.int("seconds", default: 5, range: 1...60, help: "how long each attack lasts")
        let connections = reader.int(
            "connections", default: 2_000, range: 1...20_000, help: "the largest number of connections of an attack")
        let seed = reader.int(
            "seed", default: Int.random(in: 0..<1_000_000_000), range: 0...1_000_000_000,
            help: "the seed of all random choices; names contain it, so a second run needs another seed")
        for name in names where !AttackCatalog.all.contains(where: { $0.name == name }) {
            let hint = Suggestion.nearest(to: name, among: AttackCatalog.all.map(\.name))
            reader.reject(
                "attack", value: name,
                remedy: hint.map { "did you mean \($0)?" } ?? "give names from the list of attacks in --help")
        }
        // If the attack used all descriptors of this process, its own honest clients and probes would fail.
        if let limit = OpenFiles.raise(), connections > limit - Self.reservedDescriptors {
            reader.reject(
                "connections", value: "\(connections)",
                remedy: "give at most \(max(1, limit - Self.reservedDescriptors)), or raise the limit of open files "
                    + "(ulimit -n), also that of the gateways")
        }
        reader.section("Cluster")
        let http = reader.list(
            "http", placeholder: "HOST:PORT,…",
            help: "the gateways' HTTP addresses, if --gateway gives their WebSocket addresses")
        let access = try ClusterAccess.read(&reader)
        let target = try AttackTarget(
            gateways: access.gateways,
            httpAddresses: access.http + http.map { try ClusterAccess.parseAddress($0) },
            processes: access.opsPorts.map { .init(name: $0.name, kind: $0.kind, opsPort: $0.port) },
            partitions: access.partitions, app: AppID(access.app)
        ) { access.token($0, isServer: $1) }
        var plan = AttackPlan(target: target, attacks: try AttackCatalog.named(names), seed: UInt64(seed))
        plan.duration = .seconds(seconds)
        plan.maxConnections = connections
        Subcommands.printDiagnostic("seed \(seed)")
        let report = try await AttackRunner.run(plan) { Subcommands.printDiagnostic($0) }
        Subcommands.printLine(report.table)
        return report.isPassed ? 0 : 1
    }

    /// The number of descriptors left for honest clients, loops and probes.
    private static let reservedDescriptors = 500
}
