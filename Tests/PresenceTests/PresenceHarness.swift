// SPDX-License-Identifier: Apache-2.0
import Concurrency
import KafkaClient
import Observability
import PlazaModel
import PlazaWire
import Presence
import Settings
import TestSupport

@testable import ServiceShell

/// A broker, a Redis, and presence in shells that run as threads of the test.
final class PresenceHarness {
    static let partitions = 4
    let redis: LiveRedis
    let lease: Int
    private let mode: KafkaMode
    private var settings: KafkaSettings { self.broker.settings }
    private let broker: TopicBroker
    private let producer: KafkaProducer
    private let reader: KafkaConsumer
    /// What has been read of the topics that presence writes, in order.
    private(set) var records: [IncomingRecord] = []

    init(_ mode: KafkaMode, leaseSeconds: Int) throws {
        self.mode = mode
        self.lease = leaseSeconds
        self.redis = try LiveRedis()
        let read: [PlazaTopic] = [.audienceInbox, .barrageInbox, .audienceCounts, .replies]
        let broker = try TopicBroker(isReal: mode == .full, clientID: "presence-test", partitions: Self.partitions)
        self.broker = broker
        self.producer = try KafkaProducer(broker.settings)
        self.reader = try KafkaConsumer(broker.settings, fetchWaitMilliseconds: mode == .full ? 20 : 5)
        var starts: [TopicPartition: Int64] = [:]
        for topic in read {
            for partition in 0..<Self.partitions {
                starts[TopicPartition(topic.rawValue, Int32(partition))] = LogicalOffset.beginning
            }
        }
        try self.reader.assign(starts)
    }

    deinit { self.reader.close() }

    /// A shell of presence under a name of its own.
    func start(_ instance: String) -> RunningPresence {
        var reader = SettingsReader(
            program: "audience-presence", summary: "",
            arguments: ["--redis", "127.0.0.1:\(self.redis.port)", "--lease-seconds", "\(self.lease)"],
            environment: [:])
        let settings = PresenceSettings(&reader)
        return RunningPresence(
            MachineShell(
                settings.spec(policies: Policies()),
                settings: ShellSettings(
                    kafka: self.settings, instance: instance, partitions: Self.partitions, mode: self.mode),
                log: .none, metrics: MetricsRegistry()))
    }

    /// Writes an input of `live` and waits until it is there.
    func write(_ command: AudienceCommand, _ live: LiveKey) throws {
        try self.producer.send(
            TopicRecord(.audience(AudienceInput(live, command))).outgoing(partitions: Self.partitions))
        try self.producer.flush(timeoutMilliseconds: 10_000)
    }

    /// Reads on until `isEnough`, for at most `seconds`; `meanwhile` is called between two reads.
    func read(
        seconds: Int64 = 30, until isEnough: ([IncomingRecord]) -> Bool, meanwhile: () throws -> Void = {}
    ) throws {
        let deadline = MonotonicClock.milliseconds + seconds * 1000
        while !isEnough(self.records), MonotonicClock.milliseconds < deadline {
            _ = try self.reader.poll(max: 1000, timeoutMilliseconds: 200, into: &self.records)
            try meanwhile()
        }
    }

    /// Who was told as joined or left in `live`, and when, each once for each time it was told.
    static func tips(_ records: [IncomingRecord], _ live: LiveKey) -> [(text: String, at: Int64)] {
        records.compactMap { record in
            guard record.topic == PlazaTopic.barrageInbox.rawValue, let value = record.value,
                let input = try? Wire.decode(BarrageInput.self, from: value), input.key == live
            else { return nil }
            switch input.command {
            case .tell(.audienceJoined(let user)): return ("+\(user.userID.text)", record.timestamp)
            case .tell(.audienceLeft(let user)): return ("-\(user.userID.text)", record.timestamp)
            default: return nil
            }
        }
    }

    /// When the session's join stood in the inbox: from then on its lease runs.
    static func joinedAt(_ records: [IncomingRecord], session: SessionID) -> Int64? {
        for record in records where record.topic == PlazaTopic.audienceInbox.rawValue {
            guard let value = record.value, let input = try? Wire.decode(AudienceInput.self, from: value),
                case .join(let caller) = input.command, caller.request.session == session
            else { continue }
            return record.timestamp
        }
        return nil
    }

    /// The ticket that `user` was given in a reply.
    static func ticket(_ records: [IncomingRecord], session: SessionID) -> Int64? {
        for record in records where record.topic == PlazaTopic.replies.rawValue {
            guard let value = record.value, let reply = try? Wire.decode(Reply.self, from: value),
                reply.request.session == session, case .success(.joined(let ticket, _, true)) = reply.outcome
            else { continue }
            return ticket.offset
        }
        return nil
    }

    /// The last count of `live`.
    static func count(_ records: [IncomingRecord], _ live: LiveKey) -> CountRecord? {
        records.reversed().lazy
            .filter { $0.topic == PlazaTopic.audienceCounts.rawValue && $0.key == Array(live.text.utf8) }
            .compactMap { $0.value.flatMap { try? Wire.decode(CountRecord.self, from: $0) } }.first
    }
}

/// A shell on a thread of its own.
final class RunningPresence {
    private let shell: MachineShell
    private let thread: ShellThread

    init(_ shell: MachineShell) {
        self.shell = shell
        self.thread = ShellThread { shell.run() }
    }

    func stop() -> Bool {
        self.shell.stop()
        return self.thread.join(seconds: 10)
    }
}
