// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import LoadKit
import TestSupport
import Testing

/// Stops a service, the only broker, or one of three brokers for a while (SIGSTOP and SIGCONT) under load.
///
/// Meanwhile sessions, transactions and leases time out, and the stopped process does not notice it. Calls may be
/// refused or stay without a reply during the stop. But every acknowledged message is delivered once and in order, and
/// the cluster works again afterwards.
@Suite(.serialized, .enabled(if: LiveCluster.kafkaHome != nil, "needs a real Kafka: set KAFKA_HOME"))
struct StandstillTests {
    @Test(.timeLimit(.minutes(3)), arguments: [ServiceKind.roomDirectory, .cohostBattle])
    func `I8 I15 the only instance of a service stands still for 12 s: nothing acknowledged is lost`(
        _ kind: ServiceKind
    ) async throws {
        try await self.standStill(LiveCluster.options(realKafka: 1), "\(kind.rawValue)-1", seconds: 12)
    }

    @Test(.timeLimit(.minutes(4)))
    func `I8 I15 the only broker stands still for 30 s: nothing acknowledged is lost`() async throws {
        try await self.standStill(LiveCluster.options(realKafka: 1), "broker-1", seconds: 30)
    }

    @Test(.timeLimit(.minutes(5)))
    func `I8 I15 one of three brokers stands still for 75 s: nothing acknowledged is lost`() async throws {
        try await self.standStill(LiveCluster.options(realKafka: 3), "broker-2", seconds: 75)
    }

    private func standStill(_ options: ClusterOptions, _ name: String, seconds: Int) async throws {
        var options = options
        options.restartsExitedProcesses = true
        options.feedBudget = 60
        try await LiveCluster.with(options, readyWithin: .seconds(120)) { cluster in
            let harness = try ClusterHarness(cluster)
            let report = try await harness.load(lives: 3, viewers: 5, rate: 5, duration: .seconds(seconds + 12)) {
                try cluster.signal(name, SIGSTOP)
                try await Task.sleep(for: .seconds(seconds))
                try cluster.signal(name, SIGCONT)
            }
            print("\(name) stood still for \(seconds) s: \(report)")
            #expect(report.isClean, "\(report)")
            #expect(report.admitted > 0, "nothing was admitted")
            try await cluster.waitUntilReady(within: .seconds(60), resetReadiness: true)
            // The scenario checks lives, seats, co-hosts, battles and notices.
            try await harness.playScenario()
        }
    }
}
