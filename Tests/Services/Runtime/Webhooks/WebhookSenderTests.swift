// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Foundation
import KafkaClient
import MachineKit
import Observability
import PlazaModel
import PlazaWire
import ServiceShell
import TestSupport
import Testing
import Webhooks

/// Tests of the sender, which sends webhook events to the apps' backends, with a broker and backends on this machine.
@Suite(.serialized, .timeLimit(.minutes(2))) struct WebhookSenderTests {
    private static let secret = "a secret of the app"

    /// A broker, and senders that share it.
    private final class SenderHarness {
        private let broker: TopicBroker
        let metrics = MetricsRegistry()
        private let settings: ShellSettings
        private let producer: KafkaProducer

        /// Uses a real broker if a session timeout is given, and the in-memory broker otherwise.
        init(session: GroupSessionTimeout? = nil) throws {
            let isReal = session != nil
            self.broker = try TopicBroker(isReal: isReal, clientID: "webhooks-test")
            var settings = ShellSettings(
                kafka: self.broker.settings, instance: "room-directory-1", partitions: TopicBroker.partitions,
                mode: isReal ? .full : .embedded)
            if let session { settings.sessionTimeout = session }
            self.settings = settings
            self.producer = try KafkaProducer(self.broker.settings)
        }

        /// Starts a sender with short pauses on a dedicated thread; `change` changes the limits of its queue.
        func start(_ hooks: [AppID: AppHooks], change: (inout DeliveryQueue.Limits) -> Void = { _ in }) -> RunningSender
        {
            var limits = DeliveryQueue.Limits()
            limits.minRetryPause = Milliseconds(20)
            change(&limits)
            return RunningSender(
                WebhookSender(
                    hooks: hooks, settings: self.settings, limits: limits, log: .none, metrics: self.metrics))
        }

        func publish(_ event: WebhookEvent) throws {
            try self.producer.send(TopicRecord(.webhook(event)).outgoing(partitions: TopicBroker.partitions))
        }

        /// Waits until a counter has reached `value`.
        ///
        /// - Returns: whether the counter has reached it within 15 s.
        func waitForMetric(_ name: String, toReach value: Int) async -> Bool {
            let deadline = ContinuousClock.now + .seconds(15)
            while self.metric(name) < value {
                guard ContinuousClock.now < deadline else { return false }
                await runOnDedicatedThread { DedicatedThread.sleep(for: .milliseconds(5)) }
            }
            return true
        }

        /// The sum of a counter over all its labels.
        func metric(_ name: String) -> Int {
            let family = self.metrics.snapshot().first { $0.name == name }
            return (family?.samples ?? []).reduce(0) { sum, sample in
                if case .number(let value) = sample.value { sum + Int(value) } else { sum }
            }
        }
    }

    /// A sender that runs on a dedicated thread.
    private final class RunningSender: Sendable {
        private let sender: WebhookSender
        private let thread: DedicatedThread

        init(_ sender: WebhookSender) {
            self.sender = sender
            self.thread = DedicatedThread("test") { sender.run() }
        }

        func stop() {
            self.sender.stop()
            _ = self.thread.join(timeout: .seconds(10))
        }
    }

    /// Hooks whose backend is `receiver`, for these events; nil for all events.
    private func hooks(_ receiver: WebhookReceiver, events: [WebhookName]? = nil) -> AppHooks {
        AppHooks(url: receiver.url, secret: Self.secret, events: events)
    }

    /// An event whose time, in milliseconds, is its number.
    private func event(_ number: Int64, live: LiveID = "concert", app: AppID = "demo") -> WebhookEvent {
        WebhookEvent(
            LiveKey(app, live), at: Timestamp(milliseconds: number),
            .memberState(isOnline: true, cause: .enter, users: [UserInfo(userID: "bob")]))
    }

    /// The numbers of the received events, by live.
    private func numbers(_ received: [WebhookReceiver.Received]) -> [String: [Int64]] {
        var numbers: [String: [Int64]] = [:]
        for request in received {
            guard let event = try? Wire.decode(WebhookEvent.self, from: request.body) else {
                Issue.record("no event: \(request.text)")
                continue
            }
            numbers[event.live.text, default: []].append(event.at.milliseconds)
        }
        return numbers
    }

    /// Rules: R14.1.
    @Test func `an event reaches the app's backend, signed and named`() async throws {
        let receiver = try WebhookReceiver { _, _ in .answer(204, "") }
        let harness = try SenderHarness()
        let sender = harness.start(["demo": self.hooks(receiver)])
        defer { sender.stop() }
        try harness.publish(self.event(7))
        let received = try #require(await runOnDedicatedThread { receiver.wait { $0.count == 1 } }?.first)
        #expect(received.headers["liveplaza-event"] == "memberState")
        let seconds = try #require(received.headers["liveplaza-timestamp"].flatMap { Int64($0) })
        #expect(abs(seconds - WallClock.milliseconds() / 1000) < 60)
        #expect(
            received.headers["liveplaza-signature"]
                == WebhookPost.signature(of: received.body, at: seconds, secret: Self.secret))
        let body = try Wire.decode(JSONValue.self, from: received.body)
        #expect(body.members["app"] == "demo" && body.members["live"] == "concert" && body.members["v"] == 1)
        guard case .text(let id)? = body.members["id"] else {
            Issue.record("the event has no id: \(received.text)")
            return
        }
        #expect(id.hasSuffix("-0"), "the offset of the event")
    }

    @Test(.enabled(if: LiveKafka.isAvailable, "set KAFKA_HOME"))
    func `a sender whose session timeout a broker rejects requests a longer one`() async throws {
        let receiver = try WebhookReceiver { _, _ in .answer(204, "") }
        // The tests' broker accepts 1000 ms or more, so the sender then requests the next longer timeout, 2 s.
        let session = GroupSessionTimeout(first: .milliseconds(600))
        let harness = try SenderHarness(session: session)
        let sender = harness.start(["demo": self.hooks(receiver)])
        defer { sender.stop() }
        try harness.publish(self.event(7))
        #expect(await runOnDedicatedThread { receiver.wait { $0.count == 1 } } != nil)
        #expect(session.timeout == .seconds(2))
    }

    /// Rules: R14.5.
    @Test func `events of a live arrive in order despite failures, and each is repeated until it is accepted`()
        async throws
    {
        // Every third request fails.
        let receiver = try WebhookReceiver { index, _ in index % 3 == 1 ? .answer(500, "later") : .answer(200, "{}") }
        let harness = try SenderHarness()
        let sender = harness.start(["demo": self.hooks(receiver)])
        defer { sender.stop() }
        for number in 1...20 {
            for live in ["a", "b", "c"] { try harness.publish(self.event(Int64(number), live: LiveID(live))) }
        }
        let received = try #require(
            await runOnDedicatedThread {
                receiver.wait(timeout: .seconds(60)) { received in
                    let numbersByLive = self.numbers(received)
                    return ["a", "b", "c"].allSatisfy { Set(numbersByLive[$0] ?? []).count == 20 }
                }
            })
        for (live, numbers) in self.numbers(received) {
            // An event may be repeated, but no event arrives before an earlier one.
            #expect(numbers == numbers.sorted() && Set(numbers) == Set(1...20), "\(live): \(numbers)")
        }
    }

    /// Rules: R14.4.
    @Test func `a dead backend loses only the events of its own app`() async throws {
        let deadHooks = AppHooks(url: "http://127.0.0.1:\(try FreePort.find())/", secret: Self.secret)
        let failingBackend = try WebhookReceiver { _, _ in .answer(500, "") }
        let receiver = try WebhookReceiver { _, _ in .answer(200, "{}") }
        let harness = try SenderHarness()
        let hooks: [AppID: AppHooks] = [
            "dead": deadHooks, "failing": self.hooks(failingBackend), "demo": self.hooks(receiver),
        ]
        let sender = harness.start(hooks) { limits in
            limits.maxAttempts = 3
            limits.maxPerApp = 5
        }
        defer { sender.stop() }
        for app: AppID in ["dead", "failing", "demo"] {
            for number in 1...20 { try harness.publish(self.event(Int64(number), app: app)) }
        }
        let received = try #require(
            await runOnDedicatedThread { receiver.wait { Set(self.numbers($0)["concert"] ?? []).count == 20 } })
        #expect(
            self.numbers(received)["concert"] == Array(1...20), "also the events beyond the app's share of the queue")
        // Each event of the failing app is attempted three times and then abandoned; no event is skipped for good.
        let failedRequests = try #require(
            await runOnDedicatedThread { failingBackend.wait(timeout: .seconds(30)) { $0.count == 60 } })
        #expect(self.numbers(failedRequests)["concert"] == (1...20).flatMap { [Int64($0), Int64($0), Int64($0)] })
        #expect(harness.metric(MetricNames.Webhooks.delivered) == 20)
        // The last event may not be counted yet when its third request is received.
        #expect(harness.metric(MetricNames.Webhooks.givenUp) >= 19)
    }

    @Test func `a backend that was down gets all events in order, and after a takeover other backends get no repeats`()
        async throws
    {
        let isAccepting = Locked(false)
        let recoveringBackend = try WebhookReceiver { _, _ in
            isAccepting.withLock { $0 } ? .answer(200, "{}") : .answer(503, "")
        }
        let receiver = try WebhookReceiver { _, _ in .answer(200, "{}") }
        let harness = try SenderHarness()
        let hooks: [AppID: AppHooks] = ["away": self.hooks(recoveringBackend), "demo": self.hooks(receiver)]
        // No event is abandoned before the backend is up.
        var sender = harness.start(hooks) { limits in
            limits.maxAttempts = 1000
            limits.maxPerApp = 5
        }
        for number in 1...20 {
            try harness.publish(self.event(Int64(number), app: "away"))
            try harness.publish(self.event(Int64(number)))
        }
        _ = try #require(
            await runOnDedicatedThread { receiver.wait { Set(self.numbers($0)["concert"] ?? []).count == 20 } })
        _ = try #require(await runOnDedicatedThread { recoveringBackend.wait { !$0.isEmpty } })
        // The receiver gets the last request before the sender counts the response. If the sender stopped in between,
        // the next sender would send the event again.
        try #require(await harness.waitForMetric(MetricNames.Webhooks.delivered, toReach: 20))
        sender.stop()
        let earlierRequestCount = recoveringBackend.received.count
        isAccepting.withLock { $0 = true }
        sender = harness.start(hooks) { $0.maxPerApp = 5 }
        defer { sender.stop() }
        let received = try #require(
            await runOnDedicatedThread {
                recoveringBackend.wait(timeout: .seconds(30)) {
                    self.numbers(Array($0.dropFirst(earlierRequestCount)))["concert"]?.last == 20
                }
            })
        #expect(self.numbers(Array(received.dropFirst(earlierRequestCount)))["concert"] == Array(1...20))
        #expect(self.numbers(receiver.received)["concert"] == Array(1...20))
    }

    @Test func `a backend gets the events that its app subscribes to, and an app without hooks gets none`() async throws
    {
        let receiver = try WebhookReceiver { _, _ in .answer(200, "{}") }
        let harness = try SenderHarness()
        let sender = harness.start(["demo": self.hooks(receiver, events: [.seatsChanged])])
        defer { sender.stop() }
        try harness.publish(self.event(1))
        try harness.publish(self.event(2, app: "other"))
        try harness.publish(
            WebhookEvent(LiveKey("demo", "concert"), at: Timestamp(milliseconds: 3), .seatsChanged(seats: [])))
        let received = try #require(await runOnDedicatedThread { receiver.wait { !$0.isEmpty } })
        #expect(self.numbers(received) == ["concert": [3]])
    }

    @Test func `the next sender sends the events that the stopped one did not deliver, and no others`()
        async throws
    {
        let isAccepting = Locked(false)
        let receiver = try WebhookReceiver { _, _ in isAccepting.withLock { $0 } ? .answer(200, "{}") : .answer(503, "")
        }
        let harness = try SenderHarness()
        isAccepting.withLock { $0 = true }
        var sender = harness.start(["demo": self.hooks(receiver)])
        for number in 1...5 { try harness.publish(self.event(Int64(number))) }
        _ = try #require(
            await runOnDedicatedThread { receiver.wait { Set(self.numbers($0)["concert"] ?? []).count == 5 } })
        try #require(await harness.waitForMetric(MetricNames.Webhooks.delivered, toReach: 5))
        isAccepting.withLock { $0 = false }
        for number in 6...8 { try harness.publish(self.event(Int64(number))) }
        _ = try #require(
            await runOnDedicatedThread { receiver.wait { self.numbers($0)["concert"]?.contains(6) == true } })
        sender.stop()
        isAccepting.withLock { $0 = true }
        let earlierRequestCount = receiver.received.count
        sender = harness.start(["demo": self.hooks(receiver)])
        defer { sender.stop() }
        let received = try #require(
            await runOnDedicatedThread {
                receiver.wait(timeout: .seconds(30)) {
                    self.numbers(Array($0.dropFirst(earlierRequestCount)))["concert"]?.last == 8
                }
            })
        #expect(self.numbers(Array(received.dropFirst(earlierRequestCount)))["concert"] == [6, 7, 8])
    }
}
