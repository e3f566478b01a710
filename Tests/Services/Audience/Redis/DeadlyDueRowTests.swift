// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Foundation
import KafkaClient
import MachineKit
import PlazaModel
import ServiceShell
import TestSupport
import Testing

/// A row of presence that ends the process of its owner when the row is due (`DeadlyPresence`).
///
/// After some deaths the row is set aside: an owner removes it and writes it to the topic of dead letters. All tests
/// use the same group, so they run one at a time.
@Suite(.serialized, .timeLimit(.minutes(3)), .enabled(if: LiveKafka.isAvailable, "set KAFKA_HOME"))
struct DeadlyDueRowTests {
    private let harness: PresenceShellHarness
    private let kafka: LiveKafka
    private let deadlyLive = LiveKey("test", "deadly")
    /// A live of the same partition.
    private let otherLive: LiveKey

    init() throws {
        // The test has its own broker, because its rows must not end the shells of other tests.
        self.kafka = try LiveKafka()
        self.harness = try PresenceShellHarness(
            .full, leaseSeconds: 90, on: TopicBroker(self.kafka, clientID: "deadly-presence"))
        let partitions = PresenceShellHarness.partitions
        let partition = PlazaTopic.partition(of: self.deadlyLive.text, among: partitions)
        self.otherLive = try #require(
            (0..<100).lazy.map { LiveKey("test", LiveID("other-\($0)")) }
                .first { PlazaTopic.partition(of: $0.text, among: partitions) == partition })
    }

    @Test(arguments: [["one"], ["one", "two"]])
    func `I16 a due row of presence that ends its owner is set aside, and other lives are served within 15 s`(
        instances: [String]
    ) throws {
        defer { withExtendedLifetime(self.kafka) {} }
        let services = self.startServices(instances)
        defer { services.stop() }
        try self.harness.write(.opened(epoch: 1, owner: UserInfo(userID: "host")), self.otherLive)
        try self.join("before", self.otherLive)
        try self.harness.read(until: { PresenceShellHarness.count($0, self.otherLive)?.count == 1 })
        try self.writeDeadlyRow()
        // The first owner has made progress since it acquired the partition, so its record of attempts is void when it
        // dies. The next three owners die without progress. The other live's viewers are `before` and `after`.
        try self.expectSetAside(deaths: 4, of: services, viewers: 2)
    }

    @Test func `I16 a row that is due in the middle of the first batch is set aside after the third death`()
        throws
    {
        defer { withExtendedLifetime(self.kafka) {} }
        try self.harness.write(.opened(epoch: 1, owner: UserInfo(userID: "host")), self.otherLive)
        try self.writeDeadlyRow()
        // The row is due a second after the live was opened. The joins after that time are in the same batch.
        func inboxTimes() -> [Int64] {
            self.harness.records.filter { $0.topic == PlazaTopic.audienceInbox.rawValue }.map(\.timestamp)
        }
        var viewers = 0
        var recordsBefore = 0
        try self.harness.read(
            until: { _ in (inboxTimes().max() ?? 0) - (inboxTimes().min() ?? 0) > 1200 },
            meanwhile: {
                // The next viewer joins after a read that found nothing: without this pause, more joins than fit in one
                // batch (500 records) would precede the due row, and the batches before it would be committed.
                defer { recordsBefore = self.harness.records.count }
                guard self.harness.records.count == recordsBefore else { return }
                viewers += 1
                try self.join("viewer\(viewers)", self.otherLive)
            })
        let services = self.startServices(["one"])
        defer { services.stop() }
        try self.expectSetAside(deaths: 3, of: services, viewers: viewers + 1)
    }

    /// Starts `DeadlyPresence` processes with these instance names, each of which is started again when it dies.
    private func startServices(_ instances: [String]) -> SupervisedProcesses {
        let (brokers, port) = (self.harness.settings.brokers, self.harness.redis.port)
        return SupervisedProcesses("DeadlyPresence", instances) {
            [brokers, $0, "\(PresenceShellHarness.partitions)", "\(port)"]
        }
    }

    /// Opens the deadly live, and lets two viewers join within a second.
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
        try self.harness.read(until: { PresenceShellHarness.count($0, self.otherLive)?.count == viewers })
        let outage = MonotonicClock.now - start
        #expect(PresenceShellHarness.count(self.harness.records, self.otherLive)?.count == viewers)
        let letters = deadLetters(self.harness.records)
        #expect(letters.count == 1)
        let letter = try #require(letters.first)
        #expect(letter.key.map { String(decoding: $0, as: UTF8.self) } == "live/\(self.deadlyLive.text)")
        #expect(letter.header("dead-topic").map { String(decoding: $0, as: UTF8.self) } == "audience.state")
        // An owner waits only 100 ms for the record of attempts that it writes at an acquisition, so on a slow machine
        // one death may leave no evidence.
        #expect((deaths...deaths + 1).contains(services.deathCount))
        print("\(deaths) deaths: back after \(outage.count) ms")
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
