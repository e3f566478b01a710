// SPDX-License-Identifier: Apache-2.0
import ChaosKit
import ClusterKit
import TestSupport
import Testing

/// Runs some rounds of `plaza chaos` (random faults under load) on a real Kafka; longer runs are started by hand
/// (RELIABILITY.md).
@Suite(.serialized, .enabled(if: TestCluster.kafkaHome != nil, "needs a real Kafka: set KAFKA_HOME"))
struct ChaosTests {
    @Test(.timeLimit(.minutes(8)), arguments: [UInt64(1)])
    func `I1 I3 I4 I5 I7 I8 I9 I11 I12 I13 I14 I15 random faults under load violate no invariant`(seed: UInt64)
        async throws
    {
        var options = TestCluster.options(kafkaBrokers: 1)
        options.restartsExitedProcesses = true
        // In messages a second for each live, as in `plaza chaos`.
        options.feedBudget = 60
        for kind in ServiceKind.allCases { options.scale[kind] = 2 }
        let network = try ChaosNetwork(for: &options)
        defer { network.stop() }
        let backend = try AppBackend(for: &options)
        defer { backend.stop() }
        try await TestCluster.with(options) { cluster in
            let harness = try ClusterHarness(cluster)
            let plan = ChaosPlan(seed: seed, rounds: 1...5, duration: .seconds(150)) {
                harness.token($0, isServer: $1)
            }
            let report = try await ChaosRunner.run(plan, on: cluster, network: network, backend: backend) { print($0) }
            #expect(report.isPassed, "\(report.table)")
            // The run plays as many of the five rounds as fit into its duration.
            #expect(report.rounds.count >= 2, "fewer than two rounds were played")
            // A round without messages, battles, or requests for seats and co-hosting would check almost nothing.
            #expect(report.rounds.allSatisfy { $0.admitted > 0 && $0.battles > 0 && $0.requests > 0 })
            #expect(report.rounds.allSatisfy { $0.workload?["events at the backend"] ?? 0 > 0 })
            // The run lasts longer than the 90 s of a silence.
            let presence = try #require(report.presence?.first)
            #expect(presence.joins > 0 && presence.leaves > 0)
            #expect(presence.silences + presence.vanished > 0, "\(presence)")
        }
    }
}
