// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Foundation
import InspectKit
import KafkaClient
import MachineKit
import PlazaModel
import PlazaWire
import ServiceShell
import TestSupport
import Testing

/// Tests of `plaza inspect`, which shows the messages of a live or the calls of a user from the topics of a broker.
@Suite(.serialized, .timeLimit(.minutes(1))) struct InspectClusterTests {
    private static let live = LiveKey("demo", LiveID("concert-\(UUID().uuidString.prefix(8))"))
    private static let user: UserID = "alice"

    /// The caller of Alice's call with the number `counter`.
    private static func caller(counter: Int64) -> Caller {
        Caller(
            user: UserInfo(userID: Self.user), role: .user,
            request: RequestID(session: SessionID("s-\(Self.live.live.text)"), counter: counter),
            replyTo: "gateway-1", ticket: Ticket(1))
    }

    /// What a test writes to the topics: Alice's four calls, and the feed item and replies that two of them led to.
    ///
    /// Call 1 (a join) and call 4 (about another live) have no reply. The message of call 2 is admitted, and that of
    /// call 3 is dropped because of the feed budget.
    private static var effects: [Effect] {
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        let position = FeedPosition(epoch: 77, number: 1)
        let sender = UserInfo(userID: Self.user)
        return [
            .audience(AudienceInput(Self.live, .join(caller: Self.caller(counter: 1)))),
            .barrage(
                BarrageInput(Self.live, .sendText(text: "hi", extensionInfo: nil, caller: Self.caller(counter: 2)))),
            .barrage(
                BarrageInput(Self.live, .sendText(text: "ho", extensionInfo: nil, caller: Self.caller(counter: 3)))),
            .barrage(BarrageInput(LiveKey("demo", "another"), .summary(caller: Self.caller(counter: 4)))),
            .feed(
                FeedItem(
                    key: Self.live, position: position, at: now,
                    content: .text(sender: sender, text: "hi", extensionInfo: nil))),
            .reply(Reply(to: Self.caller(counter: 2), app: "demo", .success(result: .sent(position: position)))),
            .reply(
                Reply(to: Self.caller(counter: 3), app: "demo", .failure(error: ReplyError(.droppedByBudget, "full")))),
        ]
    }

    /// An inspector of the last 60 s of the live.
    private static func inspector(_ broker: TopicBroker, isReal: Bool, maxRecords: Int = 1000) throws -> Inspector {
        let scanner = try TopicScanner(
            brokers: broker.settings.brokers, security: KafkaSecurity(), mode: isReal ? .full : .embedded,
            maxRecords: maxRecords)
        let query = Inspector.Query(
            app: "demo", live: Self.live.live, user: nil, lookBack: .seconds(60), lease: .seconds(90))
        // The records have the broker's time, which may be a little later than that of this process. So the 60 s end a
        // second from now.
        let endOfWindow = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) + .seconds(1)
        return try Inspector(scanner, query, now: endOfWindow)
    }

    /// Writes `effects` to their topics, each after the previous one is stored.
    private static func writeEffects(to broker: TopicBroker) throws {
        let producer = try KafkaProducer(broker.settings)
        defer { producer.close(timeout: .seconds(5)) }
        for effect in Self.effects {
            _ = try producer.sendAndWait(
                TopicRecord(effect).outgoing(partitions: TopicBroker.partitions), timeout: .seconds(10))
        }
    }

    @Test func `plaza inspect finds the messages of a live and the calls of a user, each with its outcome`() async {
        await ConcurrentCase.runBlocking(RealKafka.isAvailable ? KafkaMode.allCases : [.embedded]) { mode in
            let isReal = mode == .full
            let broker = try TopicBroker(isReal: isReal, clientID: "inspect-test")
            try Self.writeEffects(to: broker)

            var inspector = try Self.inspector(broker, isReal: isReal)
            let lines = try inspector.replay(Self.live.live).lines
            #expect(inspector.gaps == [])
            // The live's lines are its two messages: that of request 2 has a position, that of request 3 was dropped.
            let sortedLines = lines.sorted { ($0.request?.counter ?? 0) < ($1.request?.counter ?? 0) }
            #expect(sortedLines.map(\.request?.counter) == [2, 3])
            #expect(sortedLines.map { $0.position?.number } == [1, nil])
            #expect(sortedLines.last?.answer.verdict == .dropped)
            // Alice's join came before both messages.
            #expect(lines.allSatisfy { $0.scene.present == [Self.user] })

            var userInspector = try Self.inspector(broker, isReal: isReal)
            let calls = try userInspector.replay(Self.user).compactMap { line -> UserCall? in
                if case .call(let call) = line { call } else { nil }
            }
            // Call 4 is about another live, so it is not found. Call 1 has no reply.
            #expect(calls.map(\.first.request.counter) == [1, 2, 3])
            #expect(calls.map(\.answer.verdict) == [.unknown, .applied, .dropped])
        }
    }

    @Test func `a scan that stops at its maximum number of records reports a gap`() async throws {
        try await runOnDedicatedThread {
            let broker = try TopicBroker(isReal: false, clientID: "inspect-test")
            // A scan stops only between two polls, and a poll returns at most 1,000 records. So the first poll exceeds
            // the limit of one record, and cannot reach the end of 1,001 records in one partition.
            let recordCount = 1_001
            let reply = Reply(to: Self.caller(counter: 1), app: "demo", .success(result: .done))
            let record = TopicRecord(.reply(reply)).outgoing(partitions: TopicBroker.partitions)
            let producer = try KafkaProducer(broker.settings)
            defer { producer.close(timeout: .seconds(5)) }
            _ = try producer.sendAndWait(Array(repeating: record, count: recordCount), timeout: .seconds(30))
            let scanner = try TopicScanner(
                brokers: broker.settings.brokers, security: KafkaSecurity(), mode: .embedded, maxRecords: 1)
            defer { scanner.close() }
            var entries: [TopicEntry] = []
            let gap = try scanner.read(TopicScan(.replies, from: nil) { _ in true }, into: &entries)
            let gapText = try #require(gap, "a scan that stops early must report a gap")
            #expect(gapText.contains("--max-records"), "the gap must name the option for a higher limit: \(gapText)")
        }
    }
}
