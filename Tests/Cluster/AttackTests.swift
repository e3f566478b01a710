// SPDX-License-Identifier: Apache-2.0
import AttackKit
import ClusterKit
import PlazaModel
import ProtocolClient
import TestSupport
import Testing

/// Runs every attack for one second against real processes, while honest clients use them.
@Suite(.serialized) struct AttackTests {
    /// The attacks whose HTTP bodies cost the most time.
    ///
    /// A gateway parses bodies on its one HTTP thread, which takes many times longer in a debug build. So these attacks
    /// use fewer connections.
    private static let attacksWithHeavyBodies = ["numbers-http", "deep-json-http", "marks-http"]

    @Test(.timeLimit(.minutes(3)))
    func `I1 I16 no attack ends a process, stops a partition, or keeps honest clients from being served`() async throws
    {
        try await TestCluster.with(TestCluster.options()) { cluster in
            let harness = try ClusterHarness(cluster)
            let target = try AttackTarget(
                gateways: harness.addresses,
                httpAddresses: cluster.gateways.map { PlazaAddress(host: $0.host, port: UInt16($0.httpPort)) },
                processes: cluster.processes.compactMap { process in
                    process.opsPort.map { .init(name: process.name, kind: process.kind, opsPort: $0) }
                },
                partitions: cluster.state.partitions, app: AppID(AppsFile.demoApp)
            ) { harness.token($0, isServer: $1) }
            let isHeavy = { (attack: any Attack) in Self.attacksWithHeavyBodies.contains(attack.name) }
            let attacks = AttackCatalog.all
            let results = [
                try await Self.runAttacks(attacks.filter { !isHeavy($0) }, on: target, maxConnections: 200),
                try await Self.runAttacks(attacks.filter(isHeavy), on: target, maxConnections: 8),
            ].flatMap { $0 }
            #expect(results.map(\.name).sorted() == attacks.map(\.name).sorted())
            for result in results {
                // The failure `p99` (of the 99th percentile of latency) does not count, because an attack lasts only a
                // second and the machine runs other tests too.
                let failures = result.verdict.failures.filter { !$0.hasPrefix("p99") }
                #expect(failures == [], "\(result.name)")
                // The verdict says how honest clients were served, which means something only if they were active.
                let honest = result.measured.honest
                #expect(honest.published >= 10 && honest.admitted > 0, "\(result.name): \(honest)")
                #expect(result.measured.http.asked >= 5, "\(result.name): too few honest HTTP requests")
                #expect(result.measured.gateways["gateway-1"]?.after != nil, "\(result.name): no metrics afterwards")
            }
        }
    }

    /// Runs each attack for a second, and prints a table of the results.
    private static func runAttacks(
        _ attacks: [any Attack], on target: AttackTarget, maxConnections: Int
    ) async throws -> [AttackReport.Result] {
        var plan = AttackPlan(target: target, attacks: attacks, seed: UInt64.random(in: 0..<1_000_000_000))
        plan.duration = .seconds(1)
        plan.maxConnections = maxConnections
        let report = try await AttackRunner.run(plan) { _ in }
        print(report.table)
        return report.results
    }
}
