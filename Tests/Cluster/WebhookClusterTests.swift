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

/// Tests of webhooks and filtered words with real processes; the test is the app's backend.
@Suite(.serialized) struct WebhookClusterTests {
    static let secret = "the backend's secret"

    /// The options of a cluster whose demo app has these hooks (the backend's URL, and for what it is asked or told).
    ///
    /// Writes the hooks to the apps file that the cluster reads.
    static func options(_ hooks: AppHooks, kafkaBrokers brokers: Int? = nil) throws -> ClusterOptions {
        let options = LiveCluster.options(kafkaBrokers: brokers)
        try RunDirectory(options.runDirectory).create()
        let file = RunDirectory(options.runDirectory).appsFile
        try AppsFile.prepare(at: file, feedBudget: nil)
        let text = String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self)
        let json = String(decoding: Wire.encode(hooks), as: UTF8.self)
        // Inserts the hooks in front of the demo app's policy.
        let changed = text.replacing("\"policy\" :", with: "\"hooks\" : \(json), \"policy\" :", maxReplacements: 1)
        try #require(changed != text)
        try Data(changed.utf8).write(to: URL(filePath: file))
        return options
    }

    /// An event that the backend received.
    private struct ReceivedEvent: Equatable {
        var partition: Int
        var offset: Int
        var live: String
        var kind: String
        var content: JSONValue
    }

    /// The events in the order of their arrival; each must be signed (WEBHOOKS.md, section 1).
    private static func events(in received: [WebhookReceiver.Received]) throws -> [ReceivedEvent] {
        try received.map { request in
            let timestamp = try #require(request.headers["liveplaza-timestamp"])
            let mac = HMACSHA256.hex(of: Array("\(timestamp).".utf8) + request.body, key: Array(Self.secret.utf8))
            #expect(request.headers["liveplaza-signature"] == "v1=" + mac)
            #expect(abs(try #require(Double(timestamp)) - Date().timeIntervalSince1970) < 60)
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
    @Test(.timeLimit(.minutes(3)), arguments: [nil, 1].filter { $0 == nil || LiveCluster.kafkaHome != nil } as [Int?])
    func `a backend receives the events of each live, signed and in order`(kafkaBrokers: Int?) async throws {
        let receiver = try WebhookReceiver { _, _ in .answer(200, "{}") }
        let options = try Self.options(AppHooks(url: receiver.url, secret: Self.secret), kafkaBrokers: kafkaBrokers)
        try await LiveCluster.with(options) { cluster in
            let hub = try ClientHub()
            defer { hub.stop() }
            let harness = try ClusterHarness(cluster)
            let alice = DemoUser("alice", harness.client("alice", on: hub))
            let berta = DemoUser("berta", harness.client("berta", on: hub))
            let guest = DemoUser("guest", harness.client("guest", on: hub))
            for (host, live) in [(alice, "concert"), (berta, "duet")] {
                try await host.call("live.create", CallParams(live: LiveID(live)), live: LiveID(live))
                try await host.call("live.join", CallParams(live: LiveID(live)), live: LiveID(live))
            }
            try await guest.call("live.join", CallParams(live: "concert"), live: "concert")
            try await alice.call("seat.lock", CallParams(live: "concert", seatIndex: 4, locked: true), live: "concert")
            try await alice.call(
                "cohost.request", CallParams(live: "concert", timeout: 60, to: ["duet"]), live: "concert")
            try await berta.call("cohost.accept", ["live": "duet", "inviter": "concert"] as JSONValue, live: "duet")
            let request = try await alice.call(
                "battle.request",
                ["live": "concert", "to": ["duet"], "duration": 200, "needResponse": true] as JSONValue,
                live: "concert")
            guard case .battle(let battle, _, _, _) = request else { throw ScenarioFailure("no battle: \(request)") }
            let bertasBattle: JSONValue = ["live": "duet", "battle": .text(battle.text)]
            try await berta.call("battle.accept", bertasBattle, live: "duet")
            try await berta.call("battle.exit", bertasBattle, live: "duet")
            try await alice.call(
                "battle.exit", ["live": "concert", "battle": .text(battle.text)] as JSONValue, live: "concert")
            try await alice.call("live.update", ["live": "concert", "notice": "soon"] as JSONValue, live: "concert")
            try await alice.call("metadata.set", CallParams(live: "concert", metadata: ["k": "v"]), live: "concert")
            try await alice.call("metadata.delete", ["live": "concert", "keys": ["k"]] as JSONValue, live: "concert")
            try await alice.call("admin.set", CallParams(live: "concert", user: "guest"), live: "concert")
            try await guest.call("live.leave", CallParams(live: "concert"))
            try await alice.call("live.end", CallParams(live: "concert"))

            let received = await runOnDedicatedThread {
                receiver.wait(timeout: .seconds(30)) { $0.contains { $0.headers["liveplaza-event"] == "roomEnded" } }
            }
            let allEvents = try Self.events(in: try #require(received))
            for live in ["concert", "duet"] {
                let events = allEvents.filter { $0.live == live }
                #expect(Set(events.map(\.partition)).count == 1)
                #expect(events.map(\.offset) == events.map(\.offset).sorted(), "in the order of the topic")
                #expect(Set(events.map(\.offset)).count == events.count)
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
        // 1 is `allMemberExit`.
        #expect(battleEnd["battle"] == .text(battle.text) && battleEnd["kind"] == 1)
        #expect(battleEnd["from"]?.members["live"] == "concert")
        let seats = try #require(events.last { $0.kind == "seatsChanged" }?.content.members["seats"])
        guard case .array(let seatList) = seats else { throw ScenarioFailure("seats are no list: \(seats)") }
        #expect(seatList.count > 4 && seatList[4].members["isLocked"] == true)
        // A text with the user and the cause, for each user in each event about joins or leaves.
        let presenceChanges = events.filter { $0.kind == "memberState" }.flatMap { event -> [String] in
            guard case .array(let users)? = event.content.members["users"] else { return [] }
            return users.map { "\($0.members["userID"] ?? "") \(event.content.members["cause"] ?? "")" }
        }
        let changesOfGuest = presenceChanges.filter { $0.contains("guest") }
        #expect(changesOfGuest.count == 2, "\(presenceChanges)")
        #expect(changesOfGuest.first?.contains("enter") == true && changesOfGuest.last?.contains("leave") == true)
        #expect(presenceChanges.contains { $0.contains("alice") && $0.contains("enter") })
        let changes = ["roomUpdated", "metadataSet", "metadataDeleted", "adminChanged"]
        #expect(kinds.filter { changes.contains($0) } == changes)
        #expect(events.first { $0.kind == "metadataSet" }?.content == ["values": ["k": "v"], "by": "alice"])
        #expect(events.first { $0.kind == "adminChanged" }?.content.members["admins"] == ["guest"])
        let liveEnd = try #require(events.first { $0.kind == "roomEnded" }?.content.members)
        #expect(liveEnd["info"]?.members["notice"] == "soon")
        #expect(liveEnd["statistics"]?.members["totalViewers"] != nil && liveEnd["reason"] != nil)
        #expect(kinds.filter { $0 == "roomCreated" }.count == 1 && kinds.filter { $0 == "roomEnded" }.count == 1)
    }

    /// The backend's decisions about messages and gifts: the text of a message or the count of a gift selects one.
    ///
    /// The sender of a rejected message always gets `sensitiveWords`. The sender of a rejected gift gets the backend's
    /// code if that is 102100 to 102200, otherwise `giftCheckFailed`.
    private static func decide(_ request: WebhookReceiver.Received) -> WebhookReceiver.Behaviour {
        let content = (try? Wire.decode(JSONValue.self, from: request.body))?.members["content"]?.members.first
        guard let (kind, value) = content else { return .answer(400, "") }
        switch (kind, value.members["text"] ?? value.members["data"] ?? value.members["count"]) {
        case (_, "bad"): return .answer(200, #"{"code": 7, "message": "not in my house"}"#)
        case (_, "silent"), ("beforeGift", 99): return .keepSilent
        case (_, "broken"): return .answer(500, "")
        case ("beforeGift", 13): return .answer(200, #"{"code": 102150, "message": "no credit"}"#)
        case ("beforeGift", 14): return .answer(200, #"{"code": 5, "message": "no thanks"}"#)
        default: return .answer(200, #"{"code": 0}"#)
        }
    }

    /// An app whose backend decides about messages and gifts, and receives no events.
    ///
    /// When the backend does not answer in time, messages are accepted and gifts are rejected.
    static func shopOptions(_ receiver: WebhookReceiver) throws -> ClusterOptions {
        try Self.options(
            AppHooks(
                url: receiver.url, secret: Self.secret, events: [],
                before: AppHooks.BeforeHooks(message: .allow, gift: .refuse)))
    }

    /// Creates Alice's live "concert" and the gift "rose", which costs 3 coins.
    static func openShop(
        _ cluster: LocalCluster
    ) async throws -> (harness: ClusterHarness, gateway: ClusterState.Gateway, serverToken: String) {
        let harness = try ClusterHarness(cluster)
        let gateway = try #require(cluster.gateways.first)
        let serverToken = harness.token("shop", isServer: true)
        for (method, path, body) in [
            ("POST", "/v1/lives", #"{"live":"concert","owner":"alice"}"#),
            ("PUT", "/v1/app/gift-categories/new", #"{"name":"New"}"#),
            ("PUT", "/v1/app/gifts/rose", #"{"name":"Rose","category":"new","coins":3}"#),
        ] {
            let answer = try await harness.sendRequest(method, path, body, of: gateway.http, token: serverToken)
            #expect((200...201).contains(answer.status), "\(path): \(answer.text)")
        }
        return (harness, gateway, serverToken)
    }

    /// Rules: R14.7.
    @Test(.timeLimit(.minutes(3)))
    func
        `a backend decides about messages and gifts, and a silent one delays a sender only until the timeout`()
        async throws
    {
        let receiver = try WebhookReceiver { _, request in Self.decide(request) }
        try await LiveCluster.with(try Self.shopOptions(receiver)) { cluster in
            let hub = try ClientHub()
            defer { hub.stop() }
            let (harness, gateway, serverToken) = try await Self.openShop(cluster)
            let bob = DemoUser("bob", harness.client("bob", on: hub))
            let carl = DemoUser("carl", harness.client("carl", on: hub))
            for person in [bob, carl] {
                try await person.call("live.join", CallParams(live: "concert"), live: "concert")
            }
            try await Self.rejectCalls(of: bob, receiver)
            try await Self.sendWhileBackendIsSilent(bob, carl, receiver)
            try await Self.rejectWithoutRequest(bob, receiver)
            let giftsOff = try await harness.sendRequest(
                "PATCH", "/v1/lives/concert", #"{"isGiftEnabled":false}"#, of: gateway.http, token: serverToken)
            #expect(giftsOff.status == 200, "\(giftsOff.text)")
            let countBefore = receiver.received.count
            try await bob.expectRefusal(.giftsOffInLive, "gift.send", Self.gift(1))
            #expect(receiver.received.count == countBefore, "no request for gifts that are disabled")
            // The backend gets no request for calls of the app's own server.
            let serverMessage = try await harness.sendRequest(
                "POST", "/v1/lives/concert/messages", #"{"text":"bad"}"#, of: gateway.http, token: serverToken)
            #expect(serverMessage.status == 200, "\(serverMessage.text)")
            try await carl.waitForText("bad")
            #expect(carl.texts.filter { $0 == "bad" }.count == 1, "the message of bob was rejected")
            // Requests for decisions are signed like events.
            #expect(receiver.received.allSatisfy { $0.headers["liveplaza-event"]?.hasPrefix("before") == true })
            for request in receiver.received {
                let timestamp = request.headers["liveplaza-timestamp"] ?? ""
                let mac = HMACSHA256.hex(of: Array("\(timestamp).".utf8) + request.body, key: Array(Self.secret.utf8))
                #expect(request.headers["liveplaza-signature"] == "v1=" + mac)
            }
        }
    }

    /// The parameters of a call that sends roses.
    private static func gift(_ count: Int64) -> JSONValue {
        ["live": "concert", "gift": "rose", "count": .integer(count)]
    }

    /// Sends messages and gifts, of which the backend rejects some.
    private static func rejectCalls(of bob: DemoUser, _ receiver: WebhookReceiver) async throws {
        try await bob.call("barrage.sendText", CallParams(live: "concert", text: "good"), live: "concert")
        try await bob.expectRefusal(.sensitiveWords, "barrage.sendText", CallParams(live: "concert", text: "bad"))
        try await bob.expectRefusal(
            .sensitiveWords, "barrage.sendCustom", ["live": "concert", "businessID": "x", "data": "bad"] as JSONValue)
        try await bob.call("gift.send", Self.gift(2), live: "concert")
        try await bob.expectRefusal(ReplyCode(102_150), "gift.send", Self.gift(13))
        try await bob.expectRefusal(.giftCheckFailed, "gift.send", Self.gift(14))
        let giftRequests = try receiver.received.compactMap {
            try Wire.decode(JSONValue.self, from: $0.body).members["content"]?.members["beforeGift"]
        }
        // The first gift is two roses of 3 coins.
        #expect(giftRequests.first?.members["coins"] == 6 && giftRequests.first?.members["giftID"] == "rose")
        #expect(giftRequests.first?.members["sender"]?.members["userID"] == "bob")
    }

    /// Checks that the gateway does not ask the backend about calls that it rejects itself, and that a gift costs its
    /// price once for each receiver.
    private static func rejectWithoutRequest(_ bob: DemoUser, _ receiver: WebhookReceiver) async throws {
        let countBefore = receiver.received.count
        try await bob.expectRefusal(.noSuchGift, "gift.send", ["live": "concert", "gift": "tulip"] as JSONValue)
        // A message may have 12,288 bytes.
        let tooLongText = String(repeating: "x", count: 13_000)
        try await bob.expectRefusal(.messageTooLong, "barrage.sendText", CallParams(live: "concert", text: tooLongText))
        #expect(receiver.received.count == countBefore)
        let coinsBefore = try await Self.coins(bob)
        try await bob.call(
            "gift.send",
            ["live": "concert", "gift": "rose", "count": 2, "receivers": ["alice", "bob", "carl"]] as JSONValue,
            live: "concert")
        let webhookRequest = try Wire.decode(JSONValue.self, from: try #require(receiver.received.last).body)
        // The gift is two roses of 3 coins for each of three receivers.
        #expect(webhookRequest.members["content"]?.members["beforeGift"]?.members["coins"] == 18)
        #expect(try await Self.coins(bob) - coinsBefore == 18)
    }

    /// The total cost of the live's gifts so far.
    private static func coins(_ person: DemoUser) async throws -> Int64 {
        let result = try await person.call("live.summary", CallParams(live: "concert"))
        guard case .statistics(let statistics, _) = result else { throw ScenarioFailure("no statistics: \(result)") }
        return statistics.totalGiftCoins
    }

    /// Checks that messages are accepted and gifts rejected after two seconds when the backend is silent, and that
    /// other senders are not delayed meanwhile.
    ///
    /// A timer may end a little early, so the checks require only 1.9 s.
    private static func sendWhileBackendIsSilent(_ bob: DemoUser, _ carl: DemoUser, _ receiver: WebhookReceiver)
        async throws
    {
        let clock = ContinuousClock()
        let began = clock.now
        let client = bob.client
        async let silentMessage = client.call(
            "barrage.sendText", CallParams(live: "concert", text: "silent"), live: "concert")
        // Two tasks may run in either order. So the second message is sent only after the backend has received the
        // request about the first one.
        let isRequestReceived = await runOnDedicatedThread {
            receiver.wait { $0.last?.text.contains("\"silent\"") == true } != nil
        }
        #expect(isRequestReceived)
        async let nextMessage = client.call(
            "barrage.sendText", CallParams(live: "concert", text: "next"), live: "concert")
        try await carl.call("barrage.sendText", CallParams(live: "concert", text: "meanwhile"), live: "concert")
        #expect(clock.now - began < .seconds(2), "carl does not wait for bob's message")
        _ = try await silentMessage
        let messageDelay = clock.now - began
        #expect(messageDelay >= .milliseconds(1900) && messageDelay < .seconds(5), "\(messageDelay)")
        _ = try await nextMessage
        try await carl.waitForText("next")
        let texts = carl.texts.filter { ["silent", "next", "meanwhile"].contains($0) }
        #expect(texts == ["meanwhile", "silent", "next"], "bob's own messages keep their order")

        let giftSentAt = clock.now
        try await bob.expectRefusal(.giftCheckFailed, "gift.send", Self.gift(99))
        let giftDelay = clock.now - giftSentAt
        #expect(giftDelay >= .milliseconds(1900) && giftDelay < .seconds(5), "\(giftDelay)")
        // The backend answers this message with status 500, and the message is accepted too.
        try await bob.call("barrage.sendText", CallParams(live: "concert", text: "broken"), live: "concert")
    }

    @Test(.timeLimit(.minutes(3)))
    func `words set over HTTP filter messages at once, until they are removed`() async throws {
        try await LiveCluster.with(LiveCluster.options()) { cluster in
            let hub = try ClientHub()
            defer { hub.stop() }
            let harness = try ClusterHarness(cluster)
            let gateway = try #require(cluster.gateways.first)
            let serverToken = harness.token("shop", isServer: true)
            func send(_ method: String, _ path: String, _ body: String = "") async throws {
                let answer = try await harness.sendRequest(method, path, body, of: gateway.http, token: serverToken)
                #expect((200...201).contains(answer.status), "\(path): \(answer.text)")
            }
            try await send("POST", "/v1/lives", #"{"live":"concert","owner":"alice"}"#)
            let bob = DemoUser("bob", harness.client("bob", on: hub))
            try await bob.call("live.join", CallParams(live: "concert"), live: "concert")
            try await bob.call("barrage.sendText", CallParams(live: "concert", text: "a Durian!"), live: "concert")
            try await send("PUT", "/v1/app/words", #"{"words":["durian","mothball"]}"#)
            try await Self.sendUntil(bob, "a Durian!", isRefused: true)
            try await bob.expectRefusal(
                .sensitiveWords, "barrage.sendText", CallParams(live: "concert", text: "MOTHBALLS"))
            try await bob.call("barrage.sendText", CallParams(live: "concert", text: "an orange"), live: "concert")
            try await send("DELETE", "/v1/app/words?word=durian")
            try await Self.sendUntil(bob, "a Durian!", isRefused: false)
            try await bob.expectRefusal(
                .sensitiveWords, "barrage.sendText", CallParams(live: "concert", text: "mothball"))
        }
    }

    /// Sends a text repeatedly until it is rejected (`isRefused`) or until it is accepted, for at most 20 s.
    ///
    /// The fan-out applies changed words a moment after the call that changes them.
    private static func sendUntil(_ person: DemoUser, _ text: String, isRefused: Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < deadline {
            do {
                _ = try await person.client.call(
                    "barrage.sendText", CallParams(live: "concert", text: text), live: "concert")
                if !isRefused { return }
            } catch {
                if error.code == .sensitiveWords, isRefused { return }
                guard [.sensitiveWords, .tooFrequent].contains(error.code) else { throw error }
            }
        }
        throw ScenarioFailure("\(text) is \(isRefused ? "never" : "still") refused")
    }
}

extension DemoUser {
    /// Waits until the user has received a text in the feed; returns at once if the user already has.
    fileprivate func waitForText(_ text: String) async throws {
        if self.texts.contains(text) { return }
        _ = try await self.waitForFeedItem(text) { content in
            if case .text(_, text, _) = content { true } else { nil }
        }
    }
}
