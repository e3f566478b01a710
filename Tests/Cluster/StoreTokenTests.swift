// SPDX-License-Identifier: Apache-2.0
import LivePlazaKit
import LivePlazaTransport
import TestSupport
import Testing

/// Tests with real processes of what the stores show after a token has expired.
@Suite(.enabled(if: TestCluster.kafkaHome != nil, "needs a real Kafka: set KAFKA_HOME"))
struct StoreTokenTests {
    private static let tokenLifetime = Duration.seconds(5)
    /// How long a user is away: long enough that its token expires.
    private static let timeAway = Duration.seconds(10)

    /// Rules: R2.23, R2.26.
    @Test(.timeLimit(.minutes(3)))
    func `users whose tokens expire show the same as a witness: with a token provider, or after a new login`()
        async throws
    {
        try await TestCluster.with(TestCluster.options(kafkaBrokers: 1)) { cluster in
            let harness = try ClusterHarness(cluster)
            let transport = try LoopTransport()
            let host = try await LiveMember.makeHost("token", harness, transport)
            let witness = try await host.addViewer("witness", harness, transport)
            let (connectedTokens, awayTokens) = (
                TokenSource(validFor: Self.tokenLifetime), TokenSource(validFor: Self.tokenLifetime)
            )
            let connected = try await host.addViewer("connected", harness, transport, tokens: connectedTokens)
            let away = try await host.addViewer("away", harness, transport, tokens: awayTokens)
            let withoutProvider = StoreUser("\(host.live)-expired", harness, over: transport)
            try await withoutProvider.login(harness, validFor: Self.tokenLifetime)
            _ = try await withoutProvider.plaza.liveListStore.joinLive(liveID: host.live)

            try await connected.stores.coGuest.applyForSeat(timeout: 60)
            try await host.stores.barrage.sendTextMessage(text: "before")
            try await waitUntil("the user shows a message before it is away") {
                away.stores.barrage.state.value.messageList.count == 1
            }
            away.user.network.beginOutage()
            let began = ContinuousClock.now
            try await withoutProvider.waitForEvent("loginExpired")
            #expect(withoutProvider.plaza.loginStore.state.value == LoginState())
            #expect(withoutProvider.plaza.liveListStore.state.value.currentLive.isEmpty)
            try await host.stores.coGuest.acceptApplication(userID: connected.id)
            try await host.stores.barrage.sendTextMessage(text: "meanwhile")
            try await Task.sleep(until: began + Self.timeAway)
            away.user.network.endOutage()
            try await withoutProvider.login(harness)
            _ = try await withoutProvider.plaza.liveListStore.joinLive(liveID: host.live)

            try await expectSameStores(
                of: [connected, away].map(\.user.plaza), in: host.live, as: witness.user.plaza,
                and: withoutProvider.plaza, messages: ["before", "meanwhile"])
            #expect(connectedTokens.tokenCount > 2, "the token must have been renewed on the open connection")
            #expect(awayTokens.tokenCount > 1)
            for user in [connected, away] { #expect(user.user.eventCount("loginExpired") == 0) }
            // Only the user without a provider has left; this user has joined again.
            #expect(host.user.eventCount("onAudienceLeft") == 1)
        }
    }
}
