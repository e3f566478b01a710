// SPDX-License-Identifier: Apache-2.0
import Foundation
import MachineKit
import PlazaModel
import Presence
import RedisClient
import TestSupport
import Testing

/// Presence epochs: when a new epoch begins, and how gateways restore the viewers until the epoch has settled.
///
/// An epoch is one life of the leases, the entries of the viewers' sessions in Redis. When Redis loses the leases, a
/// new epoch begins without them. For 12 s, until the epoch settles, gateways assert (list) their sessions, and the
/// counts are published as stale.
@Suite(.timeLimit(.minutes(1))) struct EpochTests {
    private let fixture: RedisFixture
    private var partition: PartitionHarness { self.fixture.partition }

    init() throws { self.fixture = try RedisFixture() }

    @Test func `the first owner begins an epoch, and later owners keep it`() throws {
        #expect(PartitionHarness.epochs(self.partition.published).count == 1)
        try self.partition.replaceOwner()
        #expect(PartitionHarness.epochs(try self.partition.processAndCommit()).isEmpty)
    }

    @Test func `I5 after FLUSHALL viewers are asserted again, and list and count are correct within 15 s`() throws {
        let tickets = try self.joinAliceBobAndCarol()
        try PlainRedisClient(port: self.fixture.redis.port).run("FLUSHALL")
        let epochEffects = try self.partition.tick(seconds: 1)
        #expect(PartitionHarness.epochs(epochEffects).count == 1)
        #expect(PartitionHarness.counts(epochEffects).map(\.stale) == [true])
        #expect(PartitionHarness.counts(epochEffects).map(\.count) == [3])
        try self.assertViewersAndExpectSettled(tickets)
    }

    @Test func `I5 after a restart of Redis without its data, list and count are correct within 15 s`() throws {
        // The Redis of the fixture keeps no data on disk.
        let tickets = try self.joinAliceBobAndCarol()
        self.fixture.redis.kill()
        #expect(PartitionHarness.counts(try self.partition.tick(seconds: 3)).map(\.stale) == [true])
        try self.fixture.redis.restart()
        #expect(PartitionHarness.epochs(try self.partition.tick(seconds: 1)).count == 1)
        try self.assertViewersAndExpectSettled(tickets)
    }

    @Test func `I5 a restart of Redis with its data also begins a new epoch, because the data may be old`() throws {
        let dataFolder = FileManager.default.temporaryDirectory.appending(path: "presence-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: dataFolder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: dataFolder) }
        let redis = try RealRedis(
            arguments: ["--dir", dataFolder.path, "--appendonly", "yes", "--appendfsync", "always"])
        let partition = try PartitionHarness(redisPort: redis.port)
        try partition.send(.join(caller: PartitionHarness.caller("alice", counter: 1)))
        redis.kill()
        try partition.tick(seconds: 2)
        try redis.restart()
        let effects = try partition.tick(seconds: 1)
        #expect(PartitionHarness.epochs(effects).count == 1)
        #expect(PartitionHarness.leftUsers(partition.published).isEmpty, "expected that alice has not left")
    }

    @Test func `I5 a join while Redis cannot be reached causes a new epoch, but ticks alone do not`() throws {
        let connection = InterruptibleConnection(RedisLeaseConnection.withoutPause(port: self.fixture.redis.port))
        try self.partition.replaceOwner(connection: connection)
        let tickets = try self.joinAliceBobAndCarol()
        connection.isCut = true
        let effectsWhileCut = try self.partition.tick(seconds: 120)
        #expect(PartitionHarness.counts(effectsWhileCut).map(\.stale) == [true])
        connection.isCut = false
        let effectsAfterwards = try self.partition.tick(seconds: 1)
        #expect(PartitionHarness.epochs(effectsAfterwards).isEmpty)
        #expect(PartitionHarness.counts(effectsAfterwards).map(\.stale) == [false])
        // No heartbeat was sent for 120 + 30 = 150 s, and a lease lasts 90 s. Nobody has left, because every lease is
        // extended by the 120 s without Redis.
        #expect(PartitionHarness.leftUsers(try self.partition.tick(seconds: 30)).isEmpty)

        connection.isCut = true
        let joined = try self.partition.send(.join(caller: PartitionHarness.caller("dora", counter: 1)))
        // Redis has no lease for the join, so the join is not confirmed.
        guard case .success(.joined(_, _, confirmed: false, _))? = PartitionHarness.outcomes(joined).first else {
            Issue.record("the join is not marked as unconfirmed: \(joined)")
            return
        }
        #expect(PartitionHarness.joinedUsers(joined) == ["dora"])
        connection.isCut = false
        #expect(PartitionHarness.epochs(try self.partition.tick(seconds: 1)).count == 1)
        try self.assertViewersAndExpectSettled(tickets)
    }

    @Test func `I5 a batch that Redis executes while the connection breaks counts as decided without Redis`() throws {
        let connection = InterruptibleConnection(RedisLeaseConnection.withoutPause(port: self.fixture.redis.port))
        try self.partition.replaceOwner(connection: connection)
        let tickets = try self.joinAliceBobAndCarol()
        connection.breaksAfterNextPipeline = true
        // Redis executes this tick, but its reply is lost.
        try self.partition.tick(seconds: 1)
        #expect(PartitionHarness.epochs(try self.partition.tick(seconds: 1)).count == 1)
        try self.assertViewersAndExpectSettled(tickets)
    }

    @Test func `I5 when the transaction of a new epoch aborts, the epoch begins again under another name`() throws {
        try self.joinAliceBobAndCarol()
        try PlainRedisClient(port: self.fixture.redis.port).run("FLUSHALL")
        self.partition.writeTick(after: .seconds(1))
        // The same tick begins an epoch in a transaction that aborts, and again in a transaction that commits.
        let abortedEpochs = PartitionHarness.epochs(try self.partition.process())
        self.partition.rollback()
        let committedEpochs = PartitionHarness.epochs(try self.partition.process())
        self.partition.commit()
        #expect(abortedEpochs.count == 1)
        #expect(committedEpochs.count == 1)
        #expect(abortedEpochs != committedEpochs)
        #expect(PartitionHarness.epochs(try self.partition.tick(seconds: 1)).isEmpty)
    }

    @Test func `a new cluster ignores the data that it finds in an old Redis`() throws {
        try self.joinAliceBobAndCarol()
        // Redis stores the offset of the last processed input. After 200 ticks it is higher than every offset of the
        // new cluster, whose inbox begins at 0.
        try self.partition.tick(seconds: 200)
        let newCluster = try PartitionHarness(redisPort: self.fixture.redis.port)
        try newCluster.processAndCommit()
        let joinEffects = try newCluster.send(.join(caller: PartitionHarness.caller("alice", counter: 1)))
        #expect(PartitionHarness.joinedUsers(joinEffects) == ["alice"])
        #expect(try newCluster.listUserIDs(pageSize: 10) == ["alice"])
    }

    @Test func `I5 a viewer who is not asserted is gone when the epoch has settled`() throws {
        let tickets = try self.joinAliceBobAndCarol()
        try PlainRedisClient(port: self.fixture.redis.port).run("FLUSHALL")
        try self.partition.tick(seconds: 1)
        try self.partition.send(.assert(members: [self.assertedSession(of: "alice", tickets)]))
        let settled = try self.partition.tick(seconds: 12)
        #expect(PartitionHarness.counts(settled).map(\.count) == [1], "expected alice alone")
        // Another machine asks whether bob and alice are still in the live.
        #expect(PartitionHarness.usersGone(try self.partition.send(.confirm(user: "bob"))) == ["bob"])
        #expect(PartitionHarness.usersGone(try self.partition.send(.confirm(user: "alice"))).isEmpty)
    }

    /// How Redis loses the leases while an epoch settles: Redis is emptied, dies, or restarts without its data.
    enum LeaseLoss: CaseIterable { case flush, crash, restart }

    @Test(arguments: LeaseLoss.allCases)
    func `I5 an epoch does not settle by its due row alone, without an input, if Redis has lost the epoch`(
        loss: LeaseLoss
    ) throws {
        let tickets = try self.joinAliceBobAndCarol()
        try PlainRedisClient(port: self.fixture.redis.port).run("FLUSHALL")
        try self.partition.tick(seconds: 1)
        try self.partition.send(.assert(members: tickets.keys.sorted().map { self.assertedSession(of: $0, tickets) }))
        switch loss {
        case .flush: try PlainRedisClient(port: self.fixture.redis.port).run("FLUSHALL")
        case .crash, .restart: self.fixture.redis.kill()
        }
        if loss == .restart { try self.fixture.redis.restart() }
        // The epoch is due to settle before this tick. The due row is handled alone, without the tick, as an instance
        // does after a crash.
        self.partition.writeTick(after: .seconds(12))
        let effectsOfDueRow = try self.partition.processAndCommitNextDue()
        #expect(PartitionHarness.counts(effectsOfDueRow).allSatisfy { $0.stale }, "expected no fresh count")
        #expect(!effectsOfDueRow.contains(.seat(SeatInput(PartitionHarness.key, .confirmOccupants))))
        #expect(PartitionHarness.usersGone(self.partition.published).isEmpty)

        // While Redis is down, no epoch can begin, so the tick is processed without a new epoch. Then Redis restarts.
        if loss == .crash {
            try self.partition.processAndCommit()
            try self.fixture.redis.restart()
            self.partition.writeTick(after: .seconds(1))
        }
        #expect(PartitionHarness.epochs(try self.partition.processAndCommit()).count == 1)
        try self.assertViewersAndExpectSettled(tickets)
    }

    @Test func `an epoch that Redis still has settles by its due row alone, without an input`() throws {
        let tickets = try self.joinAliceBobAndCarol()
        try PlainRedisClient(port: self.fixture.redis.port).run("FLUSHALL")
        try self.partition.tick(seconds: 1)
        try self.partition.send(.assert(members: tickets.keys.sorted().map { self.assertedSession(of: $0, tickets) }))
        self.partition.writeTick(after: .seconds(12))
        let effectsOfDueRow = try self.partition.processAndCommitNextDue()
        #expect(PartitionHarness.counts(effectsOfDueRow).map(\.count) == [3])
        #expect(PartitionHarness.counts(effectsOfDueRow).map(\.stale) == [false])
        #expect(PartitionHarness.epochs(try self.partition.processAndCommit()).isEmpty)
    }

    @Test func `I5 without committed metadata a new epoch begins, and the viewers are asserted again`() throws {
        let tickets = try self.joinAliceBobAndCarol()
        self.partition.removeCommittedMetadata()
        try self.partition.replaceOwner()
        let effects = try self.partition.processAndCommit()
        #expect(PartitionHarness.epochs(effects).count == 1)
        #expect(PartitionHarness.counts(effects).map(\.stale) == [true])
        try self.assertViewersAndExpectSettled(tickets)
    }

    // MARK: Steps

    /// Lets alice, bob and carol join, and waits until their count is published; returns their tickets.
    @discardableResult
    private func joinAliceBobAndCarol() throws -> [String: Int64] {
        var tickets: [String: Int64] = [:]
        for name in ["alice", "bob", "carol"] {
            tickets[name] = self.partition.write(.join(caller: PartitionHarness.caller(name, counter: 1)))
        }
        try self.partition.processAndCommit()
        try self.partition.tick(seconds: 2)
        return tickets
    }

    /// A viewer's session as a gateway asserts it; the gateway got the session's last heartbeat 100 ms ago.
    private func assertedSession(of name: String, _ tickets: [String: Int64]) -> MemberSession {
        MemberSession(
            session: "s1", user: PartitionHarness.user(name), ticket: Ticket(tickets[name] ?? 0), silentFor: 100)
    }

    /// Lets bob send a heartbeat and a gateway assert the three viewers, and waits until the epoch has settled.
    ///
    /// Checks that list and count are correct, that no leave was published, and that no join was published twice.
    private func assertViewersAndExpectSettled(_ tickets: [String: Int64]) throws {
        let names = tickets.keys.sorted()
        try self.partition.send(.heartbeats(beats: [PartitionHarness.heartbeat("bob", ticket: tickets["bob"] ?? 0)]))
        let sessions = names.map { self.assertedSession(of: $0, tickets) }
        #expect(try self.partition.send(.assert(members: sessions)).isEmpty)
        #expect(try self.partition.listUserIDs(pageSize: 2).sorted() == names)
        let settled = try self.partition.tick(seconds: 12)
        #expect(PartitionHarness.counts(settled).map(\.count) == [names.count])
        #expect(PartitionHarness.counts(settled).map(\.stale) == [false])
        #expect(settled.contains(.seat(SeatInput(PartitionHarness.key, .confirmOccupants))))
        #expect(PartitionHarness.leftUsers(self.partition.published).isEmpty)
        #expect(PartitionHarness.usersGone(self.partition.published).isEmpty)
        let joinedUsers = PartitionHarness.joinedUsers(self.partition.published)
        #expect(joinedUsers.count == Set(joinedUsers).count, "expected that no join is published twice")
    }
}

/// A connection that a test can cut, or break after Redis has executed the next pipeline.
final class InterruptibleConnection: LeaseConnection {
    var isCut = false
    var breaksAfterNextPipeline = false
    /// Whether the reply of the script `open` is replaced by a malformed one.
    var garblesReplyOfOpen = false
    private let connection: any LeaseConnection

    init(_ connection: any LeaseConnection) { self.connection = connection }

    func connect() throws(RedisError) -> RedisClient.Identity {
        if self.isCut { throw .unreachable("cut") }
        return try self.connection.connect()
    }

    func run(_ calls: [RedisScriptCall]) throws(RedisError) -> [RedisReply] {
        if self.isCut { throw .unreachable("cut") }
        var replies = try self.connection.run(calls)
        if self.garblesReplyOfOpen, calls.first?.script.name == "open" { replies = [.array([.null])] }
        if self.breaksAfterNextPipeline {
            self.breaksAfterNextPipeline = false
            throw .disconnected("cut after sending")
        }
        return replies
    }
}
