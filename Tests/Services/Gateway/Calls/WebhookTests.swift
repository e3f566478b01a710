// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Concurrency
import Foundation
import Gateway
import GatewayCore
import MachineKit
import Observability
import PlazaModel
import PlazaWire
import TestSupport
import Testing
import Tokens
import Webhooks

/// Messages and gifts that need a decision of the app's backend.
///
/// The gateway asks the backend first. Then it forwards the call to the fan-out, the machine that writes the feed. A
/// backend allows a call with the answer `{"code":0}`, and rejects it with any other code.
@Suite(.serialized, .timeLimit(.minutes(1))) struct WebhookTests {
    /// A gateway whose app has a backend, with the live room.
    private final class BackendFixture {
        let cluster: FakeCluster
        let webhookClient: WebhookClient

        /// Creates a gateway whose app's backend is `receiver`.
        ///
        /// `timeout` is how long the gateway waits for the backend's decision. Without a decision by then, a message is
        /// allowed and a gift is rejected. If `makesDecisions` is false, the gateway gets no decision at all. `change`
        /// changes the gateway's settings.
        init(
            _ receiver: RecordingReceiver, timeout: Duration = .seconds(20), makesDecisions: Bool = true,
            _ change: (inout GatewaySettings) -> Void = { _ in }
        ) throws {
            let hooks = AppHooks(
                url: receiver.url, secret: "a secret of the app",
                before: AppHooks.BeforeHooks(message: .allow, gift: .refuse))
            let webhookClient = WebhookClient(hooks: ["demo": hooks], timeout: timeout, metrics: MetricsRegistry())
            self.webhookClient = webhookClient
            if makesDecisions { _ = DedicatedThread("test") { webhookClient.run() } }
            self.cluster = try FakeCluster(webhookClient: webhookClient, change)
            self.cluster.create("room")
        }

        /// The commands that were forwarded to the fan-out, in order, each with the number of its call.
        ///
        /// A call that the gateway itself rejects is forwarded as `refused`, one that the backend rejects as
        /// `forbidden`.
        func forwardedCommands() throws -> [(name: String, counter: Int64)] {
            let records = self.cluster.state.withLock { $0.records }.filter { $0.topic == .barrageInbox }
            return try records.map { record in
                switch try Wire.decode(BarrageInput.self, from: record.value ?? []).command {
                case .sendText(_, _, let caller): ("sendText", caller.request.counter)
                case .sendLikes(_, let caller): ("sendLikes", caller.request.counter)
                case .refused(_, let caller): ("refused", caller.request.counter)
                case .forbidden(_, _, let caller): ("forbidden", caller.request.counter)
                case let command: throw WireClient.Failure(description: "\(command) was forwarded")
                }
            }
        }

        deinit { self.webhookClient.stop() }
    }

    /// The parameters of `barrage.sendText` in the live room.
    private static func textParams(_ text: String) -> String { #"{"live":"room","text":"\#(text)"}"# }

    /// The outcome of a message that was published as item `number` of the feed.
    private static func sent(asItem number: Int64) -> Outcome {
        .success(result: .sent(position: FeedPosition(epoch: FakeCluster.epoch, number: number)))
    }

    /// Rules: R14.10.
    @Test func `a message is forwarded if the backend allows it, else rejected with the backend's message`() throws {
        let receiver = try RecordingReceiver { _, received in
            .answer(200, received.text.contains("bad") ? #"{"code":1,"message":"mind your words"}"# : #"{"code":0}"#)
        }
        let fixture = try BackendFixture(receiver)
        let client = try fixture.cluster.viewer("bob", of: "room")
        #expect(try client.call("barrage.sendText", Self.textParams("good")) == Self.sent(asItem: 1))
        #expect(
            try client.call("barrage.sendText", Self.textParams("bad"))
                == .failure(error: ReplyError(.sensitiveWords, "mind your words")))
        #expect(
            try fixture.forwardedCommands().map { $0.name } == ["sendText", "forbidden"],
            "the fan-out also gets the rejection of the second message")
        let request = try Wire.decode(WebhookRequest.self, from: try #require(receiver.received.first).body)
        guard case .beforeText(let sender, "good", nil) = request.content else {
            Issue.record("unexpected webhook request: \(request)")
            return
        }
        #expect(sender.userID == "bob" && request.live == "room")
    }

    /// Rules: R14.9.
    @Test func `a backend that does not answer delays a message by the timeout, and delays no other call`() throws {
        let receiver = try RecordingReceiver { _, _ in .keepSilent }
        let fixture = try BackendFixture(receiver, timeout: .seconds(2))
        let client = try fixture.cluster.viewer("bob", of: "room")
        let eve = try fixture.cluster.viewer("eve", of: "room")
        // The timeout is 2 s; the checks below use 10 ms less, because the gateway may round the timeout.
        let start = MonotonicClock.now.milliseconds
        let first = try client.begin("barrage.sendText", Self.textParams("one"))
        #expect(try eve.getsPong(), "other clients are served while the message waits")
        #expect(try client.getsPong(), "the sender's ping is served while the message waits")
        #expect(MonotonicClock.now.milliseconds - start < 1990)
        #expect(
            try client.answer(to: first) == Self.sent(asItem: 1), "without a decision in time the message is allowed")
        #expect((1990..<15_000).contains(MonotonicClock.now.milliseconds - start))
    }

    /// Rules: R14.9.
    @Test func `a lost decision counts as a missing answer, and blocks no call behind it`() throws {
        let receiver = try RecordingReceiver { _, _ in .keepSilent }
        // In production a decision is lost if the mailbox of the shard, the gateway's thread of the client, is full.
        // Here the webhook client does not run, so no decision is ever made.
        let fixture = try Self.fixtureWithGifts(receiver, timeout: .milliseconds(100), makesDecisions: false)
        let client = try fixture.cluster.viewer("bob", of: "room")
        // A session may have 16 open calls, so each round makes 5 + 1 + 10 = 16 calls. Five texts and a gift need a
        // decision, so the two rounds make 12 webhook requests. The webhook client keeps up to 16 requests for a user.
        for round in Int64(0)...1 {
            let texts = try (1...5).map { try client.begin("barrage.sendText", Self.textParams("m\($0)")) }
            let gift = try client.begin("gift.send", #"{"live":"room","gift":"rose"}"#)
            let likes = try (1...10).map { _ in try client.begin("like.send", #"{"live":"room","count":1}"#) }
            for (text, number) in zip(texts, (round * 5 + 1)...) {
                #expect(try client.answer(to: text) == Self.sent(asItem: number), "a message is allowed")
            }
            #expect(try client.answer(to: gift).error?.code == .giftCheckFailed, "a gift is rejected")
            for like in likes { #expect(try client.answer(to: like) == .success(result: .done)) }
            #expect(try fixture.forwardedCommands().suffix(16).map(\.counter) == texts + [gift] + likes)
        }
        #expect(receiver.received.isEmpty)
    }

    @Test func `one client's messages keep their order, whatever the order of the backend's decisions`() throws {
        // The backend never answers about the first message, and answers at once about the other four messages. The
        // gateway holds these four back until the first message has timed out.
        let receiver = try RecordingReceiver { index, _ in index == 0 ? .keepSilent : .answer(200, #"{"code":0}"#) }
        let fixture = try BackendFixture(receiver, timeout: .milliseconds(300))
        let client = try fixture.cluster.viewer("bob", of: "room")
        let ids = try (1...5).map { try client.begin("barrage.sendText", Self.textParams("m\($0)")) }
        for (id, number) in zip(ids, Int64(1)...) {
            #expect(try client.answer(to: id) == Self.sent(asItem: number))
        }
        #expect(receiver.received.count == 5)
    }

    /// Rules: R12.15.
    @Test func `I16 the backend is not asked about a message that exceeds its sender's rate of calls`() throws {
        let receiver = try RecordingReceiver { _, _ in .answer(200, #"{"code":0}"#) }
        let fixture = try BackendFixture(receiver) { $0.admission.callsPerUser = 4 }
        let client = try fixture.cluster.viewer("bob", of: "room")
        let eve = try fixture.cluster.viewer("eve", of: "room")
        // Bob may make four calls a second. He sends messages until one is rejected, however fast the machine is.
        var outcome = Outcome.success(result: .done)
        var sentCount: Int64 = 0
        while case .success = outcome, sentCount < 1000 {
            outcome = try client.call("barrage.sendText", Self.textParams("m"))
            if case .success = outcome { sentCount += 1 }
        }
        #expect(outcome.error?.code == .overloaded && outcome.error?.retryAfter != nil)
        #expect(sentCount > 0 && receiver.received.count == sentCount, "the last message causes no request")
        #expect(
            try eve.call("barrage.sendText", Self.textParams("hello")) == Self.sent(asItem: sentCount + 1),
            "bob's calls do not count for eve")
    }

    @Test func `I15 a call that is resent while its decision is pending causes one webhook request`() throws {
        let receiver = try RecordingReceiver { _, _ in .keepSilent }
        let fixture = try BackendFixture(receiver, timeout: .seconds(2))
        let client = try fixture.cluster.viewer("bob", of: "room")
        // The same call id makes the second call a repetition of the first.
        let id = try client.begin("barrage.sendText", Self.textParams("one"), id: 77)
        _ = try client.begin("barrage.sendText", Self.textParams("one"), id: 77)
        #expect(try client.answer(to: id) == Self.sent(asItem: 1))
        #expect(receiver.received.count == 1)
        #expect(fixture.cluster.recordCount { $0.topic == .barrageInbox } == 1)
    }

    @Test func `I16 calls that are pending at the backend count towards the limit of open calls`() throws {
        let receiver = try RecordingReceiver { _, _ in .keepSilent }
        let fixture = try BackendFixture(receiver)
        let client = try fixture.cluster.viewer("bob", of: "room")
        // A session may have 16 open calls.
        for number in 1...16 { _ = try client.begin("barrage.sendText", Self.textParams("m\(number)")) }
        // The 17th open call of the session is rejected, whatever its method is.
        for (method, params) in [
            ("barrage.sendText", Self.textParams("one too many")), ("like.send", #"{"live":"room","count":1}"#),
            ("live.summary", #"{"live":"room"}"#),
        ] {
            guard case .failure(let error) = try client.call(method, params) else {
                Issue.record("\(method) was accepted")
                continue
            }
            #expect(error.code == .overloaded && error.retryAfter != nil, "\(method)")
        }
    }

    /// Rules: R14.12.
    @Test func `I15 no call of a client overtakes an earlier call whose decision is pending`() throws {
        let receiver = try RecordingReceiver { index, _ in index == 0 ? .keepSilent : .answer(200, #"{"code":0}"#) }
        let fixture = try BackendFixture(receiver, timeout: .milliseconds(300))
        let client = try fixture.cluster.viewer("bob", of: "room")
        let pendingText = try client.begin("barrage.sendText", Self.textParams("one"))
        // The backend is not asked about these 14 calls, because likes need no decision, and the gateway itself rejects
        // empty texts. If these calls overtook the first text, they could push the text's number out of the idempotency
        // window. The window remembers the last 16 calls, so that a repeated call is recognized.
        let likes = try (1...7).map { _ in try client.begin("like.send", #"{"live":"room","count":1}"#) }
        let emptyTexts = try (1...7).map { _ in try client.begin("barrage.sendText", Self.textParams("")) }
        let lastText = try client.begin("barrage.sendText", Self.textParams("two"))
        #expect(try client.answer(to: pendingText) == Self.sent(asItem: 1))
        for like in likes { #expect(try client.answer(to: like) == .success(result: .done)) }
        let rejection = ReplyError(.badParameter, FakeCluster.gatewayRejectionMessage)
        for call in emptyTexts { #expect(try client.answer(to: call) == .failure(error: rejection)) }
        #expect(try client.answer(to: lastText) == Self.sent(asItem: 2))
        let forwarded = try fixture.forwardedCommands()
        #expect(forwarded.map(\.counter) == [pendingText] + likes + emptyTexts + [lastText], "\(forwarded)")
    }

    @Test func `I15 a resent call gets its first outcome, whatever the backend decides later`() throws {
        let rejection = #"{"code":1,"message":"no more"}"#
        // Two calls are each sent twice, the second time with the same id. The backend allows the first call and then
        // rejects its repetition; it rejects the second call and then allows its repetition.
        let answers = [#"{"code":0}"#, rejection, rejection, #"{"code":0}"#]
        let receiver = try RecordingReceiver { index, _ in .answer(200, answers[index % 4]) }
        let fixture = try BackendFixture(receiver)
        let client = try fixture.cluster.viewer("bob", of: "room")
        let rejected = Outcome.failure(error: ReplyError(.sensitiveWords, "no more"))
        for _ in 1...2 {
            #expect(try client.call("barrage.sendText", Self.textParams("one"), id: 77) == Self.sent(asItem: 1))
        }
        for _ in 1...2 { #expect(try client.call("barrage.sendText", Self.textParams("two"), id: 78) == rejected) }
        #expect(try client.itemNumbers(upTo: 1) == [1])
        let requestIDs = try receiver.received.map { try Wire.decode(WebhookRequest.self, from: $0.body).id }
        #expect(requestIDs.count == 4 && Set(requestIDs).count == 2, "both copies of a call have the same request id")
        #expect(try fixture.forwardedCommands().map(\.name) == ["sendText", "forbidden", "forbidden", "sendText"])
    }

    @Test func `the backend is not asked about messages of the app's server or of users outside the live`() throws {
        // This backend would reject every message.
        let receiver = try RecordingReceiver { _, _ in .answer(200, #"{"code":1}"#) }
        let fixture = try BackendFixture(receiver)
        // Bob has logged in, but has not joined the live.
        let (client, _) = try fixture.cluster.client("bob")
        guard case .failure(let error) = try client.call("barrage.sendText", Self.textParams("hi")) else {
            Issue.record("the message of a user outside the live was accepted")
            return
        }
        #expect(error.code == .notInRoom)
        let (server, _) = try fixture.cluster.client("shop", role: .server)
        #expect(try server.call("barrage.sendText", Self.textParams("hi")) == Self.sent(asItem: 1))
        #expect(receiver.received.isEmpty)
    }

    /// Creates a fixture whose app has one gift, the rose, and one forbidden word.
    private static func fixtureWithGifts(
        _ receiver: RecordingReceiver, timeout: Duration = .seconds(20), makesDecisions: Bool = true
    ) throws -> BackendFixture {
        let fixture = try BackendFixture(receiver, timeout: timeout, makesDecisions: makesDecisions)
        let rose = Gift(giftID: "rose", name: "Rose", coins: 5)
        let settings = AppSettings(
            words: ["Durian"], gifts: [GiftCategory(categoryID: "a", name: "A", gifts: [rose])])
        fixture.cluster.gateway.received(AppRecord(app: FakeCluster.app, revision: 1, settings: settings))
        return fixture
    }

    /// Rules: R11.5.
    @Test func `the webhook request about a gift contains the total price for all its receivers`() throws {
        let receiver = try RecordingReceiver { _, _ in .answer(200, #"{"code":0}"#) }
        let fixture = try Self.fixtureWithGifts(receiver)
        let client = try fixture.cluster.viewer("bob", of: "room")
        for body in [
            #"{"live":"room","gift":"rose","count":2,"receivers":["o","x","y"]}"#,
            #"{"live":"room","gift":"rose","count":2}"#,
        ] { #expect(try client.call("gift.send", body) == .success(result: .done)) }
        var prices: [Int64] = []
        var receiverLists: [[UserID]] = []
        for received in receiver.received {
            let request = try Wire.decode(WebhookRequest.self, from: received.body)
            guard case .beforeGift(_, "rose", 2, let coins, let receivers) = request.content else { continue }
            prices.append(coins)
            receiverLists.append(receivers)
        }
        #expect(prices == [30, 10], "2 roses of 5 coins for each of 3 receivers, then for 1 receiver")
        #expect(receiverLists == [["o", "x", "y"], ["anna"]], "a gift without receivers is for the owner, anna")
    }

    @Test func `an unknown gift is rejected without a webhook request, but only after its sender's earlier calls`()
        throws
    {
        let receiver = try RecordingReceiver { _, _ in .keepSilent }
        let fixture = try Self.fixtureWithGifts(receiver, timeout: .seconds(2))
        let client = try fixture.cluster.viewer("bob", of: "room")
        let tulip = #"{"live":"room","gift":"tulip"}"#
        let rejected = Outcome.failure(error: ReplyError(.noSuchGift, FakeCluster.gatewayRejectionMessage))
        #expect(try client.call("gift.send", tulip) == rejected)
        #expect(receiver.received.isEmpty)
        let start = MonotonicClock.now.milliseconds
        let pendingText = try client.begin("barrage.sendText", Self.textParams("one"))
        let rejectedGift = try client.begin("gift.send", tulip)
        #expect(try client.getsPong())
        #expect(
            try fixture.forwardedCommands().map { $0.name } == ["refused"],
            "only the first gift is forwarded; the second one waits behind the text")
        #expect(try client.answer(to: rejectedGift) == rejected)
        #expect(
            MonotonicClock.now.milliseconds - start >= 1990,
            "the second gift waits for the text's timeout of 2 s, which the gateway may round")
        #expect(try client.answer(to: pendingText) == Self.sent(asItem: 1))
        #expect(try fixture.forwardedCommands().suffix(2).map { $0.counter } == [pendingText, rejectedGift])
    }

    /// Rules: R14.11.
    @Test func `the backend is not asked about calls that the fan-out would reject`() throws {
        let receiver = try RecordingReceiver { _, _ in .answer(200, #"{"code":0}"#) }
        let fixture = try Self.fixtureWithGifts(receiver)
        let client = try fixture.cluster.viewer("bob", of: "room")
        /// Checks that the gateway rejects the call for a reason, and forwards that reason to the fan-out.
        func expectRejection(_ reason: Rejection, _ method: String, _ body: String) throws {
            let outcome = try client.call(method, body)
            let rejection = ReplyError(reason.code, FakeCluster.gatewayRejectionMessage)
            #expect(outcome == .failure(error: rejection), "\(reason): \(outcome)")
            let forwardedReason: Rejection? = try fixture.cluster.waitForRecord { record in
                guard let input = record.barrageInput, case .refused(reason, _) = input.command else { return nil }
                return reason
            }
            #expect(forwardedReason == reason)
        }
        // A text has at most 12,288 bytes. A gift is sent at most 255 times at once, and names each receiver once.
        let tooLongText = String(repeating: "x", count: 13_000)
        try expectRejection(.noSuchGift, "gift.send", #"{"live":"room","gift":"tulip"}"#)
        try expectRejection(.giftCount, "gift.send", #"{"live":"room","gift":"rose","count":256}"#)
        try expectRejection(.giftReceivers, "gift.send", #"{"live":"room","gift":"rose","receivers":["o","o"]}"#)
        try expectRejection(.tooLong, "barrage.sendText", Self.textParams(tooLongText))
        try expectRejection(.empty, "barrage.sendText", Self.textParams(""))
        try expectRejection(.noBusinessID, "barrage.sendCustom", #"{"live":"room","businessID":"","data":"x"}"#)
        try expectRejection(.sensitive, "barrage.sendText", Self.textParams("a DURIAN!"))
        // The owner switches messages and gifts off.
        var info = LiveInfo(liveID: "room", liveOwner: UserInfo(userID: "anna")) {
            ($0.isMessageDisable, $0.isGiftEnabled) = (true, false)
        }
        fixture.cluster.gateway.received(
            LiveRecord(app: FakeCluster.app, info: info, epoch: FakeCluster.epoch, revision: 2))
        try expectRejection(.giftsOff, "gift.send", #"{"live":"room","gift":"rose"}"#)
        try expectRejection(.roomMuted, "barrage.sendText", Self.textParams("hello"))
        // Messages are on again. The app gets new settings, with another forbidden word and no gifts. The next two
        // calls must be rejected by the new settings.
        info.isMessageDisable = false
        fixture.cluster.gateway.received(
            LiveRecord(app: FakeCluster.app, info: info, epoch: FakeCluster.epoch, revision: 3))
        fixture.cluster.gateway.received(
            AppRecord(app: FakeCluster.app, revision: 2, settings: AppSettings(words: ["mothball"])))
        try expectRejection(.giftsNotEnabled, "gift.send", #"{"live":"room","gift":"rose"}"#)
        try expectRejection(.sensitive, "barrage.sendText", Self.textParams("mothballs"))
        #expect(receiver.received.isEmpty)
        #expect(try client.call("barrage.sendText", Self.textParams("a durian")) == Self.sent(asItem: 1))
        #expect(receiver.received.count == 1, "the backend decides about a message that the fan-out would accept")
    }
}
