// SPDX-License-Identifier: Apache-2.0
import Concurrency
import KafkaClient
import MachineKit
import Observability
import PlazaModel
import PlazaWire
import Presence
import Settings
import TestSupport
import Testing

@testable import ServiceShell

/// A Kafka broker (real or in memory), a real Redis, and instances of presence, each on a thread of the test.
///
/// An instance runs in a shell (`MachineShell`): the loop that reads the inbox, lets presence decide, and commits.
final class PresenceShellHarness {
    static let partitions = TopicBroker.partitions
    let redis: RealRedis
    private let leaseSeconds: Int
    private let mode: KafkaMode
    var kafkaSettings: KafkaSettings { self.broker.settings }
    private let broker: TopicBroker
    private let producer: KafkaProducer
    private let consumer: KafkaConsumer
    /// The records read so far from the inbox of presence and from the topics that it writes, in order.
    private(set) var records: [IncomingRecord] = []

    convenience init(_ mode: KafkaMode, leaseSeconds: Int) throws {
        try self.init(
            mode, leaseSeconds: leaseSeconds, on: TopicBroker(isReal: mode == .full, clientID: "presence-test"))
    }

    init(_ mode: KafkaMode, leaseSeconds: Int, on broker: TopicBroker) throws {
        self.mode = mode
        self.leaseSeconds = leaseSeconds
        self.redis = try RealRedis()
        let topics: [PlazaTopic] = [.audienceInbox, .barrageInbox, .audienceCounts, .replies, .deadLetters]
        self.broker = broker
        self.producer = try KafkaProducer(broker.settings)
        let isRealKafka = mode == .full
        self.consumer = try KafkaConsumer(
            broker.settings, fetchWait: isRealKafka ? .milliseconds(20) : .milliseconds(5))
        // A real broker is shared by all tests of the process, of which some write records that cannot be decoded. So
        // only records from now on are read.
        let partitions = topics.flatMap { topic in
            (0..<Self.partitions).map { TopicPartition(topic.rawValue, Int32($0)) }
        }
        try self.consumer.assign(self.consumer.endOffsets(of: partitions, timeout: .seconds(20)))
    }

    deinit { self.consumer.close() }

    /// Starts an instance of presence with this name.
    func start(_ instance: String) -> RunningPresence {
        var settingsReader = SettingsReader(
            program: "audience-presence", summary: "",
            arguments: ["--redis", "127.0.0.1:\(self.redis.port)", "--lease-seconds", "\(self.leaseSeconds)"],
            environment: [:])
        let spec = PresenceSettings(&settingsReader).spec(policies: Policies())
        let shellSettings = ShellSettings(
            kafka: self.kafkaSettings, instance: instance, partitions: Self.partitions, mode: self.mode)
        return RunningPresence(MachineShell(spec, settings: shellSettings, log: .none, metrics: MetricsRegistry()))
    }

    /// Writes an input of `live` to the inbox, and waits until it is acknowledged.
    func write(_ command: AudienceCommand, _ live: LiveKey) throws {
        try self.producer.send(
            TopicRecord(.audience(AudienceInput(live, command))).outgoing(partitions: Self.partitions))
        try self.producer.flush(timeout: .seconds(10))
    }

    /// Writes a record of attempts to the state topic, as if an owner of the live's partition had died.
    ///
    /// An owner leaves such a record if it dies while it processes inputs. Because of the record, the next owner
    /// processes the inputs one at a time. No instance may be running during the call.
    func writeFailedAttempt(_ live: LiveKey) throws {
        let partition = PlazaTopic.partition(of: live.text, among: Self.partitions)
        let inboxPartition = TopicPartition(PlazaTopic.audienceInbox.rawValue, Int32(partition))
        let groupConsumer = try KafkaConsumer(self.kafkaSettings, group: "audience")
        defer { groupConsumer.close() }
        let offsets = try groupConsumer.committedOffsets(of: [inboxPartition], timeout: .seconds(10))
        // The dictionary has optional values, so its lookup gives a double optional, which `?? nil` flattens.
        let committed = offsets[inboxPartition] ?? nil
        guard let offset = committed?.offset else { throw TestFailure("nothing is committed for \(inboxPartition)") }
        // The record says that the process `dead` died while it processed 1000 inputs together, from the committed
        // offset on. No input was processed alone yet (`count` 0). Up to `aloneUntil`, the next owner processes each
        // input alone.
        let record = ProcessingAttempts.Record(
            offset: offset, step: 0, count: 0, aloneUntil: offset + 1000, process: "dead")
        try self.producer.send(
            OutgoingRecord(
                topic: PlazaTopic.audienceState.rawValue, partition: inboxPartition.partition,
                key: Array(ProcessingAttempts.key.utf8), value: Wire.encode(record)))
        try self.producer.flush(timeout: .seconds(10))
    }

    private struct TestFailure: Error {
        let text: String
        init(_ text: String) { self.text = text }
    }

    /// Reads records until `condition` is true for the array of all records read so far, but for at most `seconds`.
    ///
    /// Calls `meanwhile` after each read. A timeout is not an error: the test checks `records` afterwards.
    func read(
        seconds: Int64 = 30, until condition: ([IncomingRecord]) -> Bool, meanwhile: () throws -> Void = {}
    ) throws {
        let deadline = MonotonicClock.now.milliseconds + seconds * 1000
        while !condition(self.records), MonotonicClock.now.milliseconds < deadline {
            _ = try self.consumer.poll(max: 1000, timeout: .milliseconds(200), into: &self.records)
            try meanwhile()
        }
    }

    /// Every published join (as `+user`) and leave (as `-user`) of `live` with its time, in order.
    static func joinsAndLeaves(_ records: [IncomingRecord], _ live: LiveKey) -> [(text: String, at: Timestamp)] {
        records.compactMap { record in
            guard let input = Self.value(of: record, in: .barrageInbox, as: BarrageInput.self), input.key == live else {
                return nil
            }
            switch input.command {
            case .publish(.audienceJoined(let user, _)): return ("+\(user.userID.text)", record.timestamp)
            case .publish(.audienceLeft(let user)): return ("-\(user.userID.text)", record.timestamp)
            default: return nil
            }
        }
    }

    /// The time of the session's join in the inbox, at which the session's lease begins; nil if there is no join.
    static func joinTime(_ records: [IncomingRecord], session: SessionID) -> Timestamp? {
        for record in records {
            guard let input = Self.value(of: record, in: .audienceInbox, as: AudienceInput.self),
                case .join(let caller) = input.command, caller.request.session == session
            else { continue }
            return record.timestamp
        }
        return nil
    }

    /// The ticket in the reply that confirms the join of `session`; nil if there is no such reply.
    ///
    /// A join is confirmed when Redis has stored its lease.
    static func ticket(_ records: [IncomingRecord], session: SessionID) -> Int64? {
        for record in records {
            guard let reply = Self.value(of: record, in: .replies, as: Reply.self),
                reply.request.session == session,
                case .success(.joined(let ticket, _, confirmed: true, _)) = reply.outcome
            else { continue }
            return ticket.offset
        }
        return nil
    }

    /// The last published count of `live`.
    static func lastCount(_ records: [IncomingRecord], _ live: LiveKey) -> CountRecord? {
        records.reversed().lazy.filter { $0.key == Array(live.text.utf8) }
            .compactMap { Self.value(of: $0, in: .audienceCounts, as: CountRecord.self) }.first
    }

    /// The value of a record; nil for a record of another topic, for a tick, and for a record without a value.
    ///
    /// A record without a value deletes its key. A value that cannot be decoded fails the test, because a test that
    /// expects no record could pass if the value were skipped.
    private static func value<Value: Decodable>(
        of record: IncomingRecord, in topic: PlazaTopic, as type: Value.Type
    ) -> Value? {
        guard record.topic == topic.rawValue, record.key != ReplyProducer.tickKey, let value = record.value else {
            return nil
        }
        do {
            return try Wire.decode(type, from: value)
        } catch {
            let text = String(decoding: value.prefix(300), as: UTF8.self)
            Issue.record(error, "\(topic)-\(record.partition) has no \(type) at \(record.offset): \(text)")
            return nil
        }
    }
}

/// An instance of presence that runs on a thread of its own until `stop`, or until this object is destroyed.
final class RunningPresence {
    private let shell: MachineShell
    private let thread: DedicatedThread

    init(_ shell: MachineShell) {
        self.shell = shell
        self.thread = DedicatedThread("test") { shell.run() }
    }

    // A test that throws an error does not call `stop`.
    deinit { _ = self.stop() }

    /// Stops the instance; returns whether its thread has ended within 10 s.
    func stop() -> Bool {
        self.shell.stop()
        return self.thread.join(timeout: .seconds(10))
    }
}
