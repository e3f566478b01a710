// SPDX-License-Identifier: Apache-2.0
import Concurrency
import KafkaClient
import Observability
import PlazaModel
import PlazaWire
import TestSupport
import Testing

@testable import ServiceShell

/// A broker with all topics, for shells that run as threads of the test.
final class ShellHarness {
    static let partitions = 4
    var settings: KafkaSettings { self.broker.settings }
    let mode: KafkaMode
    private let broker: TopicBroker
    private let producer: KafkaProducer
    private var sent: Int64 = 0

    init(_ mode: KafkaMode) throws {
        self.mode = mode
        let broker = try TopicBroker(isReal: mode == .full, clientID: "shell-test", partitions: Self.partitions)
        self.broker = broker
        self.producer = try KafkaProducer(broker.settings)
    }

    /// A running shell of the tally machine.
    func start(_ instance: String) -> RunningShell { RunningShell(self, instance) }

    /// Puts a text into the inbox.
    func say(_ text: String, in live: LiveKey) throws {
        self.sent += 1
        let caller = Caller(
            user: UserInfo(userID: "u"), role: .user, request: RequestID(session: "s", counter: self.sent),
            replyTo: "gateway-1")
        let input = BarrageInput(live, .sendText(text: text, extensionInfo: nil, caller: caller))
        try self.producer.send(TopicRecord(.barrage(input)).outgoing(partitions: Self.partitions))
    }

    /// What an owner that stopped in mid-commit leaves: an open transaction that deletes the live's row and sets the
    /// group's offset back to the beginning.
    ///
    /// - Parameter live: whose partition it is about.
    /// - Returns: the producer, with its transaction open on the broker.
    /// - Throws: when the broker refuses it.
    func openTransaction(deletingRowOf live: LiveKey) throws -> KafkaProducer {
        let partition = Int32(PlazaTopic.partition(of: live.text, among: Self.partitions))
        let group = try KafkaConsumer(self.settings, group: "barrage")
        defer { group.close() }
        let producer = try KafkaProducer(
            self.settings, transactionalID: "ghost-\(live.text)", transactionTimeoutMilliseconds: 2000,
            onDelivery: { _ in })
        try producer.initTransactions(timeoutMilliseconds: 10_000)
        try producer.beginTransaction()
        let start = TopicPartition(PlazaTopic.barrageInbox.rawValue, partition)
        try producer.sendOffsets(
            [start: OffsetAndMetadata(offset: 0)], group: try #require(group.groupMetadata()), timeoutMilliseconds: 5000
        )
        for topic in [PlazaTopic.barrageState, .roomFeed] {
            try producer.send(
                OutgoingRecord(
                    topic: topic.rawValue, partition: partition, key: Array(live.text.utf8), value: nil, headers: []))
        }
        try producer.flush(timeoutMilliseconds: 5000)
        return producer
    }

    func flush() throws { try self.producer.flush(timeoutMilliseconds: 10_000) }

    /// Reads the feed until `isEnough`; what is committed, in order, by live.
    func feed(of lives: Set<LiveKey>, until isEnough: ([LiveKey: [Int64]]) -> Bool) throws -> [LiveKey: [Int64]] {
        let reader = try KafkaConsumer(self.settings, fetchWaitMilliseconds: self.mode == .full ? 20 : 5)
        defer { reader.close() }
        var starts: [TopicPartition: Int64] = [:]
        for partition in 0..<Self.partitions {
            starts[TopicPartition(PlazaTopic.roomFeed.rawValue, Int32(partition))] = LogicalOffset.beginning
        }
        try reader.assign(starts)
        var numbers: [LiveKey: [Int64]] = [:]
        let deadline = MonotonicClock.milliseconds + 30_000
        while !isEnough(numbers), MonotonicClock.milliseconds < deadline {
            var records: [IncomingRecord] = []
            _ = try reader.poll(max: 1000, timeoutMilliseconds: 200, into: &records)
            for record in records {
                guard let key = record.key.flatMap({ LiveKey(text: String(decoding: $0, as: UTF8.self)) }),
                    lives.contains(key), let headers = FeedHeaders({ record.header($0) })
                else { continue }
                numbers[key, default: []].append(headers.position.number)
            }
        }
        return numbers
    }
}

/// A shell on a thread of its own.
final class RunningShell {
    let shell: MachineShell
    let metrics = MetricsRegistry()
    private let thread: ShellThread

    init(_ harness: ShellHarness, _ instance: String) {
        let spec = MachineSpec(name: "barrage", inbox: .barrageInbox, state: .barrageState) {
            MachineProcessor(TallyMachine(), $0)
        }
        let shell = MachineShell(
            spec,
            settings: ShellSettings(
                kafka: harness.settings, instance: instance, partitions: ShellHarness.partitions, mode: harness.mode),
            log: .none, metrics: self.metrics)
        self.shell = shell
        self.thread = ShellThread { shell.run() }
    }

    func stop() -> Bool {
        self.shell.stop()
        return self.thread.join(seconds: 10)
    }
}
