// SPDX-License-Identifier: Apache-2.0
import Concurrency
import CoreKit
import Foundation
import Observability
import PlazaModel
import PlazaWire
import TestSupport
import Testing
import Webhooks

/// Questions to a backend that allows, refuses, is slow, or is not there.
@Suite(.timeLimit(.minutes(1))) struct HookAskerTests {
    private static let sender = UserInfo(userID: "bob")
    private static let text = BeforeContent.beforeText(sender: sender, text: "hello", extensionInfo: nil)
    private static let gift = BeforeContent.beforeGift(
        sender: sender, giftID: "rose", count: 2, coins: 10, receivers: [])

    private final class Running: Sendable {
        let asker: HookAsker

        init(
            _ url: String, message: AppHooks.Silence? = .allow, gift: AppHooks.Silence? = .refuse, timeout: Int = 2000
        ) {
            let hooks = AppHooks(
                url: url, secret: "a secret of the app", before: AppHooks.Before(message: message, gift: gift))
            let asker = HookAsker(hooks: ["demo": hooks], timeoutMilliseconds: timeout, metrics: MetricsRegistry())
            self.asker = asker
            Thread.detachNewThread { asker.run() }
        }

        deinit { self.asker.stop() }

        func ask(_ content: BeforeContent, app: AppID = "demo") async -> HookVerdict {
            let question = HookQuestion(
                id: "s-1/9", key: LiveKey(app, "concert"), at: Timestamp(milliseconds: 1), content: content)
            return await withCheckedContinuation { continuation in
                self.asker.ask(question) { continuation.resume(returning: $0) }
            }
        }
    }

    private func code(_ verdict: HookVerdict) -> ReplyCode? {
        if case .refused(let error) = verdict { return error.code }
        return nil
    }

    @Test func `a backend's word decides, and gets all there is to know`() async throws {
        let receiver = try HookReceiver { index, _ in
            index == 0 ? .answer(200, #"{"code":0}"#) : .answer(200, #"{"code":1,"message":"not today"}"#)
        }
        let running = Running(receiver.url)
        #expect(await running.ask(Self.gift) == .allowed)
        #expect(await running.ask(Self.gift) == .refused(ReplyError(.giftCheckFailed, "not today")))
        #expect(await running.ask(Self.text) == .refused(ReplyError(.sensitiveWords, "not today")))
        let first = try #require(receiver.received.first)
        #expect(first.headers["liveplaza-event"] == "beforeGift" && first.headers["liveplaza-signature"] != nil)
        let question = try Wire.decode(HookQuestion.self, from: first.body)
        #expect(question.content == Self.gift && question.id == "s-1/9" && question.live == "concert")
    }

    @Test(arguments: [(102_100, 102_100), (102_200, 102_200), (102_099, 102_004), (102_201, 102_004), (-5, 102_004)])
    func `an app's own codes for gifts are passed on, others become one`(said: Int, given: Int) async throws {
        let receiver = try HookReceiver { _, _ in .answer(200, #"{"code":\#(said)}"#) }
        #expect(self.code(await Running(receiver.url).ask(Self.gift)) == ReplyCode(given))
    }

    @Test(
        arguments: [
            (500, #"{"code":0}"#), (204, ""), (200, ""), (200, "yes"), (200, "{}"), (200, #"{"code":"0"}"#),
            (200, #"{"code":0,}"#), (200, #"{"code":0,"list":[1,]}"#), (200, #"{"code":0,"n":01}"#),
        ])
    func `what is no answer is silence, which refuses gifts and allows messages`(status: Int, body: String) async throws
    {
        let receiver = try HookReceiver { _, _ in .answer(status, body) }
        let running = Running(receiver.url)
        #expect(self.code(await running.ask(Self.gift)) == .giftCheckFailed)
        #expect(await running.ask(Self.text) == .allowed)
        let turned = Running(receiver.url, message: .refuse, gift: .allow)
        #expect(await turned.ask(Self.gift) == .allowed)
        #expect(self.code(await turned.ask(Self.text)) == .sensitiveWords)
    }

    @Test func `a silent or dead backend is waited for no longer than its time`() async throws {
        let receiver = try HookReceiver { _, _ in .keepSilent }
        let running = Running(receiver.url, timeout: 200)
        let began = MonotonicClock.milliseconds
        #expect(self.code(await running.ask(Self.gift)) == .giftCheckFailed)
        #expect((190..<20_000).contains(MonotonicClock.milliseconds - began))
        let dead = Running("http://127.0.0.1:\(try FreePort.find())/")
        #expect(self.code(await dead.ask(Self.gift)) == .giftCheckFailed)
    }

    @Test func `I16 beyond so many questions of an app under way, silence is assumed at once`() async throws {
        let receiver = try HookReceiver { _, _ in .keepSilent }
        let running = Running(receiver.url, timeout: 30_000)
        let question = HookQuestion(
            id: "s-1/9", key: LiveKey("demo", "concert"), at: Timestamp(milliseconds: 1), content: Self.gift)
        for _ in 0..<64 { running.asker.ask(question) { _ in } }
        let began = MonotonicClock.milliseconds
        #expect(self.code(await running.ask(Self.gift)) == .giftCheckFailed)
        #expect(await running.ask(Self.text) == .allowed)
        #expect(MonotonicClock.milliseconds - began < 5000)
    }

    @Test func `who wants no questions gets none`() async throws {
        let receiver = try HookReceiver { _, _ in .answer(200, #"{"code":1}"#) }
        let running = Running(receiver.url, message: nil)
        #expect(!running.asker.asks("demo", aboutGifts: false) && running.asker.asks("demo", aboutGifts: true))
        #expect(!running.asker.asks("other", aboutGifts: true))
        #expect(await running.ask(Self.text) == .allowed)
        #expect(await running.ask(Self.gift, app: "other") == .allowed)
        #expect(receiver.received.isEmpty)
    }
}
