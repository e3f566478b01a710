// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import LoadKit
import PlazaModel
import ProtocolClient
import TestSupport
import Testing

/// Plays the evening of `plaza demo --evening` (lives with chat, seats and battles) with real processes, and makes the
/// calls by which the browser pages show it.
@Suite(.serialized) struct EveningClusterTests {
    @Test(.timeLimit(.minutes(2)))
    func `the evening shows lives, gifts and a battle, goes on after a gateway is killed, and ends its lives`()
        async throws
    {
        var options = TestCluster.options()
        options.scale = [.gateway: 2]
        try await TestCluster.with(options) { cluster in
            let harness = try ClusterHarness(cluster)
            let setting = Scenario.Setting(
                addresses: harness.addresses, name: "test", token: { harness.token($0, isServer: $1) }, say: { _ in })
            let evening = try EveningRunner(setting, seed: 1)
            let eveningTask = Task { await evening.play() }
            defer { eveningTask.cancel() }
            let hub = try ClientHub()
            defer { hub.stop() }
            // The viewer uses the second gateway; the first is killed later.
            let viewer = DemoUser("viewer", harness.client("viewer", on: hub, addresses: [harness.addresses[1]]))

            // The evening's script has four lives of the categories 0 to 3, one of them with a product, and six gifts.
            try await Self.wait(for: "a list of four lives with viewers and covers") {
                guard let lives = await Self.listLives(as: viewer) else { return false }
                return lives.count == 4 && lives.allSatisfy { $0.audienceCount >= 3 && !$0.info.coverURL.isEmpty }
            }
            let lives = try #require(await Self.listLives(as: viewer))
            #expect(Set(lives.flatMap(\.info.categoryList)) == [0, 1, 2, 3])
            #expect(lives.count { $0.info.metaData["product-name"] != nil } == 1)
            try await Self.wait(for: "a battle with scores, and a guest on a seat") {
                guard let stage = await Self.readStage(as: viewer), let battle = stage.battle else { return false }
                // One of the two occupants is the host.
                let hasGuest = stage.seats.count { $0.occupant != nil } >= 2
                return hasGuest && battle.ended == nil && battle.sides.allSatisfy { $0.score > 0 }
            }
            let gifts = try await viewer.call("gift.list", CallParams())
            guard case .gifts(let categories) = gifts else { throw ScenarioFailure("the gifts are \(gifts)") }
            #expect(categories.first { $0.categoryID.text == "evening" }?.gifts.count == 6)

            try await viewer.call("live.join", CallParams(live: Self.live), live: Self.live)
            try await Self.waitForMessageAndGift(viewer)
            try await cluster.kill("gateway-1")
            // Collects the messages from before the kill, because only later ones show that clients have resumed.
            await viewer.collectUpdates(seconds: 1)
            let messageCountBefore = viewer.texts.count
            try await Self.wait(for: "further messages of clients that have resumed") {
                await viewer.collectUpdates(seconds: 0.2)
                return viewer.texts.count >= messageCountBefore + 20
            }
            #expect(viewer.isFeedComplete, "no feed item may be missing or repeated")

            eveningTask.cancel()
            await eveningTask.value
            try await Self.wait(for: "an empty list after the evening") {
                await Self.listLives(as: viewer)?.isEmpty == true
            }
        }
    }

    /// The live that the viewer joins, one of the evening's.
    private static let live = LiveID("evening-piano")

    /// The list of lives; nil if the call fails.
    private static func listLives(as user: DemoUser) async -> [LiveListEntry]? {
        guard case .lives(let entries, _)? = try? await user.call("live.list", CallParams(count: 50)) else {
            return nil
        }
        return entries
    }

    /// The stage of `live`; nil if the call fails.
    private static func readStage(as user: DemoUser) async -> StageRecord? {
        guard case .stage(let record)? = try? await user.call("stage.get", CallParams(live: Self.live)) else {
            return nil
        }
        return record
    }

    /// Waits until the user has received a message and a gift.
    private static func waitForMessageAndGift(_ user: DemoUser) async throws {
        _ = try await user.waitForFeedItem("a message") { if case .text = $0 { true } else { nil } }
        _ = try await user.waitForFeedItem("a gift", within: 20) { if case .gift = $0 { true } else { nil } }
    }

    /// Waits for at most 20 s until `isTrue` returns true.
    private static func wait(for expectation: String, _ isTrue: () async -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(20)
        while await !isTrue() {
            guard ContinuousClock.now < deadline else { throw ScenarioFailure("not within 20 s: \(expectation)") }
            try await Task.sleep(for: .milliseconds(200))
        }
    }
}
