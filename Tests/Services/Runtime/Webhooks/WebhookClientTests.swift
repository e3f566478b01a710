// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Concurrency
import Foundation
import MachineKit
import Observability
import PlazaModel
import PlazaWire
import TestSupport
import Testing
import Webhooks

/// Tests of `WebhookClient`, which asks an app's backend whether a message or a gift is allowed.
///
/// The backend is a `RecordingReceiver`, an HTTP server of the test. The code 0 in the body of its response allows the
/// call, and any other code refuses it. Without a valid response, the timeout policy of the app decides.
@Suite(.timeLimit(.minutes(1))) struct WebhookClientTests {
    private static let sender = UserInfo(userID: "bob")
    private static let text = BeforeContent.beforeText(sender: sender, text: "hello", extensionInfo: nil)
    private static let gift = BeforeContent.beforeGift(
        sender: sender, giftID: "rose", count: 2, coins: 10, receivers: [])

    /// A client that runs on a dedicated thread and asks the backend of the app `demo`.
    ///
    /// `message` and `gift` are the timeout policies; with nil the backend is not asked about these calls.
    private final class RunningClient: Sendable {
        let webhookClient: WebhookClient

        init(
            _ url: String, message: AppHooks.TimeoutPolicy? = .allow, gift: AppHooks.TimeoutPolicy? = .refuse,
            timeout: Duration = .seconds(2)
        ) {
            let hooks = AppHooks(
                url: url, secret: "a secret of the app", before: AppHooks.BeforeHooks(message: message, gift: gift))
            let webhookClient = WebhookClient(hooks: ["demo": hooks], timeout: timeout, metrics: MetricsRegistry())
            self.webhookClient = webhookClient
            _ = DedicatedThread("test") { webhookClient.run() }
        }

        deinit { self.webhookClient.stop() }

        /// Asks the backend; the result is a refusal, too, if the client rejects the request without asking.
        func requestDecision(_ content: BeforeContent, app: AppID = "demo") async -> WebhookDecision {
            let request = WebhookRequest(
                id: "s-1/9", key: LiveKey(app, "concert"), at: Timestamp(milliseconds: 1), content: content)
            return await withCheckedContinuation { continuation in
                do throws(ReplyError) {
                    try self.webhookClient.send(request) { continuation.resume(returning: $0) }
                } catch {
                    continuation.resume(returning: .refused(error))
                }
            }
        }
    }

    /// The code with which a decision refuses a call; nil if the call is allowed.
    private func refusalCode(_ decision: WebhookDecision) -> ReplyCode? {
        if case .refused(let error) = decision { return error.code }
        return nil
    }

    /// Rules: R14.7.
    @Test func `the backend's response decides, and the request contains all fields`() async throws {
        let receiver = try RecordingReceiver { index, _ in
            index == 0 ? .answer(200, #"{"code":0}"#) : .answer(200, #"{"code":1,"message":"not today"}"#)
        }
        let client = RunningClient(receiver.url)
        #expect(await client.requestDecision(Self.gift) == .allowed)
        #expect(await client.requestDecision(Self.gift) == .refused(ReplyError(.giftCheckFailed, "not today")))
        #expect(await client.requestDecision(Self.text) == .refused(ReplyError(.sensitiveWords, "not today")))
        let received = try #require(receiver.received.first)
        #expect(received.headers["liveplaza-event"] == "beforeGift" && received.headers["liveplaza-signature"] != nil)
        let request = try Wire.decode(WebhookRequest.self, from: received.body)
        #expect(request.content == Self.gift && request.id == "s-1/9" && request.live == "concert")
    }

    // The code of the backend, and the code that the sender gets. An app may use the codes from 102100 to 102200 as its
    // own. The standard code `giftCheckFailed` is 102004.
    /// Rules: R14.8.
    @Test(arguments: [(102_100, 102_100), (102_200, 102_200), (102_099, 102_004), (102_201, 102_004), (-5, 102_004)])
    func `the sender of a refused gift gets the backend's code if it is an app's own, else the standard code`(
        backendCode: Int, senderCode: Int
    ) async throws {
        let receiver = try RecordingReceiver { _, _ in .answer(200, #"{"code":\#(backendCode)}"#) }
        #expect(self.refusalCode(await RunningClient(receiver.url).requestDecision(Self.gift)) == ReplyCode(senderCode))
    }

    /// Rules: R11.6.
    @Test(
        arguments: [
            (500, #"{"code":0}"#), (204, ""), (200, ""), (200, "yes"), (200, "{}"), (200, #"{"code":"0"}"#),
            (200, #"{"code":0,}"#), (200, #"{"code":0,"list":[1,]}"#), (200, #"{"code":0,"n":01}"#),
        ])
    func `after an invalid response the timeout policy decides, as after no response`(status: Int, body: String)
        async throws
    {
        let receiver = try RecordingReceiver { _, _ in .answer(status, body) }
        let client = RunningClient(receiver.url)
        #expect(self.refusalCode(await client.requestDecision(Self.gift)) == .giftCheckFailed)
        #expect(await client.requestDecision(Self.text) == .allowed)
        let clientWithOppositePolicies = RunningClient(receiver.url, message: .refuse, gift: .allow)
        #expect(await clientWithOppositePolicies.requestDecision(Self.gift) == .allowed)
        #expect(self.refusalCode(await clientWithOppositePolicies.requestDecision(Self.text)) == .sensitiveWords)
    }

    /// Rules: R11.6.
    @Test func `a silent or dead backend delays a call no longer than the timeout`() async throws {
        let receiver = try RecordingReceiver { _, _ in .keepSilent }
        let client = RunningClient(receiver.url, timeout: .milliseconds(200))
        let startMilliseconds = MonotonicClock.now.milliseconds
        #expect(self.refusalCode(await client.requestDecision(Self.gift)) == .giftCheckFailed)
        // The lower bound is a little below the timeout of 200 ms, because clocks round. The upper bound is large,
        // because the computer may be busy.
        #expect((190..<20_000).contains(MonotonicClock.now.milliseconds - startMilliseconds))
        #expect(receiver.received.count <= 1, "the client must not send the request again")
        let clientOfDeadBackend = RunningClient("http://127.0.0.1:\(try FreePort.find())/")
        #expect(self.refusalCode(await clientOfDeadBackend.requestDecision(Self.gift)) == .giftCheckFailed)
    }

    /// A request for a decision about a message of a user.
    private func request(_ user: String, app: AppID = "demo") -> WebhookRequest {
        WebhookRequest(
            id: "s-1/9", key: LiveKey(app, "concert"), at: Timestamp(milliseconds: 1),
            content: .beforeText(sender: UserInfo(userID: UserID(user)), text: "x", extensionInfo: nil))
    }

    /// Rules: R14.24.
    @Test func `I16 messages beyond a user's or an app's share of requests are refused as overloaded`() throws {
        let receiver = try RecordingReceiver { _, _ in .keepSilent }
        let client = RunningClient(receiver.url, timeout: .seconds(30))
        // The backend never answers. 16 requests of a user and 64 of an app may be open at the same time.
        for _ in 0..<16 { try client.webhookClient.send(self.request("anna")) { _ in } }
        let error = #expect(throws: ReplyError.self) {
            try client.webhookClient.send(self.request("anna")) { _ in Issue.record("the backend decided") }
        }
        #expect(error?.code == .overloaded && error?.retryAfter == 1000)
        // With the 16 requests of anna, the app has 4 * 16 = 64 open requests, its whole share.
        for user in ["bob", "eve", "joe"] {
            for _ in 0..<16 { try client.webhookClient.send(self.request(user)) { _ in } }
        }
        #expect(throws: ReplyError.self, "the app's share is used up") {
            try client.webhookClient.send(self.request("tom")) { _ in Issue.record("the backend decided") }
        }
    }

    /// Rules: R14.24.
    @Test func `I16 apps with silent backends cannot use up the requests of another app`() async throws {
        let silentBackend = try RecordingReceiver { _, _ in .keepSilent }
        let workingBackend = try RecordingReceiver { _, _ in .answer(200, #"{"code":0}"#) }
        var hooks: [AppID: AppHooks] = [:]
        let before = AppHooks.BeforeHooks(message: .refuse, gift: .refuse)
        for number in 0..<9 {
            hooks[AppID("slow\(number)")] = AppHooks(
                url: silentBackend.url, secret: "a secret of the app", before: before)
        }
        hooks["demo"] = AppHooks(url: workingBackend.url, secret: "a secret of the app", before: before)
        let client = WebhookClient(hooks: hooks, timeout: .seconds(30), metrics: MetricsRegistry())
        _ = DedicatedThread("test") { client.run() }
        defer { client.stop() }
        // All apps together may have 256 open requests, so the share of each of the ten apps is 256 / 10, rounded down:
        // 25. Each app except `demo` sends more requests than its share, and gets no answer.
        for app in hooks.keys where app != "demo" {
            for number in 0..<200 { try? client.send(self.request("u\(number)", app: app)) { _ in } }
        }
        let decision = await withCheckedContinuation { continuation in
            do throws(ReplyError) {
                try client.send(self.request("anna")) { continuation.resume(returning: $0) }
            } catch {
                continuation.resume(returning: .refused(error))
            }
        }
        #expect(decision == .allowed)
    }

    @Test func `a backend is asked only about the kinds of calls that its app has configured`() async throws {
        let receiver = try RecordingReceiver { _, _ in .answer(200, #"{"code":1}"#) }
        // The app `demo` has no policy for messages, and the app `other` has no hooks.
        let client = RunningClient(receiver.url, message: nil)
        #expect(!client.webhookClient.isDecisionRequired("demo", forGifts: false))
        #expect(client.webhookClient.isDecisionRequired("demo", forGifts: true))
        #expect(!client.webhookClient.isDecisionRequired("other", forGifts: true))
        #expect(await client.requestDecision(Self.text) == .allowed)
        #expect(await client.requestDecision(Self.gift, app: "other") == .allowed)
        #expect(receiver.received.isEmpty)
    }
}
