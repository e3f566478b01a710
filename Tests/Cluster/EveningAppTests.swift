// SPDX-License-Identifier: Apache-2.0
import AppInSwift5
import AppInSwift6
import Dispatch
import LivePlazaTransport
import TestSupport
import Testing

/// Plays an evening with an app's screens on a real cluster, first in Swift 5 mode, then in Swift 6 mode.
///
/// The stores publish on the main queue, as in apps.
@MainActor @Suite(.serialized, .enabled(if: TestCluster.kafkaHome != nil, "needs a real Kafka: set KAFKA_HOME"))
struct EveningAppTests {
    @Test(.timeLimit(.minutes(3)))
    func `an app in Swift 5 mode and one in Swift 6 mode show an evening on a real cluster`() async throws {
        try await TestCluster.with(TestCluster.options(kafkaBrokers: 1)) { cluster in
            try await Self.playEvenings(ClusterHarness(cluster))
        }
    }

    private static func playEvenings(_ harness: ClusterHarness) async throws {
        let transport = try LoopTransport()
        for play in [AppInSwift5.Evening.play, AppInSwift6.Evening.play] {
            try await play(
                ClusterHarness.uniqueName("evening"),
                { id in
                    let user = StoreUser(id, harness, over: transport, deliveryQueue: .main)
                    try await user.login(harness)
                    return user.plaza
                },
                { what, condition in try await waitUntil(what, condition) })
        }
    }
}
