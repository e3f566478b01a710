// SPDX-License-Identifier: Apache-2.0
import ClusterKit
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

/// Tests of `WebhookSender`, which reads webhook events from the broker and sends them to the apps' backends.
///
/// The events belong to the app `demo` and its live `concert`, unless a test says otherwise. A backend is a
/// `RecordingReceiver`, an HTTP server of the test.
@Suite(.serialized, .timeLimit(.minutes(2))) struct WebhookSenderTests {
    private static let secret = "a secret of the app"

    /// A broker, and the senders that are started with it.
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

        /// Starts a sender on a dedicated thread; the first pause before a repeated attempt is 20 ms.
        func startSender(
            _ hooks: [AppID: AppHooks], changeLimits: (inout DeliveryQueue.Limits) -> Void = { _ in }
        ) -> RunningSender {
            var limits = DeliveryQueue.Limits()
            limits.minRetryPause = Milliseconds(20)
            changeLimits(&limits)
            return RunningSender(
                WebhookSender(
                    hooks: hooks, settings: self.settings, limits: limits, log: .none, metrics: self.metrics))
        }

        /// Writes an event to the broker.
        func publish(_ event: WebhookEvent) throws {
            try self.producer.send(TopicRecord(.webhook(event)).outgoing(partitions: TopicBroker.partitions))
        }

        /// Waits until a counter has reached `value`.
        ///
        /// - Returns: whether the counter has reached the value within 15 s.
        func waitForCounter(_ name: String, toReach value: Int) async -> Bool {
            let deadline = ContinuousClock.now + .seconds(15)
            while self.counterSum(name) < value {
                guard ContinuousClock.now < deadline else { return false }
                await runOnDedicatedThread { DedicatedThread.sleep(for: .milliseconds(5)) }
            }
            return true
        }

        /// The sum of a counter over all its labels; 0 before the sender makes the counter.
        func counterSum(_ name: String) -> Int {
            let family = self.metrics.snapshot().first { $0.name == name }
            return (family?.samples ?? []).reduce(0) { sum, sample in
                guard case .number(let value) = sample.value else { preconditionFailure("\(name) is no counter") }
                return sum + Int(value)
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

        /// Stops the sender, and waits until its thread has ended.
        func stop() {
            self.sender.stop()
            _ = self.thread.join(timeout: .seconds(10))
        }
    }

    /// The webhook settings of an app whose backend is `receiver`; with nil as `events`, it subscribes to all events.
    private func hooks(_ receiver: RecordingReceiver, events: [WebhookName]? = nil) -> AppHooks {
        AppHooks(url: receiver.url, secret: Self.secret, events: events)
    }

    /// An event with a number, which is its time in milliseconds.
    private func event(_ number: Int64, live: LiveID = "concert", app: AppID = "demo") -> WebhookEvent {
        WebhookEvent(
            LiveKey(app, live), at: Timestamp(milliseconds: number),
            .memberState(isOnline: true, cause: .enter, users: [UserInfo(userID: "bob")]))
    }

    /// The numbers of the received events, by live, in the order of the requests.
    private func numbersByLive(_ received: some Sequence<WebhookReceiver.Received>) -> [String: [Int64]] {
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
    @Test func `an event is sent to the app's backend, with its name and a signature in the headers`() async throws {
        let receiver = try RecordingReceiver { _, _ in .answer(204, "") }
        let harness = try SenderHarness()
        let sender = harness.startSender(["demo": self.hooks(receiver)])
        defer { sender.stop() }
        try harness.publish(self.event(7))
        let received = try #require(await runOnDedicatedThread { receiver.wait { $0.count == 1 } }?.first)
        #expect(received.headers["liveplaza-event"] == "memberState")
        let seconds = try #require(received.headers["liveplaza-timestamp"].flatMap { Int64($0) })
        #expect(abs(seconds - WallClock.now.seconds) < 60, "expected the present time")
        #expect(
            received.headers["liveplaza-signature"]
                == WebhookPost.signature(of: received.body, at: seconds, secret: Self.secret))
        let body = try Wire.decode(JSONValue.self, from: received.body)
        #expect(body.members["app"] == "demo" && body.members["live"] == "concert" && body.members["v"] == 1)
        guard case .text(let id)? = body.members["id"] else {
            Issue.record("the event has no id: \(received.text)")
            return
        }
        #expect(id.hasSuffix("-0"), "the event is at the offset 0")
    }

    @Test(.enabled(if: RealKafka.isAvailable, "set KAFKA_HOME"))
    func `a sender whose session timeout the broker rejects requests a longer timeout`() async throws {
        let receiver = try RecordingReceiver { _, _ in .answer(204, "") }
        // The tests' broker accepts only timeouts of at least 1000 ms. After its rejection the sender requests the next
        // longer timeout, 2 s.
        let session = GroupSessionTimeout(first: .milliseconds(600))
        let harness = try SenderHarness(session: session)
        let sender = harness.startSender(["demo": self.hooks(receiver)])
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
        let receiver = try RecordingReceiver { index, _ in index % 3 == 1 ? .answer(500, "later") : .answer(200, "{}") }
        let harness = try SenderHarness()
        let sender = harness.startSender(["demo": self.hooks(receiver)])
        defer { sender.stop() }
        for number in 1...20 {
            for live in ["a", "b", "c"] { try harness.publish(self.event(Int64(number), live: LiveID(live))) }
        }
        let received = try #require(
            await runOnDedicatedThread {
                receiver.wait(timeout: .seconds(60)) { received in
                    let numbersByLive = self.numbersByLive(received)
                    return ["a", "b", "c"].allSatisfy { Set(numbersByLive[$0] ?? []).count == 20 }
                }
            })
        for (live, numbers) in self.numbersByLive(received) {
            // An event may be repeated, but never after a later event of its live.
            #expect(numbers == numbers.sorted() && Set(numbers) == Set(1...20), "\(live): \(numbers)")
        }
    }

    /// Rules: R14.4.
    @Test func `an app whose backend is dead or fails neither loses nor delays the events of another app`() async throws
    {
        let deadHooks = AppHooks(url: "http://127.0.0.1:\(try FreePort.find())/", secret: Self.secret)
        let failingBackend = try RecordingReceiver { _, _ in .answer(500, "") }
        let receiver = try RecordingReceiver { _, _ in .answer(200, "{}") }
        let harness = try SenderHarness()
        let hooks: [AppID: AppHooks] = [
            "dead": deadHooks, "failing": self.hooks(failingBackend), "demo": self.hooks(receiver),
        ]
        let sender = harness.startSender(hooks) { limits in
            limits.maxAttempts = 3
            // Each app has 20 events, and its share of the queue is 5. The sender reads the other events again later.
            limits.maxPerApp = 5
        }
        defer { sender.stop() }
        for app: AppID in ["dead", "failing", "demo"] {
            for number in 1...20 { try harness.publish(self.event(Int64(number), app: app)) }
        }
        let received = try #require(
            await runOnDedicatedThread { receiver.wait { Set(self.numbersByLive($0)["concert"] ?? []).count == 20 } })
        #expect(self.numbersByLive(received)["concert"] == Array(1...20))
        // Each of the 20 events of the failing app is sent three times and then abandoned.
        let failedRequests = try #require(
            await runOnDedicatedThread { failingBackend.wait(timeout: .seconds(30)) { $0.count == 60 } })
        #expect(
            self.numbersByLive(failedRequests)["concert"] == (1...20).flatMap { [Int64($0), Int64($0), Int64($0)] })
        #expect(harness.counterSum(MetricNames.Webhooks.delivered) == 20)
        // When the backend gets the third request with the last event, the sender may not have counted this event yet.
        #expect(harness.counterSum(MetricNames.Webhooks.givenUp) >= 19)
    }

    @Test func `a backend that was down gets all events in order, and after a takeover other backends get no repeats`()
        async throws
    {
        let isAccepting = Locked(false)
        let recoveringBackend = try RecordingReceiver { _, _ in
            isAccepting.withLock { $0 } ? .answer(200, "{}") : .answer(503, "")
        }
        let receiver = try RecordingReceiver { _, _ in .answer(200, "{}") }
        let harness = try SenderHarness()
        let hooks: [AppID: AppHooks] = ["away": self.hooks(recoveringBackend), "demo": self.hooks(receiver)]
        var sender = harness.startSender(hooks) { limits in
            // No event is abandoned before the backend is up.
            limits.maxAttempts = 1000
            limits.maxPerApp = 5
        }
        for number in 1...20 {
            try harness.publish(self.event(Int64(number), app: "away"))
            try harness.publish(self.event(Int64(number)))
        }
        _ = try #require(
            await runOnDedicatedThread { receiver.wait { Set(self.numbersByLive($0)["concert"] ?? []).count == 20 } })
        _ = try #require(await runOnDedicatedThread { recoveringBackend.wait { !$0.isEmpty } })
        // Wait until the sender has counted the last response of `receiver`. If the sender stopped before, the next
        // sender would send the last event again.
        try #require(await harness.waitForCounter(MetricNames.Webhooks.delivered, toReach: 20))
        // The backend comes up, and another sender takes over.
        sender.stop()
        let earlierRequestCount = recoveringBackend.received.count
        isAccepting.withLock { $0 = true }
        sender = harness.startSender(hooks) { $0.maxPerApp = 5 }
        defer { sender.stop() }
        let received = try #require(
            await runOnDedicatedThread {
                recoveringBackend.wait(timeout: .seconds(30)) {
                    self.numbersByLive($0.dropFirst(earlierRequestCount))["concert"]?.last == 20
                }
            })
        #expect(self.numbersByLive(received.dropFirst(earlierRequestCount))["concert"] == Array(1...20))
        #expect(self.numbersByLive(receiver.received)["concert"] == Array(1...20))
    }

    @Test func `a backend gets only the events that its app subscribes to, and no events of an app without hooks`()
        async throws
    {
        let receiver = try RecordingReceiver { _, _ in .answer(200, "{}") }
        let harness = try SenderHarness()
        let sender = harness.startSender(["demo": self.hooks(receiver, events: [.seatsChanged])])
        defer { sender.stop() }
        // The app does not subscribe to the first event. The app of the second one has no hooks.
        try harness.publish(self.event(1))
        try harness.publish(self.event(2, app: "other"))
        try harness.publish(
            WebhookEvent(LiveKey("demo", "concert"), at: Timestamp(milliseconds: 3), .seatsChanged(seats: [])))
        let received = try #require(await runOnDedicatedThread { receiver.wait { !$0.isEmpty } })
        #expect(self.numbersByLive(received) == ["concert": [3]])
    }

    @Test func `the next sender sends exactly the events that the stopped sender has not delivered`()
        async throws
    {
        let isAccepting = Locked(true)
        let receiver = try RecordingReceiver { _, _ in
            isAccepting.withLock { $0 } ? .answer(200, "{}") : .answer(503, "")
        }
        let harness = try SenderHarness()
        var sender = harness.startSender(["demo": self.hooks(receiver)])
        for number in 1...5 { try harness.publish(self.event(Int64(number))) }
        _ = try #require(
            await runOnDedicatedThread { receiver.wait { Set(self.numbersByLive($0)["concert"] ?? []).count == 5 } })
        try #require(await harness.waitForCounter(MetricNames.Webhooks.delivered, toReach: 5))
        // The backend fails from now on, and the sender tries to send the event 6.
        isAccepting.withLock { $0 = false }
        for number in 6...8 { try harness.publish(self.event(Int64(number))) }
        _ = try #require(
            await runOnDedicatedThread { receiver.wait { self.numbersByLive($0)["concert"]?.contains(6) == true } })
        // The backend works again, and another sender takes over.
        sender.stop()
        isAccepting.withLock { $0 = true }
        let earlierRequestCount = receiver.received.count
        sender = harness.startSender(["demo": self.hooks(receiver)])
        defer { sender.stop() }
        let received = try #require(
            await runOnDedicatedThread {
                receiver.wait(timeout: .seconds(30)) {
                    self.numbersByLive($0.dropFirst(earlierRequestCount))["concert"]?.last == 8
                }
            })
        #expect(self.numbersByLive(received.dropFirst(earlierRequestCount))["concert"] == [6, 7, 8])
    }
}
