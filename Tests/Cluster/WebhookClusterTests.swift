// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Concurrency
import Foundation
import HTTPClient
import LoadKit
import PlazaModel
import PlazaWire
import ProtocolClient
import TestSupport
import Testing

/// Tests of webhooks with real processes; the test plays the app's backend.
///
/// The tests of decisions are in the extension in `WebhookDecisionTests.swift`.
@Suite(.serialized) struct WebhookClusterTests {
    static let secret = "the backend's secret"

    /// The options of a cluster whose demo app has these hooks.
    ///
    /// Hooks are the backend's URL and secret, the events that it receives, and the calls about which it is asked.
    static func options(with hooks: AppHooks, kafkaBrokers brokers: Int? = nil) -> ClusterOptions {
        var options = TestCluster.options(kafkaBrokers: brokers)
        options.hooks = hooks
        return options
    }

    /// An event that the backend received, with the place of its record in the topic of webhook events.
    private struct ReceivedEvent: Equatable {
        var partition: Int
        var offset: Int
        var live: String
        /// The event's name, such as `roomCreated`.
        var kind: String
        var content: JSONValue
    }

    /// Whether the request has the right signature of its timestamp and body (WEBHOOKS.md, section 1).
    static func isSigned(_ request: WebhookReceiver.Received) -> Bool {
        let timestamp = request.headers["liveplaza-timestamp"] ?? ""
        let signedBytes = Array("\(timestamp).".utf8) + request.body
        let signature = "v1=" + HMACSHA256.hex(of: signedBytes, key: Array(Self.secret.utf8))
        return request.headers["liveplaza-signature"] == signature
    }

    /// Decodes the requests as events, and checks that each is signed.
    private static func events(in requests: [WebhookReceiver.Received]) throws -> [ReceivedEvent] {
        try requests.map { request in
            #expect(Self.isSigned(request), "\(request.text)")
            let timestamp = try #require(request.headers["liveplaza-timestamp"])
            let sentAt = try #require(Double(timestamp))
            #expect(
                abs(sentAt - Date().timeIntervalSince1970) < 60, "the signed timestamp must be the time of sending")
            let event = try Wire.decode(JSONValue.self, from: request.body)
            let content = try #require(event.members["content"]?.members.first)
            #expect(request.headers["liveplaza-event"] == content.key)
            #expect(event.members["app"] == .text(AppsFile.demoApp))
            guard case .text(let id)? = event.members["id"], case .text(let live)? = event.members["live"] else {
                throw ScenarioFailure("an event without id or live: \(request.text)")
            }
            // An event's id is the partition and the offset of its record, such as `3-17`.
            let position = id.split(separator: "-").compactMap { Int($0) }
            try #require(position.count == 2)
            return ReceivedEvent(
                partition: position[0], offset: position[1], live: live, kind: content.key, content: content.value)
        }
    }

    /// Runs on the embedded broker (nil) and, where Kafka is installed, on a real Kafka with one broker (1).
    ///
    /// Rules: R14.3, R14.6.
    @Test(.timeLimit(.minutes(3)), arguments: [nil, 1].filter { $0 == nil || TestCluster.kafkaHome != nil } as [Int?])
    func `a backend receives the events of each live, signed and in order`(kafkaBrokers: Int?) async throws {
        // Alice and Berta own a live each. Dora only views Alice's live.
        let receiver = try RecordingReceiver { _, _ in .answer(200, "{}") }
        let hooks = AppHooks(url: receiver.url, secret: Self.secret)
        let options = Self.options(with: hooks, kafkaBrokers: kafkaBrokers)
        try await TestCluster.with(options) { cluster in
            let hub = try ClientHub()
            defer { hub.stop() }
            let harness = try ClusterHarness(cluster)
            let alice = DemoUser("alice", harness.client("alice", on: hub))
            let berta = DemoUser("berta", harness.client("berta", on: hub))
            let dora = DemoUser("dora", harness.client("dora", on: hub))
            for (owner, live) in [(alice, "concert"), (berta, "duet")] {
                try await owner.call("live.create", CallParams(live: LiveID(live)), live: LiveID(live))
                try await owner.call("live.join", CallParams(live: LiveID(live)), live: LiveID(live))
            }
            try await dora.call("live.join", CallParams(live: "concert"), live: "concert")
            try await alice.call("seat.lock", CallParams(live: "concert", seatIndex: 4, locked: true), live: "concert")
            try await alice.call(
                "cohost.request", CallParams(live: "concert", to: ["duet"], timeout: 60), live: "concert")
            try await berta.call("cohost.accept", ["live": "duet", "inviter": "concert"] as JSONValue, live: "duet")
            let battleResult = try await alice.call(
                "battle.request",
                ["live": "concert", "to": ["duet"], "duration": 200, "needResponse": true] as JSONValue,
                live: "concert")
            guard case .battle(let battle, _, _, _) = battleResult else {
                throw ScenarioFailure("no battle: \(battleResult)")
            }
            // Berta accepts the battle and leaves it; then Alice leaves too, which ends the battle.
            let battleParams: JSONValue = ["live": "duet", "battle": .text(battle.text)]
            try await berta.call("battle.accept", battleParams, live: "duet")
            try await berta.call("battle.exit", battleParams, live: "duet")
            try await alice.call(
                "battle.exit", ["live": "concert", "battle": .text(battle.text)] as JSONValue, live: "concert")
            try await alice.call("live.update", ["live": "concert", "notice": "soon"] as JSONValue, live: "concert")
            try await alice.call("metadata.set", CallParams(live: "concert", metadata: ["k": "v"]), live: "concert")
            try await alice.call("metadata.delete", ["live": "concert", "keys": ["k"]] as JSONValue, live: "concert")
            try await alice.call("admin.set", CallParams(live: "concert", user: "dora"), live: "concert")
            try await dora.call("live.leave", CallParams(live: "concert"))
            try await alice.call("live.end", CallParams(live: "concert"))

            // `roomEnded` is the last event of Alice's live. Berta's live does not end.
            let requests = await runOnDedicatedThread {
                receiver.wait(timeout: .seconds(30)) { $0.contains { $0.headers["liveplaza-event"] == "roomEnded" } }
            }
            let allEvents = try Self.events(in: try #require(requests, "no event roomEnded came within 30 s"))
            for live in ["concert", "duet"] {
                let events = allEvents.filter { $0.live == live }
                #expect(Set(events.map(\.partition)).count == 1, "all events of a live must be in one partition")
                #expect(
                    events.map(\.offset) == events.map(\.offset).sorted(), "events must arrive in the order of offsets")
                #expect(Set(events.map(\.offset)).count == events.count, "no event may arrive twice")
                #expect(events.first?.kind == "roomCreated")
            }
            try Self.expectEventsOfConcert(allEvents.filter { $0.live == "concert" }, battle)
        }
    }

    /// Checks the events of the live `concert`: their kinds, and what those of each kind contain.
    private static func expectEventsOfConcert(_ events: [ReceivedEvent], _ battle: BattleID) throws {
        let kinds = events.map(\.kind)
        #expect(kinds.filter { $0.hasPrefix("battle") } == ["battleCreated", "battleStarted", "battleEnded"])
        let battleEnd = try #require(events.first { $0.kind == "battleEnded" }?.content.members)
        #expect(battleEnd["battle"] == .text(battle.text))
        // Kind 1 is `BattleEndKind.allMemberExit`.
        #expect(battleEnd["kind"] == 1, "the battle must have ended because all lives left it")
        #expect(battleEnd["from"]?.members["live"] == "concert")
        let seats = try #require(events.last { $0.kind == "seatsChanged" }?.content.members["seats"])
        guard case .array(let seatList) = seats else { throw ScenarioFailure("seats are no list: \(seats)") }
        #expect(seatList.count > 4 && seatList[4].members["isLocked"] == true, "Alice has locked seat 4")
        // Texts with user and cause, such as `dora enter`: one for each user in each event about joins or leaves.
        let presenceChanges = try events.filter { $0.kind == "memberState" }.flatMap { event -> [String] in
            guard case .array(let users)? = event.content.members["users"] else {
                throw ScenarioFailure("an event without users: \(event.content)")
            }
            return users.map { "\($0.members["userID"] ?? "") \(event.content.members["cause"] ?? "")" }
        }
        let changesOfDora = presenceChanges.filter { $0.contains("dora") }
        #expect(changesOfDora.count == 2, "\(presenceChanges)")
        #expect(changesOfDora.first?.contains("enter") == true && changesOfDora.last?.contains("leave") == true)
        #expect(presenceChanges.contains { $0.contains("alice") && $0.contains("enter") })
        let kindsOfLiveChanges = ["roomUpdated", "metadataSet", "metadataDeleted", "adminChanged"]
        #expect(kinds.filter { kindsOfLiveChanges.contains($0) } == kindsOfLiveChanges)
        #expect(events.first { $0.kind == "metadataSet" }?.content == ["values": ["k": "v"], "by": "alice"])
        #expect(events.first { $0.kind == "adminChanged" }?.content.members["admins"] == ["dora"])
        let liveEnd = try #require(events.first { $0.kind == "roomEnded" }?.content.members)
        #expect(liveEnd["info"]?.members["notice"] == "soon")
        #expect(liveEnd["statistics"]?.members["totalViewers"] != nil && liveEnd["reason"] != nil)
        #expect(kinds.filter { $0 == "roomCreated" }.count == 1 && kinds.filter { $0 == "roomEnded" }.count == 1)
    }
}
