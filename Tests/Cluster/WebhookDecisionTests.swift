// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Concurrency
import LoadKit
import PlazaModel
import PlazaWire
import ProtocolClient
import TestSupport
import Testing

/// Tests of webhook decisions with real processes: the gateway asks the backend about each message and gift.
extension WebhookClusterTests {
    /// How long a gateway waits for the backend's decision; then the app's timeout policy decides.
    private static let decisionTimeout: Duration = .seconds(2)

    /// How long a call may take if the backend is asked about it and stays silent.
    ///
    /// A timer may end a little early, and a busy machine may answer late.
    private static let delayBySilentBackend: Range<Duration> =
        (Self.decisionTimeout - .milliseconds(100))..<(Self.decisionTimeout + .seconds(3))

    /// The backend's decision, which the text of the message or the count of the gift selects.
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

    /// The options of a cluster whose demo app has a backend that decides about messages and gifts, and gets no events.
    ///
    /// When the backend does not answer in time, messages are accepted and gifts are rejected.
    static func optionsAsking(_ receiver: RecordingReceiver) -> ClusterOptions {
        Self.options(
            with: AppHooks(
                url: receiver.url, secret: Self.secret, events: [],
                before: AppHooks.BeforeHooks(message: .allow, gift: .refuse)))
    }

    /// Creates Alice's live "concert" and the gift "rose", which costs 3 coins.
    ///
    /// `serverToken` is a token of the app's server.
    static func createLiveAndGift(
        in cluster: LocalCluster
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
        `a backend decides about messages and gifts, and a silent backend delays a sender only until the timeout`()
        async throws
    {
        let receiver = try RecordingReceiver { _, request in Self.decide(request) }
        try await TestCluster.with(Self.optionsAsking(receiver)) { cluster in
            let hub = try ClientHub()
            defer { hub.stop() }
            let (harness, gateway, serverToken) = try await Self.createLiveAndGift(in: cluster)
            // Bob and Carl are viewers of the live.
            let bob = DemoUser("bob", harness.client("bob", on: hub))
            let carl = DemoUser("carl", harness.client("carl", on: hub))
            for viewer in [bob, carl] {
                try await viewer.call("live.join", CallParams(live: "concert"), live: "concert")
            }
            try await Self.expectDecisionsApply(to: bob, receiver)
            try await Self.expectDelayWhileBackendIsSilent(bob, carl, receiver)
            try await Self.expectRejectionWithoutDecision(bob, receiver)
            try await Self.expectGiftCostsPricePerReceiver(bob, receiver)
            let giftsOff = try await harness.sendRequest(
                "PATCH", "/v1/lives/concert", #"{"isGiftEnabled":false}"#, of: gateway.http, token: serverToken)
            #expect(giftsOff.status == 200, "\(giftsOff.text)")
            let requestCountBefore = receiver.received.count
            try await bob.expectRejection(.giftsOffInLive, "gift.send", Self.roses(1))
            #expect(
                receiver.received.count == requestCountBefore, "the backend must not be asked while gifts are disabled")
            // The backend is not asked about calls of the app's own server, so even the text "bad" is sent.
            let serverMessage = try await harness.sendRequest(
                "POST", "/v1/lives/concert/messages", #"{"text":"bad"}"#, of: gateway.http, token: serverToken)
            #expect(serverMessage.status == 200, "\(serverMessage.text)")
            try await carl.waitForText("bad")
            #expect(carl.texts.filter { $0 == "bad" }.count == 1, "Bob's \"bad\" must have been rejected")
            // All requests ask for a decision, and are signed like events.
            #expect(receiver.received.allSatisfy { $0.headers["liveplaza-event"]?.hasPrefix("before") == true })
            for request in receiver.received { #expect(Self.isSigned(request), "\(request.text)") }
        }
    }

    /// The parameters of a call that sends roses.
    private static func roses(_ count: Int64) -> JSONValue {
        ["live": "concert", "gift": "rose", "count": .integer(count)]
    }

    /// Sends messages and gifts as Bob, and checks that each is accepted or rejected as the backend decides.
    private static func expectDecisionsApply(to bob: DemoUser, _ receiver: RecordingReceiver) async throws {
        try await bob.call("barrage.sendText", CallParams(live: "concert", text: "good"), live: "concert")
        try await bob.expectRejection(.sensitiveWords, "barrage.sendText", CallParams(live: "concert", text: "bad"))
        try await bob.expectRejection(
            .sensitiveWords, "barrage.sendCustom", ["live": "concert", "businessID": "x", "data": "bad"] as JSONValue)
        try await bob.call("gift.send", Self.roses(2), live: "concert")
        try await bob.expectRejection(ReplyCode(102_150), "gift.send", Self.roses(13))
        try await bob.expectRejection(.giftCheckFailed, "gift.send", Self.roses(14))
        let giftRequests = try receiver.received.compactMap {
            try Wire.decode(JSONValue.self, from: $0.body).members["content"]?.members["beforeGift"]
        }
        #expect(giftRequests.first?.members["coins"] == 6, "two roses of 3 coins must cost 6")
        #expect(giftRequests.first?.members["giftID"] == "rose")
        #expect(giftRequests.first?.members["sender"]?.members["userID"] == "bob")
    }

    /// Checks that the gateway does not ask the backend about calls that the gateway rejects itself.
    private static func expectRejectionWithoutDecision(_ bob: DemoUser, _ receiver: RecordingReceiver) async throws {
        let requestCountBefore = receiver.received.count
        try await bob.expectRejection(.noSuchGift, "gift.send", ["live": "concert", "gift": "tulip"] as JSONValue)
        // A message may have 12,288 bytes.
        let tooLongText = String(repeating: "x", count: 13_000)
        try await bob.expectRejection(
            .messageTooLong, "barrage.sendText", CallParams(live: "concert", text: tooLongText))
        #expect(receiver.received.count == requestCountBefore, "the backend must not be asked")
    }

    /// Sends a gift to three receivers as Bob, and checks that it costs its price once for each receiver.
    private static func expectGiftCostsPricePerReceiver(_ bob: DemoUser, _ receiver: RecordingReceiver) async throws {
        let coinsBefore = try await Self.readTotalGiftCoins(as: bob)
        try await bob.call(
            "gift.send",
            ["live": "concert", "gift": "rose", "count": 2, "receivers": ["alice", "bob", "carl"]] as JSONValue,
            live: "concert")
        let webhookRequest = try Wire.decode(JSONValue.self, from: try #require(receiver.received.last).body)
        // Two roses of 3 coins for each of three receivers: 2 * 3 * 3 = 18.
        #expect(webhookRequest.members["content"]?.members["beforeGift"]?.members["coins"] == 18)
        #expect(try await Self.readTotalGiftCoins(as: bob) - coinsBefore == 18)
    }

    /// The total cost of the live's gifts so far.
    private static func readTotalGiftCoins(as user: DemoUser) async throws -> Int64 {
        let result = try await user.call("live.summary", CallParams(live: "concert"))
        guard case .statistics(let statistics, _) = result else { throw ScenarioFailure("no statistics: \(result)") }
        return statistics.totalGiftCoins
    }

    /// Checks that a message is accepted, and a gift rejected, at the decision timeout when the backend is silent, and
    /// that other senders are not delayed meanwhile.
    private static func expectDelayWhileBackendIsSilent(
        _ bob: DemoUser, _ carl: DemoUser, _ receiver: RecordingReceiver
    ) async throws {
        let clock = ContinuousClock()
        let began = clock.now
        let client = bob.client
        async let silentMessage = client.call(
            "barrage.sendText", CallParams(live: "concert", text: "silent"), live: "concert")
        // The two messages are sent by two tasks, which may run in either order. So the second message is sent only
        // after the backend has received the request about the first.
        let isRequestReceived = await runOnDedicatedThread {
            receiver.wait { $0.last?.text.contains("\"silent\"") == true } != nil
        }
        #expect(isRequestReceived, "the backend must be asked about the first message")
        async let nextMessage = client.call(
            "barrage.sendText", CallParams(live: "concert", text: "next"), live: "concert")
        try await carl.call("barrage.sendText", CallParams(live: "concert", text: "meanwhile"), live: "concert")
        #expect(clock.now - began < Self.decisionTimeout, "Carl must not wait for Bob's message")
        _ = try await silentMessage
        let messageDelay = clock.now - began
        #expect(Self.delayBySilentBackend.contains(messageDelay), "the message took \(messageDelay)")
        _ = try await nextMessage
        try await carl.waitForText("next")
        let texts = carl.texts.filter { ["silent", "next", "meanwhile"].contains($0) }
        #expect(texts == ["meanwhile", "silent", "next"], "Bob's own messages must keep their order")

        let giftSentAt = clock.now
        try await bob.expectRejection(.giftCheckFailed, "gift.send", Self.roses(99))
        let giftDelay = clock.now - giftSentAt
        #expect(Self.delayBySilentBackend.contains(giftDelay), "the gift took \(giftDelay)")
        // The backend answers with status 500, which counts as no answer: the message is accepted.
        try await bob.call("barrage.sendText", CallParams(live: "concert", text: "broken"), live: "concert")
    }
}

extension DemoUser {
    /// Waits until the user has received the text in the feed; returns at once if it has been received before.
    fileprivate func waitForText(_ text: String) async throws {
        if self.texts.contains(text) { return }
        _ = try await self.waitForFeedItem(text) { content in
            if case .text(_, text, _) = content { true } else { nil }
        }
    }
}
