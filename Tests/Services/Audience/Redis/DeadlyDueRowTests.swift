// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Foundation
import KafkaClient
import MachineKit
import PlazaModel
import ServiceShell
import TestSupport
import Testing

/// A poison row in the state of presence: when the row is due, the instance that owns the row's partition crashes.
///
/// A row is a record of presence's state topic; a live's row is due when its count must be published. The instances are
/// processes of `DeadlyPresence`: the presence service with a fault. It crashes when it publishes a count of 2 viewers
/// for a live whose name begins with `deadly`. After some crashes the row is set aside: an owner of the partition
/// removes the row and writes it to the topic of dead letters.
///
/// Each test starts a Kafka broker and up to two processes. The tests run one at a time, because several of them
/// together could make the machine so slow that the bound of 15 s is exceeded.
@Suite(.serialized, .timeLimit(.minutes(3)), .enabled(if: RealKafka.isAvailable, "set KAFKA_HOME"))
struct DeadlyDueRowTests {
    private let harness: PresenceShellHarness
    private let kafka: RealKafka
    private let deadlyLive = LiveKey("test", "deadly")
    /// A live in the partition of the deadly live, whose viewers must be served in spite of the deadly row.
    private let otherLive: LiveKey

    init() throws {
        // Each test has its own broker, because its row must not crash the presence instances of other tests.
        self.kafka = try RealKafka()
        self.harness = try PresenceShellHarness(
            .full, leaseSeconds: 90, on: TopicBroker(self.kafka, clientID: "deadly-presence"))
        let partitions = PresenceShellHarness.partitions
        let partition = PlazaTopic.partition(of: self.deadlyLive.text, among: partitions)
        // Among a hundred names, at least one hashes to the partition of the deadly live.
        self.otherLive = try #require(
            (0..<100).lazy.map { LiveKey("test", LiveID("other-\($0)")) }
                .first { PlazaTopic.partition(of: $0.text, among: partitions) == partition })
    }

    @Test(arguments: [["one"], ["one", "two"]])
    func `I16 a due row of presence that ends its owner is set aside, and other lives are served within 15 s`(
        instances: [String]
    ) throws {
        // The broker must not end before the services.
        defer { withExtendedLifetime(self.kafka) {} }
        let services = self.startServices(instances)
        defer { services.stop() }
        try self.harness.write(.opened(epoch: 1, owner: UserInfo(userID: "host")), self.otherLive)
        try self.join("before", self.otherLive)
        try self.harness.read(until: { PresenceShellHarness.lastCount($0, self.otherLive)?.count == 1 })
        try self.writeDeadlyRow()
        // Three owners of the partition must die without progress before the row is set aside. The death of the first
        // owner does not count, because this owner has committed the join of `before`: 1 + 3 = 4 deaths.
        // The other live then has two viewers, `before` and `after`.
        try self.expectSetAside(deaths: 4, of: services, viewers: 2)
    }

    @Test func `I16 a row that is due in the middle of the first batch is set aside after the third death`()
        throws
    {
        // The broker must not end before the services.
        defer { withExtendedLifetime(self.kafka) {} }
        try self.harness.write(.opened(epoch: 1, owner: UserInfo(userID: "host")), self.otherLive)
        try self.writeDeadlyRow()
        // No instance runs yet. Presence takes its time from the timestamps of the inbox's records, and the deadly row
        // is due a second after its live was opened. Viewers of the other live join for more than a second. So when an
        // instance starts, the row falls due between two inputs of its first batch (the inputs that commit together).
        /// The time from the first to the last input in the inbox.
        func inboxSpan() -> Milliseconds {
            let times = self.harness.records.filter { $0.topic == PlazaTopic.audienceInbox.rawValue }.map(\.timestamp)
            guard let first = times.min(), let last = times.max() else { return Milliseconds(0) }
            return last - first
        }
        var viewers = 0
        var previousRecordCount = 0
        try self.harness.read(
            until: { _ in inboxSpan() > Milliseconds(1200) },
            meanwhile: {
                // A viewer joins only after a read that found nothing new. Without this pause, more than 500 joins
                // would precede the due row, and a batch has at most 500 inputs. The first batch would then be
                // committed before the row is due, but this test needs the row to be due in the first batch.
                defer { previousRecordCount = self.harness.records.count }
                guard self.harness.records.count == previousRecordCount else { return }
                viewers += 1
                try self.join("viewer\(viewers)", self.otherLive)
            })
        let services = self.startServices(["one"])
        defer { services.stop() }
        // No owner makes progress before it dies, so every death counts. The other live then has the viewers from above
        // and `after`.
        try self.expectSetAside(deaths: 3, of: services, viewers: viewers + 1)
    }

    /// Starts `DeadlyPresence` processes with these instance names, each of which is started again when it dies.
    private func startServices(_ instances: [String]) -> SupervisedProcesses {
        let (brokers, port) = (self.harness.kafkaSettings.brokers, self.harness.redis.port)
        return SupervisedProcesses("DeadlyPresence", instances) {
            [brokers, $0, "\(PresenceShellHarness.partitions)", "\(port)"]
        }
    }

    /// Opens the deadly live, and lets two viewers join within a second.
    ///
    /// Their count of 2 is published when the live's row is due, and its publication crashes the instance.
    private func writeDeadlyRow() throws {
        try self.harness.write(.opened(epoch: 1, owner: UserInfo(userID: "host")), self.deadlyLive)
        for user in ["alice", "bob"] { try self.join(user, self.deadlyLive) }
    }

    /// Waits until the deadly live's row is in the topic of dead letters, then lets `after` join the other live.
    ///
    /// `deaths` is the number of owners that die before the row is set aside. `viewers` is the number of viewers of the
    /// other live after the join of `after`.
    private func expectSetAside(deaths: Int, of services: SupervisedProcesses, viewers: Int) throws {
        let start = MonotonicClock.now
        func deadLetters(_ records: [IncomingRecord]) -> [IncomingRecord] {
            records.filter { $0.topic == PlazaTopic.deadLetters.rawValue }
        }
        try self.harness.read(until: { !deadLetters($0).isEmpty })
        try self.join("after", self.otherLive)
        try self.harness.read(until: { PresenceShellHarness.lastCount($0, self.otherLive)?.count == viewers })
        let outage = MonotonicClock.now - start
        #expect(PresenceShellHarness.lastCount(self.harness.records, self.otherLive)?.count == viewers)
        let letters = deadLetters(self.harness.records)
        #expect(letters.count == 1)
        let letter = try #require(letters.first)
        #expect(letter.key.map { String(decoding: $0, as: UTF8.self) } == "live/\(self.deadlyLive.text)")
        #expect(letter.header("dead-topic").map { String(decoding: $0, as: UTF8.self) } == "audience.state")
        // Before an owner processes the row, it writes a record of this attempt, from which the next owner counts the
        // deaths. An owner waits at most 100 ms for the write. On a slow machine an owner may therefore die before its
        // record is written, so one more death is allowed.
        #expect((deaths...deaths + 1).contains(services.deathCount))
        print("\(services.deathCount) deaths: the partition is served again after \(outage.count) ms")
        #expect(outage < .seconds(15))
    }

    /// Writes a join of the user to the inbox of presence.
    private func join(_ user: String, _ live: LiveKey) throws {
        let caller = Caller(
            user: UserInfo(userID: UserID(user)), role: .user,
            request: RequestID(session: SessionID("\(user)-1"), counter: 1), replyTo: "gateway-1")
        try self.harness.write(.join(caller: caller), live)
    }
}
