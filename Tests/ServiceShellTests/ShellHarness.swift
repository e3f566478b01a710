// SPDX-License-Identifier: Apache-2.0
import Concurrency
import CoreKit
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

    convenience init(_ mode: KafkaMode) throws {
        try self.init(
            mode, on: TopicBroker(isReal: mode == .full, clientID: "shell-test", partitions: Self.partitions))
    }

    init(_ mode: KafkaMode, on broker: TopicBroker) throws {
        self.mode = mode
        self.broker = broker
        self.producer = try KafkaProducer(broker.settings)
    }

    /// A running shell of the tally machine.
    ///
    /// - Parameters:
    ///   - instance: its name.
    ///   - appendMilliseconds: how long it waits for each appended batch; with 0 it never learns what came of it.
    ///   - log: takes its lines.
    /// - Returns: the shell, which runs on a thread of its own.
    func start(
        _ instance: String, appendMilliseconds: @escaping @Sendable () -> Int = { 5000 }, log: Log = .none
    ) -> RunningShell {
        RunningShell(self, instance, appendMilliseconds: appendMilliseconds, log: log)
    }

    /// Puts a text into the inbox.
    func say(_ text: String, in live: LiveKey) throws {
        self.sent += 1
        let caller = Caller(
            user: UserInfo(userID: "u"), role: .user, request: RequestID(session: "s", counter: self.sent),
            replyTo: "gateway-1")
        let input = BarrageInput(live, .sendText(text: text, extensionInfo: nil, caller: caller))
        try self.producer.send(TopicRecord(.barrage(input)).outgoing(partitions: Self.partitions))
    }

    /// Puts texts into the inbox of a live that has none yet, each when the one before is in the feed: a batch for each.
    func sayOneByOne(_ count: Int, in live: LiveKey) throws {
        for number in 1...count {
            try self.say("\(number)", in: live)
            try self.flush()
            _ = try self.feed(of: [live]) { ($0[live]?.count ?? 0) >= number }
        }
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
        // And a claim that would make void whatever comes after it.
        try producer.send(
            OutgoingRecord(
                topic: PlazaTopic.roomFeed.rawValue, partition: partition, value: nil,
                headers: AppendMark(epoch: .max).headers))
        try producer.flush(timeoutMilliseconds: 5000)
        return producer
    }

    /// Appends an item to the live's feed as an owner of the mark's epoch would.
    func append(number: Int64, in live: LiveKey, _ mark: AppendMark) throws {
        let item = FeedItem(
            key: live, position: FeedPosition(epoch: 1, number: number), at: Timestamp(milliseconds: 1),
            content: .text(sender: UserInfo(userID: "tally"), text: "stale", extensionInfo: nil))
        var record = TopicRecord(.feed(item)).outgoing(partitions: Self.partitions)
        record.headers += mark.headers
        _ = try self.producer.sendAndWait(record, timeoutMilliseconds: 5000)
    }

    /// The last record that was appended to the live's feed partition.
    func lastMark(in live: LiveKey) throws -> (offset: Int64, epoch: Int64) {
        let reader = try StateReader(self.settings, fetchWaitMilliseconds: 20)
        defer { reader.close() }
        var last: (offset: Int64, epoch: Int64)?
        try reader.read([self.place(of: live, .roomFeed)], deadline: MonotonicClock.milliseconds + 10_000) { record in
            if let mark = AppendMark(record) { last = (record.offset, mark.epoch) }
        }
        return try #require(last)
    }

    func lastEpoch(in live: LiveKey) throws -> Int64 { try self.lastMark(in: live).epoch }

    /// What the group's offset says of claims, once it is as wanted.
    func claims(of live: LiveKey, until isEnough: (AppendClaims) -> Bool) throws -> AppendClaims {
        let group = try KafkaConsumer(self.settings, group: AppendedFeed.group)
        defer { group.close() }
        let place = self.place(of: live, .barrageInbox)
        let deadline = MonotonicClock.milliseconds + 20_000
        while MonotonicClock.milliseconds < deadline {
            let committed = (try? group.committed([place], timeoutMilliseconds: 1000))?[place] ?? nil
            if let claims = committed.flatMap({ AppendClaims(metadata: $0.metadata) }), isEnough(claims) {
                return claims
            }
        }
        throw KafkaError(.timedOut, "The group's offset of \(place) did not come to what was wanted.")
    }

    private func place(of live: LiveKey, _ topic: PlazaTopic) -> TopicPartition {
        TopicPartition(topic.rawValue, Int32(PlazaTopic.partition(of: live.text, among: Self.partitions)))
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
        var batches: [Int32: AppendedBatches] = [:]
        let deadline = MonotonicClock.milliseconds + 30_000
        while !isEnough(numbers), MonotonicClock.milliseconds < deadline {
            var records: [IncomingRecord] = []
            _ = try reader.poll(max: 1000, timeoutMilliseconds: 200, into: &records)
            var counting: [IncomingRecord] = []
            for record in records {
                batches[record.partition, default: AppendedBatches()].take(record, counting: &counting)
            }
            for record in counting {
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

    init(_ harness: ShellHarness, _ instance: String, appendMilliseconds: @escaping @Sendable () -> Int, log: Log) {
        let spec = MachineSpec(name: "barrage", inbox: .barrageInbox, state: .barrageState, appendsTo: .roomFeed) {
            MachineProcessor(TallyMachine(), $0)
        }
        var settings = ShellSettings(
            kafka: harness.settings, instance: instance, partitions: ShellHarness.partitions, mode: harness.mode)
        settings.checkpointMilliseconds = 1000
        settings.appendMilliseconds = appendMilliseconds
        let shell = MachineShell(spec, settings: settings, log: log, metrics: self.metrics)
        self.shell = shell
        self.thread = ShellThread { shell.run() }
    }

    func stop() -> Bool {
        self.shell.stop()
        return self.thread.join(seconds: 10)
    }
}
