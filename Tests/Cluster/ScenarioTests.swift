// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import TestSupport
import Testing

/// Runs the scenario of `plaza demo` (a short live, checked step by step) with real processes and real clients.
@Suite(.serialized) struct ScenarioTests {
    @Test(.timeLimit(.minutes(2)))
    func `I1 I6 I7 I12 I14 the demo scenario passes on the embedded broker`() async throws {
        try await TestCluster.with(TestCluster.options()) { try await ClusterHarness($0).playScenario() }
    }

    @Test(.timeLimit(.minutes(2)), .enabled(if: TestCluster.kafkaHome != nil, "needs a real Kafka: set KAFKA_HOME"))
    func `I1 I6 I7 I12 I14 the demo scenario passes on a real Kafka with two instances of each service`() async throws {
        var options = TestCluster.options(kafkaBrokers: 1)
        options.scale = [.roomDirectory: 2, .audiencePresence: 2, .barrageFanout: 2, .cohostBattle: 2, .gateway: 2]
        try await TestCluster.with(options) { try await ClusterHarness($0).playScenario() }
    }
}
