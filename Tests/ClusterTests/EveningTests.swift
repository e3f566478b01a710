// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import LoadKit
import TestSupport
import Testing

/// The main job, with real processes and real clients.
@Suite(.serialized) struct EveningTests {
    @Test(.timeLimit(.minutes(2)))
    func `I1 I6 I7 I12 I14 an evening on the embedded broker is as it should be`() async throws {
        try await LiveCluster.with(LiveCluster.options()) { try await ClusterHarness($0).playEvening() }
    }

    @Test(.timeLimit(.minutes(2)), .enabled(if: LiveCluster.kafkaHome != nil, "needs a real Kafka: set KAFKA_HOME"))
    func `I1 I6 I7 I12 I14 an evening on a real Kafka with two of each service is as it should be`() async throws {
        var options = LiveCluster.options(realKafka: 1)
        options.scale = [.roomDirectory: 2, .audiencePresence: 2, .barrageFanout: 2, .cohostBattle: 2, .gateway: 2]
        try await LiveCluster.with(options) { try await ClusterHarness($0).playEvening() }
    }
}
