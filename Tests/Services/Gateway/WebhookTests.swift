// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Foundation
import Gateway
import Observability
import PlazaModel
import PlazaWire
import TestSupport
import Testing
import Tokens
import Webhooks

/// Messages and gifts that need a decision of the app's backend.
@Suite(.serialized, .timeLimit(.minutes(1))) struct WebhookTests {
    /// A fixture: a gateway whose app has a backend.
    private final class Hooked {
        let cluster: FakeCluster
        let webhookClient: WebhookClient

        init(_ receiver: WebhookReceiver, message: AppHooks.TimeoutPolicy = .allow, timeout: Duration = .seconds(2))
            throws
        {
            let hooks = AppHooks(
                url: receiver.url, secret: "a secret of the app",
                before: AppHooks.BeforeHooks(message: message, gift: .refuse))
            let webhookClient = WebhookClient(hooks: ["demo": hooks], timeout: timeout, metrics: MetricsRegistry())
            self.webhookClient = webhookClient
            _ = DedicatedThread("test") { webhookClient.run() }
            self.cluster = try FakeCluster(webhookClient: webhookClient)
            self.cluster.create("room")
        }

        /// The commands that were forwarded to the fan-out, in order, each with the number of its call.
        func written() throws -> [(name: String, counter: Int64)] {
            let records = self.cluster.state.withLock { $0.records }.filter { $0.topic == .barrageInbox }
            return try records.map { record in
                switch try Wire.decode(BarrageInput.self, from: record.value ?? []).command {
                case .sendText(_, _, let caller): ("sendText", caller.request.counter)
                case .sendLikes(_, let caller): ("sendLikes", caller.request.counter)
                case .refused(_, let caller): ("refused", caller.request.counter)
                case .forbidden(_, _, let caller): ("forbidden", caller.request.counter)
                case let other: throw WireClient.Failure(description: "\(other) was passed on")
                }
            }
        }

        deinit { self.webhookClient.stop() }
    }

    private static func text(_ text: String) -> String { #"{"live":"room","text":"\#(text)"}"# }

    private static func sent(_ number: Int64) -> Outcome {
        .success(result: .sent(position: FeedPosition(epoch: 10, number: number)))
    }

    /// Rules: R14.10.
    @Test func `a message is forwarded if the backend allows it, else refused with the backend's message`() throws {
        let receiver = try WebhookReceiver { _, received in
            .answer(200, received.text.contains("bad") ? #"{"code":1,"message":"mind your words"}"# : #"{"code":0}"#)
        }
        let hooked = try Hooked(receiver)
        let client = try hooked.cluster.viewer("bob", of: "room")
        #expect(try client.call("barrage.sendText", Self.text("good")) == Self.sent(1))
        #expect(
            try client.call("barrage.sendText", Self.text("bad"))
                == .failure(error: ReplyError(.sensitiveWords, "mind your words")))
        #expect(try hooked.written().map { $0.name } == ["sendText", "forbidden"], "the refused one was not passed on")
        let question = try Wire.decode(WebhookRequest.self, from: try #require(receiver.received.first).body)
        guard case .beforeText(let sender, "good", nil) = question.content else {
            Issue.record("\(question)")
            return
        }
        #expect(sender.userID == "bob" && question.live == "room")
    }

    /// Rules: R14.9.
    @Test func `a backend that does not answer delays only its own app's messages, by its timeout`() throws {
        let receiver = try WebhookReceiver { _, _ in .keepSilent }
        let hooked = try Hooked(receiver, timeout: .milliseconds(300))
        let client = try hooked.cluster.viewer("bob", of: "room")
        let other = try hooked.cluster.viewer("eve", of: "room")
        let began = MonotonicClock.milliseconds
        let first = try client.begin("barrage.sendText", Self.text("one"))
        #expect(try other.answersPing(), "the shard goes on meanwhile")
        #expect(try client.answersPing(), "and so do other calls of the sender")
        #expect(MonotonicClock.milliseconds - began < 290)
        #expect(try client.answer(to: first) == Self.sent(1))
        #expect((290..<3000).contains(MonotonicClock.milliseconds - began))
    }

    @Test func `one client's messages keep their order, whatever the order of the backend's decisions`() throws {
        // The backend never decides about the first message and at once about the others: all are delayed by the first
        // one's timeout.
        let receiver = try WebhookReceiver { index, _ in index == 0 ? .keepSilent : .answer(200, #"{"code":0}"#) }
        let hooked = try Hooked(receiver, timeout: .milliseconds(300))
        let client = try hooked.cluster.viewer("bob", of: "room")
        let ids = try (1...5).map { try client.begin("barrage.sendText", Self.text("m\($0)")) }
        for (index, id) in ids.enumerated() { #expect(try client.answer(to: id) == Self.sent(Int64(index + 1))) }
        #expect(receiver.received.count == 5)
    }

    @Test func `I15 a call that is resent while its decision is pending is asked about once`() throws {
        let receiver = try WebhookReceiver { _, _ in .keepSilent }
        let hooked = try Hooked(receiver, timeout: .milliseconds(300))
        let client = try hooked.cluster.viewer("bob", of: "room")
        let id = try client.begin("barrage.sendText", Self.text("one"), id: 77)
        _ = try client.begin("barrage.sendText", Self.text("one"), id: 77)
        #expect(try client.answer(to: id) == Self.sent(1))
        #expect(receiver.received.count == 1)
        #expect(hooked.cluster.count { $0.topic == .barrageInbox } == 1)
    }

    @Test func `I16 calls that are pending at the backend count towards the limit of open calls`() throws {
        let receiver = try WebhookReceiver { _, _ in .keepSilent }
        let hooked = try Hooked(receiver, timeout: .seconds(2))
        let client = try hooked.cluster.viewer("bob", of: "room")
        for number in 1...16 { _ = try client.begin("barrage.sendText", Self.text("m\(number)")) }
        for (method, params) in [
            ("barrage.sendText", Self.text("one too many")), ("like.send", #"{"live":"room","count":1}"#),
            ("live.summary", #"{"live":"room"}"#),
        ] {
            guard case .failure(let error) = try client.call(method, params) else {
                Issue.record("\(method) was taken")
                continue
            }
            #expect(error.code == .overloaded && error.retryAfter != nil, "\(method)")
        }
    }

    /// Rules: R14.12.
    @Test func `I15 no call of a client overtakes its call whose decision is pending`() throws {
        let receiver = try WebhookReceiver { index, _ in index == 0 ? .keepSilent : .answer(200, #"{"code":0}"#) }
        let hooked = try Hooked(receiver, timeout: .milliseconds(300))
        let client = try hooked.cluster.viewer("bob", of: "room")
        let asked = try client.begin("barrage.sendText", Self.text("one"))
        // Likes and calls rejected without asking would push the text's number out of the idempotency window.
        let likes = try (1...7).map { _ in try client.begin("like.send", #"{"live":"room","count":1}"#) }
        let empty = try (1...7).map { _ in try client.begin("barrage.sendText", Self.text("")) }
        let last = try client.begin("barrage.sendText", Self.text("two"))
        #expect(try client.answer(to: asked) == Self.sent(1))
        for like in likes { #expect(try client.answer(to: like) == .success(result: .done)) }
        for call in empty {
            #expect(try client.answer(to: call) == .failure(error: ReplyError(.badParameter, "refused unasked")))
        }
        #expect(try client.answer(to: last) == Self.sent(2))
        let written = try hooked.written()
        #expect(written.map(\.counter) == [asked] + likes + empty + [last], "\(written)")
    }

    @Test func `I15 a resent call gets its first outcome, whatever the backend decides then`() throws {
        let no = #"{"code":1,"message":"no more"}"#
        let answers = [#"{"code":0}"#, no, no, #"{"code":0}"#]
        let receiver = try WebhookReceiver { index, _ in .answer(200, answers[index % 4]) }
        let hooked = try Hooked(receiver)
        let client = try hooked.cluster.viewer("bob", of: "room")
        let refused = Outcome.failure(error: ReplyError(.sensitiveWords, "no more"))
        for _ in 1...2 { #expect(try client.call("barrage.sendText", Self.text("one"), id: 77) == Self.sent(1)) }
        for _ in 1...2 { #expect(try client.call("barrage.sendText", Self.text("two"), id: 78) == refused) }
        #expect(try client.feed(upTo: 1) == [1])
        let questions = try receiver.received.map { try Wire.decode(WebhookRequest.self, from: $0.body).id }
        #expect(questions.count == 4 && Set(questions).count == 2, "each question's id is its call's")
        #expect(try hooked.written().map(\.name) == ["sendText", "forbidden", "forbidden", "sendText"])
    }

    @Test func `the backend is not asked about its server's messages or those of users outside the live`() throws {
        let receiver = try WebhookReceiver { _, _ in .answer(200, #"{"code":1}"#) }
        let hooked = try Hooked(receiver)
        let (client, _) = try hooked.cluster.client("bob")
        guard case .failure(let error) = try client.call("barrage.sendText", Self.text("hi")) else {
            Issue.record("it was taken")
            return
        }
        #expect(error.code == .notInRoom)
        let (server, _) = try hooked.cluster.client("shop", role: .server)
        #expect(try server.call("barrage.sendText", Self.text("hi")) == Self.sent(1))
        #expect(receiver.received.isEmpty)
    }

    /// Creates a gateway that has the app's gifts and words.
    private static func equipped(_ receiver: WebhookReceiver, timeout: Duration = .seconds(2)) throws -> Hooked {
        let hooked = try Hooked(receiver, timeout: timeout)
        let rose = Gift(giftID: "rose", name: "Rose", coins: 5)
        let settings = AppSettings(
            words: ["Durian"], gifts: [GiftCategory(categoryID: "a", name: "A", gifts: [rose])])
        hooked.cluster.gateway.received(AppRecord(app: FakeCluster.app, revision: 1, settings: settings))
        return hooked
    }

    /// Rules: R11.5.
    @Test func `the webhook contains the gift's total price for all receivers`() throws {
        let receiver = try WebhookReceiver { _, _ in .answer(200, #"{"code":0}"#) }
        let hooked = try Self.equipped(receiver)
        let client = try hooked.cluster.viewer("bob", of: "room")
        for body in [
            #"{"live":"room","gift":"rose","count":2,"receivers":["o","x","y"]}"#,
            #"{"live":"room","gift":"rose","count":2}"#,
        ] { #expect(try client.call("gift.send", body) == .success(result: .done)) }
        var prices: [Int64] = []
        var named: [[UserID]] = []
        for request in receiver.received {
            let question = try Wire.decode(WebhookRequest.self, from: request.body)
            guard case .beforeGift(_, "rose", 2, let coins, let receivers) = question.content else { continue }
            prices.append(coins)
            named.append(receivers)
        }
        #expect(prices == [30, 10])
        #expect(named == [["o", "x", "y"], ["anna"]], "without receivers it is the owner's")
    }

    @Test func `an unknown gift is rejected without asking, in the order of its sender's calls`() throws {
        let receiver = try WebhookReceiver { _, _ in .keepSilent }
        let hooked = try Self.equipped(receiver, timeout: .milliseconds(300))
        let client = try hooked.cluster.viewer("bob", of: "room")
        let tulip = #"{"live":"room","gift":"tulip"}"#
        let refused = Outcome.failure(error: ReplyError(.noSuchGift, "refused unasked"))
        #expect(try client.call("gift.send", tulip) == refused)
        #expect(receiver.received.isEmpty)
        let began = MonotonicClock.milliseconds
        let asked = try client.begin("barrage.sendText", Self.text("one"))
        let behind = try client.begin("gift.send", tulip)
        #expect(try client.answersPing())
        #expect(try hooked.written().map { $0.name } == ["refused"], "the second waits")
        #expect(try client.answer(to: behind) == refused)
        #expect(MonotonicClock.milliseconds - began >= 290)
        #expect(try client.answer(to: asked) == Self.sent(1))
        #expect(try hooked.written().suffix(2).map { $0.counter } == [asked, behind])
    }

    /// Rules: R14.11.
    @Test func `the backend is not asked about calls that the fan-out would reject`() throws {
        let receiver = try WebhookReceiver { _, _ in .answer(200, #"{"code":0}"#) }
        let hooked = try Self.equipped(receiver)
        let client = try hooked.cluster.viewer("bob", of: "room")
        func expect(_ why: Rejection, _ method: String, _ body: String) throws {
            let outcome = try client.call(method, body)
            #expect(outcome == .failure(error: ReplyError(why.code, "refused unasked")), "\(why): \(outcome)")
            let told: Rejection? = try hooked.cluster.record { record in
                guard let value = record.value, let input = try? Wire.decode(BarrageInput.self, from: value),
                    case .refused(why, _) = input.command
                else { return nil }
                return why
            }
            #expect(told == why)
        }
        let long = String(repeating: "x", count: 13_000)
        try expect(.noSuchGift, "gift.send", #"{"live":"room","gift":"tulip"}"#)
        try expect(.giftCount, "gift.send", #"{"live":"room","gift":"rose","count":256}"#)
        try expect(.giftReceivers, "gift.send", #"{"live":"room","gift":"rose","receivers":["o","o"]}"#)
        try expect(.tooLong, "barrage.sendText", Self.text(long))
        try expect(.empty, "barrage.sendText", Self.text(""))
        try expect(.noBusinessID, "barrage.sendCustom", #"{"live":"room","businessID":"","data":"x"}"#)
        try expect(.sensitive, "barrage.sendText", Self.text("a DURIAN!"))
        var info = LiveInfo(liveID: "room", liveOwner: UserInfo(userID: "anna")) {
            ($0.isMessageDisable, $0.isGiftEnabled) = (true, false)
        }
        hooked.cluster.gateway.received(
            LiveRecord(app: FakeCluster.app, info: info, epoch: FakeCluster.epoch, revision: 2))
        try expect(.giftsOff, "gift.send", #"{"live":"room","gift":"rose"}"#)
        try expect(.roomMuted, "barrage.sendText", Self.text("hello"))
        // The current word list applies, not the first one that was read.
        info.isMessageDisable = false
        hooked.cluster.gateway.received(
            LiveRecord(app: FakeCluster.app, info: info, epoch: FakeCluster.epoch, revision: 3))
        hooked.cluster.gateway.received(
            AppRecord(app: FakeCluster.app, revision: 2, settings: AppSettings(words: ["mothball"])))
        try expect(.giftsNotEnabled, "gift.send", #"{"live":"room","gift":"rose"}"#)
        try expect(.sensitive, "barrage.sendText", Self.text("mothballs"))
        #expect(receiver.received.isEmpty)
        #expect(try client.call("barrage.sendText", Self.text("a durian")) == Self.sent(1))
        #expect(receiver.received.count == 1, "what may enter is asked about")
    }
}
