// SPDX-License-Identifier: Apache-2.0
import AttackKit
import ClusterKit
import PlazaModel
import ProtocolClient
import TestSupport
import Testing

/// Runs some attacks for one second each against a real cluster.
@Suite(.serialized) struct AttackTests {
    private static let names = ["number", "number-http", "record", "half-frames", "ping-flood", "login-flood"]

    @Test(.timeLimit(.minutes(3)))
    func `I1 I16 attacks end no process, stop no partition and lose nothing`() async throws {
        try await LiveCluster.with(LiveCluster.options()) { cluster in
            let harness = try ClusterHarness(cluster)
            let target = try AttackTarget(
                gateways: harness.addresses,
                http: cluster.gateways.map { PlazaAddress(host: $0.host, port: UInt16($0.httpPort)) },
                processes: cluster.processes.compactMap { process in
                    process.opsPort.map { .init(name: process.name, kind: process.kind, opsPort: $0) }
                },
                partitions: cluster.state.partitions, app: AppID(AppsFile.demoApp)
            ) { harness.token($0, isServer: $1) }
            var plan = AttackPlan(
                target: target, attacks: try AttackCatalog.named(Self.names), seed: UInt64.random(in: 0..<1_000_000_000)
            )
            plan.duration = .seconds(1)
            plan.maxConnections = 200
            let report = try await AttackRunner.run(plan) { _ in }
            print(report.table)
            #expect(report.results.count == Self.names.count)
            for result in report.results {
                // The p99 is not judged, because an attack lasts only a second and the machine runs other tests too.
                let failures = result.verdict.failures.filter { !$0.hasPrefix("p99") }
                #expect(failures == [], "\(result.name)")
                #expect(result.measured.gateways["gateway-1"]?.after != nil)
            }
        }
    }
}
