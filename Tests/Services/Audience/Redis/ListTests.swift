// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Presence
import RedisClient
import TestSupport
import Testing

/// The viewer list, the limits of users and sessions, and what the end of a live and a kick remove.
@Suite(.timeLimit(.minutes(1))) struct ListTests {
    private let fixture: RedisFixture
    private var partition: PartitionHarness { self.fixture.partition }

    init() throws { self.fixture = try RedisFixture() }

    /// Rules: R4.1.
    @Test func `pages of the list contain every viewer once, in the order of joining, without the owner`() throws {
        for index in 0..<25 { self.partition.write(.join(caller: PartitionHarness.caller("u\(index)", counter: 1))) }
        self.partition.write(.join(caller: PartitionHarness.caller("host", counter: 1)))
        // The join of a second device does not move u3 to the end.
        self.partition.write(.join(caller: PartitionHarness.caller("u3", counter: 1, session: "s2")))
        try self.partition.processAndCommit()
        #expect(try self.partition.listUserIDs(pageSize: 4) == (0..<25).map { "u\($0)" })
        #expect(try self.partition.listUserIDs(pageSize: 25) == (0..<25).map { "u\($0)" })
        #expect(try self.partition.listUserIDs(pageSize: 24) == (0..<25).map { "u\($0)" })
    }

    /// Rules: R1.4.
    @Test func `a page shows the names, avatars and join times of its viewers`() throws {
        // Blanks, line breaks and characters of several bytes must pass the script unchanged.
        var user = PartitionHarness.user("alice")
        user.userName = "Álice 5 の\n"
        user.avatarURL = "https://example.org/a b"
        let caller = Caller(
            user: user, role: .user, request: RequestID(session: "s1", counter: 1), replyTo: "gateway-1")
        try self.partition.send(.join(caller: caller))
        // A list needs any ticket above 0, the offset of the live's opening.
        let listCaller = PartitionHarness.caller("alice", counter: 2, ticket: 5)
        let outcomes = PartitionHarness.outcomes(
            try self.partition.send(.list(cursor: "", count: 10, caller: listCaller)))
        let page = try #require(outcomes.first?.audiencePage, "no page: \(outcomes)")
        #expect(page.members.map(\.user) == [user])
        // The harness's clock begins at 1,700,000,000,000 ms, before the join.
        #expect((page.members.first?.joinedAt.milliseconds ?? 0) > 1_700_000_000_000)
        #expect(page.count == 1)
    }

    /// Rules: R3.25.
    @Test func `a full live admits the owner and a second device of a viewer, and nobody else`() throws {
        let connection = RedisLeaseConnection.withoutPause(port: self.fixture.redis.port)
        func join(_ offset: Int64, _ user: String, _ session: String) throws -> RedisReply {
            let (generation, epoch, now, lease) = ("1", "e", "1000", "90000")
            let (live, owner, maxUsers) = ("a/l", "host", "1")
            // A profile begins with the number of bytes of its name. This profile has no name and no avatar.
            let profile = "0 "
            let (earlierTicket, removesOtherSessions) = ("", "0")
            let arguments = [
                generation, epoch, "\(offset)", now, lease, live, owner, user, session, profile, maxUsers,
                earlierTicket, removesOtherSessions,
            ]
            return try connection.run([LeaseScript.join.call(arguments, hashTag: "{audience.5}")])[0]
        }
        _ = try connection.connect()
        let (generation, epoch, lastCommittedOutboxID, now, nothingIsCommitted) = ("1", "e", "0", "1000", "1")
        let begin = LeaseScript.begin.call(
            [generation, epoch, lastCommittedOutboxID, now, nothingIsCommitted], hashTag: "{audience.5}")
        _ = try connection.run([begin])
        for (offset, joining) in [
            (user: "alice", session: "s1"), (user: "alice", session: "s2"), (user: "host", session: "s1"),
            (user: "bob", session: "s1"),
        ].enumerated() {
            // The script returns 1 for every join; the entry in the outbox says whether the join was rejected.
            #expect(try join(Int64(offset), joining.user, joining.session) == .integer(1))
        }
        let plainRedis = try PlainRedisClient(port: self.fixture.redis.port)
        let entries = try plainRedis.run("XRANGE", "{audience.5}:outbox", "-", "+").allTexts
        #expect(entries.count { $0 == "joined" } == 3, "expected alice with two devices, and the owner")
        #expect(entries.count { $0 == "full" } == 1, "expected that bob is rejected")
    }

    @Test func `a join beyond a user's limit of 20 sessions removes the user's oldest session`() throws {
        var tickets: [Int64] = []
        for index in 0..<25 {
            tickets.append(
                self.partition.write(
                    .join(caller: PartitionHarness.caller("alice", counter: 1, session: SessionID("s\(index)")))))
        }
        let effects = try self.partition.processAndCommit()
        #expect(PartitionHarness.joinedUsers(effects) == ["alice"])
        let plainRedis = try PlainRedisClient(port: self.fixture.redis.port)
        #expect(try plainRedis.run("ZCARD", "{audience.0}:leases:demo/stage-1") == .integer(20))
        #expect(try plainRedis.run("HGET", "{audience.0}:state", "sessions") == .text("20"))
        // 25 - 20 = 5 sessions were removed: s0 to s4. The sessions s5 to s23 leave, and s24 stays.
        for index in 5..<24 {
            self.partition.write(
                .leave(
                    caller: PartitionHarness.caller(
                        "alice", counter: 2, ticket: tickets[index], session: SessionID("s\(index)"))
                ))
        }
        #expect(PartitionHarness.leftUsers(try self.partition.processAndCommit()).isEmpty)
        let lastLeaveEffects = try self.partition.send(
            .leave(caller: PartitionHarness.caller("alice", counter: 2, ticket: tickets[24], session: "s24")))
        #expect(PartitionHarness.leftUsers(lastLeaveEffects) == ["alice"])
        #expect(try plainRedis.run("EXISTS", "{audience.0}:members:demo/stage-1") == .integer(0))
    }

    @Test func `the end of a live removes its keys and its sessions from Redis`() throws {
        for index in 0..<5 { self.partition.write(.join(caller: PartitionHarness.caller("u\(index)", counter: 1))) }
        try self.partition.send(.ended(epoch: PartitionHarness.epoch, ending: PartitionHarness.ending))
        try self.partition.sendTick()
        let plainRedis = try PlainRedisClient(port: self.fixture.redis.port)
        let names = try plainRedis.run("KEYS", "*").allTexts
        #expect(names.sorted() == ["{audience.0}:outbox", "{audience.0}:state"], "expected the partition's own keys")
        #expect(try plainRedis.run("XLEN", "{audience.0}:outbox") == .integer(0))
        #expect(try plainRedis.run("HGET", "{audience.0}:state", "sessions") == .text("0"))
    }

    /// Rules: R4.9.
    @Test func `I6 a kick removes all devices of a user`() throws {
        self.partition.write(.join(caller: PartitionHarness.caller("alice", counter: 1)))
        self.partition.write(.join(caller: PartitionHarness.caller("alice", counter: 1, session: "s2")))
        try self.partition.processAndCommit()
        let effects = try self.partition.send(
            .kick(user: "alice", reason: .byAdmin, caller: PartitionHarness.caller("host", counter: 1)))
        #expect(PartitionHarness.leftUsers(effects) == ["alice"])
        #expect(PartitionHarness.notices(effects).count == 1)
        #expect(try self.partition.listUserIDs(pageSize: 10).isEmpty)
    }
}

extension Outcome {
    /// The page of the list, if the outcome is one.
    fileprivate var audiencePage: AudiencePage? {
        if case .success(.audience(let page)) = self { page } else { nil }
    }
}
