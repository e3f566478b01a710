// SPDX-License-Identifier: Apache-2.0
import Concurrency
import EmbeddedBroker
import HTTPClient
import KafkaClient
import MachineKit
import Observability
import PlazaModel
import PlazaWire
import ServiceShell
import TestSupport
import Testing

@testable import Webhooks

/// Tests of a catch-up of `WebhookDispatcher` that reads nothing.
///
/// The dispatcher queues webhook events, and each app has a share of the queue. When an app's share is used up, the
/// dispatcher skips the app's further events. A catch-up reads them again later.
@Suite(.serialized, .timeLimit(.minutes(1))) struct WebhookCatchUpTests {
    /// The API key of Kafka's `Fetch` request.
    private static let fetch: Int16 = 1
    /// Kafka's error `NOT_LEADER_OR_FOLLOWER`.
    private static let notLeader: Int32 = 6

    /// The catch-up's consumer has its own broker with the same events, so that only the reads of this consumer fail.
    @Test func `a catch-up that reads nothing for 10 s, although there are records, ends the sender's session`()
        async throws
    {
        try await runOnDedicatedThread { try Self.expectStalledCatchUpEndsSession() }
    }

    private static func expectStalledCatchUpEndsSession() throws {
        let mainBroker = try TopicBroker(isReal: false, clientID: "webhooks-test")
        let catchUpBroker = try TopicBroker(isReal: false, clientID: "catch-up-test")
        for broker in [mainBroker, catchUpBroker] {
            let producer = try KafkaProducer(broker.settings)
            for number in 1...20 {
                let event = WebhookEvent(
                    LiveKey("demo", "concert"), at: Timestamp(milliseconds: Int64(number)),
                    .memberState(isOnline: true, cause: .enter, users: [UserInfo(userID: "bob")]))
                try producer.send(TopicRecord(.webhook(event)).outgoing(partitions: TopicBroker.partitions))
            }
            try producer.flush(timeout: .seconds(10))
        }
        // All further fetches of the catch-up's consumer fail, because it makes fewer than 100,000 in this test.
        try #require(catchUpBroker.embedded)
            .injectFault(intoRequests: Self.fetch, count: 100_000, error: Self.notLeader)
        // The app's share is 5 events, and 20 are published, so the app needs a catch-up.
        var limits = DeliveryQueue.Limits()
        limits.maxPerApp = 5
        let (mainStatus, catchUpStatus) = (ReadStatus(), ReadStatus())
        // The attempts that have ended since the dispatcher's last turn.
        let endedAttempts = Locked<[WebhookAttempt]>([])
        let consumer = try KafkaConsumer(
            mainBroker.settings, group: WebhookSender.group, fetchWait: .milliseconds(10),
            sessionTimeout: EmbeddedBroker.sessionTimeout, heartbeatInterval: GroupSessionTimeout.heartbeatInterval)
        defer { consumer.close() }
        let catchUpConsumer = try KafkaConsumer(catchUpBroker.settings)
        defer { catchUpConsumer.close() }
        let dispatcher = WebhookDispatcher(
            consumer: consumer, catchUpConsumer: catchUpConsumer,
            hooks: ["demo": AppHooks(url: "http://127.0.0.1:1/", secret: "secret", events: nil)], limits: limits,
            log: .none, metrics: WebhookMetrics(MetricsRegistry()), readStatus: mainStatus, catchUpStatus: catchUpStatus
        ) { _, position, beganAt in
            // The test stands in for the backend, and accepts each event at once.
            let attempt = WebhookAttempt(
                position: position, beganAt: beganAt, result: .answered(status: 200, body: []))
            endedAttempts.withLock { $0.append(attempt) }
        }
        try consumer.subscribe(PlazaTopic.webhooks.rawValue) { [weak dispatcher] in dispatcher?.rebalanced($0) }
        let deadline = MonotonicClock.now + .seconds(40)
        var failure: KafkaError?
        while failure == nil, MonotonicClock.now < deadline {
            let attempts = endedAttempts.withLock { attempts in
                defer { attempts.removeAll() }
                return attempts
            }
            do throws(KafkaError) { _ = try dispatcher.runTurn(attempts) } catch { failure = error }
        }
        #expect(failure?.description.contains("Nothing was read for 10 s") == true, "\(String(describing: failure))")
        #expect(catchUpStatus.state == .stalled)
        #expect(catchUpStatus.waitingTime >= .seconds(10))
        #expect(mainStatus.state == .reading, "the main consumer still reads")
    }
}
