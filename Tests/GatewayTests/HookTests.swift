// SPDX-License-Identifier: Apache-2.0
import Concurrency
import CoreKit
import Foundation
import Gateway
import Observability
import PlazaModel
import PlazaWire
import TestSupport
import Testing
import Tokens
import Webhooks

/// Messages that an app's backend is asked about before they go on.
@Suite(.serialized, .timeLimit(.minutes(1))) struct HookTests {
    /// A gateway whose app has a backend.
    private final class Hooked {
        let cluster: FakeCluster
        let asker: HookAsker

        init(_ receiver: HookReceiver, message: AppHooks.Silence = .allow, timeout: Int = 2000) throws {
            let hooks = AppHooks(
                url: receiver.url, secret: "a secret of the app", before: AppHooks.Before(message: message))
            let asker = HookAsker(hooks: ["demo": hooks], timeoutMilliseconds: timeout, metrics: MetricsRegistry())
            self.asker = asker
            Thread.detachNewThread { asker.run() }
            self.cluster = try FakeCluster(asker: asker)
            self.cluster.create("room")
        }

        deinit { self.asker.stop() }
    }

    private static func text(_ text: String) -> String { #"{"live":"room","text":"\#(text)"}"# }

    private static func sent(_ number: Int64) -> Outcome {
        .success(result: .sent(position: FeedPosition(epoch: 10, number: number)))
    }

    @Test func `a message goes on when the backend allows it, and is refused with its words when not`() throws {
        let receiver = try HookReceiver { _, received in
            .answer(200, received.text.contains("bad") ? #"{"code":1,"message":"mind your words"}"# : #"{"code":0}"#)
        }
        let hooked = try Hooked(receiver)
        let client = try hooked.cluster.viewer("bob", of: "room")
        #expect(try client.call("barrage.sendText", Self.text("good")) == Self.sent(1))
        #expect(
            try client.call("barrage.sendText", Self.text("bad"))
                == .failure(error: ReplyError(.sensitiveWords, "mind your words")))
        #expect(hooked.cluster.count { $0.topic == .barrageInbox } == 1, "nothing of the refused one was written")
        let question = try Wire.decode(HookQuestion.self, from: try #require(receiver.received.first).body)
        guard case .beforeText(let sender, "good", nil) = question.content else {
            Issue.record("\(question)")
            return
        }
        #expect(sender.userID == "bob" && question.live == "room")
    }

    @Test func `a silent backend delays its own app's messages by its time-out alone`() throws {
        let receiver = try HookReceiver { _, _ in .keepSilent }
        let hooked = try Hooked(receiver, timeout: 300)
        let client = try hooked.cluster.viewer("bob", of: "room")
        let other = try hooked.cluster.viewer("eve", of: "room")
        let began = MonotonicClock.milliseconds
        let first = try client.begin("barrage.sendText", Self.text("one"))
        #expect(try other.call("ping") == .success(result: .done), "the shard goes on meanwhile")
        #expect(try client.call("ping") == .success(result: .done), "and so do other calls of the sender")
        #expect(MonotonicClock.milliseconds - began < 290)
        #expect(try client.answer(to: first) == Self.sent(1))
        #expect((290..<3000).contains(MonotonicClock.milliseconds - began))
    }

    @Test func `what one client says keeps its order, whatever the backend's answers do`() throws {
        // The first answer never comes, the others at once: all wait for the first, and no longer than its time.
        let receiver = try HookReceiver { index, _ in index == 0 ? .keepSilent : .answer(200, #"{"code":0}"#) }
        let hooked = try Hooked(receiver, timeout: 300)
        let client = try hooked.cluster.viewer("bob", of: "room")
        let ids = try (1...5).map { try client.begin("barrage.sendText", Self.text("m\($0)")) }
        for (index, id) in ids.enumerated() { #expect(try client.answer(to: id) == Self.sent(Int64(index + 1))) }
        #expect(receiver.received.count == 5)
    }

    @Test func `I15 a call that is sent again while the backend is asked is asked about once`() throws {
        let receiver = try HookReceiver { _, _ in .keepSilent }
        let hooked = try Hooked(receiver, timeout: 300)
        let client = try hooked.cluster.viewer("bob", of: "room")
        let id = try client.begin("barrage.sendText", Self.text("one"), id: 77)
        _ = try client.begin("barrage.sendText", Self.text("one"), id: 77)
        #expect(try client.answer(to: id) == Self.sent(1))
        #expect(receiver.received.count == 1)
        #expect(hooked.cluster.count { $0.topic == .barrageInbox } == 1)
    }

    @Test func `I16 a client has no more calls open at the backend than elsewhere`() throws {
        let receiver = try HookReceiver { _, _ in .keepSilent }
        let hooked = try Hooked(receiver, timeout: 2000)
        let client = try hooked.cluster.viewer("bob", of: "room")
        for number in 1...16 { _ = try client.begin("barrage.sendText", Self.text("m\(number)")) }
        guard case .failure(let error) = try client.call("barrage.sendText", Self.text("one too many")) else {
            Issue.record("it was taken")
            return
        }
        #expect(error.code == .overloaded && error.retryAfter != nil)
    }

    @Test func `an app's server is not asked about its own messages, and who is not in the room asks nobody`() throws {
        let receiver = try HookReceiver { _, _ in .answer(200, #"{"code":1}"#) }
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
}
