// SPDX-License-Identifier: Apache-2.0
import AppInSwift5
import AppInSwift6
import Dispatch
import LivePlazaKit
import LivePlazaTransport
import ProtocolClient
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
        let namesIn5 = AppInSwift5.Evening.Names(prefix: ClusterHarness.uniqueName("five"))
        let clientsIn5 = try await Self.clients(
            [namesIn5.host, namesIn5.rival, namesIn5.viewer], harness, transport)
        try await AppInSwift5.Evening(
            namesIn5, client: { try #require(clientsIn5[$0]) }, wait: Self.wait
        ).play()
        let namesIn6 = AppInSwift6.Evening.Names(prefix: ClusterHarness.uniqueName("six"))
        let clientsIn6 = try await Self.clients(
            [namesIn6.host, namesIn6.rival, namesIn6.viewer], harness, transport)
        try await AppInSwift6.Evening(
            namesIn6, client: { try #require(clientsIn6[$0]) }, wait: Self.wait
        ).play()
    }

    /// Waits on the main actor, to which the app's screens belong.
    private static func wait(_ what: String, _ condition: () -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while !condition() {
            if ContinuousClock.now > deadline { throw StoreTestFailure("not within 30 s: \(what)") }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Logs users in; their clients publish on the main queue.
    private static func clients(
        _ users: [String], _ harness: ClusterHarness, _ transport: LoopTransport
    ) async throws -> [String: LivePlaza] {
        var clients: [String: LivePlaza] = [:]
        for user in users {
            let plaza = LivePlaza(
                options: PlazaOptions(
                    gateways: harness.addresses.map { "ws://\($0.host):\($0.port)/v1" }, transport: transport))
            try await plaza.loginStore.login(sdkAppID: 1, userID: user, userSig: harness.token(user))
            clients[user] = plaza
        }
        return clients
    }
}
