// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Foundation
import KafkaClient
import MachineKit
import PlazaModel
import ServiceShell
import TestSupport
import Testing

/// A row of presence that ends the process of its owner when the row is due.
///
/// The processes are `DeadlyPresence`: presence that ends itself when it publishes the count 2 of a live named
/// `deadly`. After some deaths the row is set aside: an owner removes the row and writes it to the topic of dead
/// letters. All tests use the same consumer group, so they run one at a time.
@Suite(.serialized, .timeLimit(.minutes(3)), .enabled(if: RealKafka.isAvailable, "set KAFKA_HOME"))
struct DeadlyDueRowTests {
    private let harness: PresenceShellHarness
    private let kafka: RealKafka
    private let deadlyLive = LiveKey("test", "deadly")
    /// A live of the same partition, whose viewers must be served in spite of the deadly row.
    private let otherLive: LiveKey

    init() throws {
        // The test has its own broker, because its rows must not end the shells of other tests.
        self.kafka = try RealKafka()
        self.harness = try PresenceShellHarness(
            .full, leaseSeconds: 90, on: TopicBroker(self.kafka, clientID: "deadly-presence"))
        let partitions = PresenceShellHarness.partitions
        let partition = PlazaTopic.partition(of: self.deadlyLive.text, among: partitions)
        // One of a hundred names falls into the partition of the deadly live.
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
        // Three owners must die without progress before the row is set aside. The first owner's death does not count,
        // because it has made progress since it acquired the partition: 1 + 3 = 4 deaths.
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
        // No service runs yet. Viewers join the other live for more than a second, so the row, which is due a second
        // after its live was opened, falls due between inputs of the first batch.
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
                // A viewer joins only after a read that found nothing new. Without this pause, more inputs than fit
                // into one batch (500) would precede the due row, and the batches before that of the row would be
                // committed.
                defer { previousRecordCount = self.harness.records.count }
                guard self.harness.records.count == previousRecordCount else { return }
                viewers += 1
                try self.join("viewer\(viewers)", self.otherLive)
            })
        let services = self.startServices(["one"])
        defer { services.stop() }
        // No owner makes progress before it dies. The viewer `after` joins last.
        try self.expectSetAside(deaths: 3, of: services, viewers: viewers + 1)
    }

    /// Starts `DeadlyPresence` processes with these instance names, each of which is started again when it dies.
    private func startServices(_ instances: [String]) -> SupervisedProcesses {
        let (brokers, port) = (self.harness.kafkaSettings.brokers, self.harness.redis.port)
        return SupervisedProcesses("DeadlyPresence", instances) {
            [brokers, $0, "\(PresenceShellHarness.partitions)", "\(port)"]
        }
    }

    /// Opens the deadly live, and lets two viewers join within a second: their count of 2 makes the live's row deadly.
    private func writeDeadlyRow() throws {
        try self.harness.write(.opened(epoch: 1, owner: UserInfo(userID: "host")), self.deadlyLive)
        for user in ["alice", "bob"] { try self.join(user, self.deadlyLive) }
    }

    /// Waits for the dead letter of the deadly live's row, then lets the viewer `after` join the other live.
    ///
    /// `deaths` is how many owners die until the row is set aside; `viewers` is how many viewers the other live has
    /// after this join.
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
        // One more death is allowed: an owner waits only 100 ms until its record of the attempt is written, so on a
        // slow machine one death may leave no record.
        #expect((deaths...deaths + 1).contains(services.deathCount))
        print("\(services.deathCount) deaths: the partition is served again after \(outage.count) ms")
        #expect(outage < .seconds(15))
    }

    /// Writes a join of the user to the inbox.
    private func join(_ user: String, _ live: LiveKey) throws {
        let caller = Caller(
            user: UserInfo(userID: UserID(user)), role: .user,
            request: RequestID(session: SessionID("\(user)-1"), counter: 1), replyTo: "gateway-1")
        try self.harness.write(.join(caller: caller), live)
    }
}
