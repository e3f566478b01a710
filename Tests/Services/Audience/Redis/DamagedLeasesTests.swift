// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import Presence
import TestSupport
import Testing

/// Values in Redis that no script has written: after a mistake of an operator, an eviction or a restored copy.
///
/// Redis holds the leases, the entries of the viewers' sessions. When a script fails at a damaged value, a new presence
/// epoch begins without leases, and gateways assert (list) all their sessions again. So a damaged value costs at most
/// two new epochs, and never stops the partition.
@Suite(.timeLimit(.minutes(2))) struct DamagedLeasesTests {
    private let fixture: RedisFixture
    private var partition: PartitionHarness { self.fixture.partition }

    init() throws { self.fixture = try RedisFixture() }

    /// The damages to the leases of partition 0, each as the Redis commands that cause it.
    static let damages: [[[String]]] = {
        var damages: [[[String]]] = []
        let state = "{audience.0}:state"
        // The fields contain numbers; these values are not numbers, or numbers that are too large.
        for field in ["offset", "id", "clock", "paused", "sessions"] {
            for value in ["", "x", "inf", "nan", "9e30", "99999999999999999999"] {
                damages.append([["HSET", state, field, value]])
            }
            damages.append([["HDEL", state, field]])
        }
        for value in ["", "x", "nan"] { damages.append([["HSET", state, "generation", value]]) }
        let live = PartitionHarness.key.text
        // Keys whose values have another type than the scripts expect.
        for name in ["state", "outbox", "due", "leases:\(live)", "order:\(live)", "members:\(live)"] {
            let key = "{audience.0}:\(name)"
            damages.append([["DEL", key], ["SET", key, "x"]])
            damages.append([["DEL", key], ["RPUSH", key, "x"]])
        }
        // Two damages at once: the leases have another type, and without the index `due` no script finds the live.
        let leases = "{audience.0}:leases:\(live)"
        damages.append([["DEL", "{audience.0}:due", leases], ["SET", leases, "x"]])
        // A member of the leases is `user/session`.
        damages.append([["ZADD", leases, "0", "no-slash"], ["ZADD", "{audience.0}:due", "0", live]])
        // Outbox entries with higher ids than the scripts will write next. The field `k` is the kind of change.
        damages.append([["XADD", "{audience.0}:outbox", "18446744073709551615-1", "k", "joined"]])
        damages.append([["XADD", "{audience.0}:outbox", "999999-0", "k", "joined"], ["DEL", state]])
        return damages
    }()

    @Test(arguments: Self.damages)
    func `I5 a damaged value in Redis costs at most two new epochs, and no viewer is lost`(damage: [[String]])
        throws
    {
        // Three viewers join; then the value is damaged.
        var members: [MemberSession] = []
        var tickets: [String: Int64] = [:]
        for name in ["alice", "bob", "carol"] {
            let ticket = self.partition.write(.join(caller: PartitionHarness.caller(name, counter: 1)))
            tickets[name] = ticket
            members.append(
                MemberSession(
                    session: "s1", user: PartitionHarness.user(name), ticket: Ticket(ticket), silentFor: 100))
        }
        try self.partition.processAndCommit()
        try self.partition.tick(seconds: 2)
        let plainRedis = try PlainRedisClient(port: self.fixture.redis.port)
        _ = try plainRedis.run(damage)

        // The join of a second device reads and writes all keys of the live, so a script meets the damage.
        try self.partition.send(.join(caller: PartitionHarness.caller("alice", counter: 2, session: "s2")))
        try self.partition.tick(seconds: 3)
        try self.partition.send(.assert(members: members))
        // A new epoch settles after 12 s, so it has settled after 14 s.
        try self.partition.tick(seconds: 14)
        let bobsHeartbeat = PartitionHarness.heartbeat("bob", ticket: tickets["bob"] ?? 0)
        try self.partition.send(.heartbeats(beats: [bobsHeartbeat]))
        #expect(try self.partition.listUserIDs(pageSize: 10).sorted() == ["alice", "bob", "carol"])
        #expect(
            PartitionHarness.epochs(self.partition.published).count <= 3,
            "expected the first epoch and at most two more")
        #expect(PartitionHarness.leftUsers(self.partition.published).isEmpty)

        let joinEffects = try self.partition.send(.join(caller: PartitionHarness.caller("dora", counter: 1)))
        guard case .success(.joined(_, _, let isConfirmed, _))? = PartitionHarness.outcomes(joinEffects).first else {
            Issue.record("dora did not join: \(joinEffects)")
            return
        }
        #expect(isConfirmed)
        let counts = PartitionHarness.counts(joinEffects + (try self.partition.tick(seconds: 2))).map(\.count)
        #expect(counts == [4], "expected alice, bob, carol and dora")
    }

    // `gone:LIVE:USER/SESSION` is the ticket of a session that has left, `gone:LIVE:USER/` the offset of a kick.
    @Test(arguments: ["gone:\(PartitionHarness.key.text):eve/s1", "gone:\(PartitionHarness.key.text):eve/"])
    func `an unreadable record of a leave or of a kick keeps nobody out of the live`(keyName: String)
        throws
    {
        try self.partition.tick(seconds: 2)
        let plainRedis = try PlainRedisClient(port: self.fixture.redis.port)
        try plainRedis.run("SET", "{audience.0}:\(keyName)", "x")
        // `past:LIVE:USER` is the profile of a user whose leases have expired.
        try plainRedis.run("RPUSH", "{audience.0}:past:\(PartitionHarness.key.text):eve", "x")
        // eve has not joined. For a heartbeat, any ticket between the offset of the live's opening and the offset of
        // the heartbeat suffices, so eve uses the offset of the last tick.
        let ticket = Int64(self.partition.inbox.count) - 1
        try self.partition.send(.heartbeats(beats: [PartitionHarness.heartbeat("eve", ticket: ticket)]))
        let listed = try self.partition.listUserIDs(pageSize: 10)
        #expect(listed == ["eve"])
        #expect(PartitionHarness.epochs(self.partition.published).count == 1)
    }

    @Test func `I5 a malformed reply of Redis when an owner opens the partition costs one new epoch`() throws {
        let connection = InterruptibleConnection(RedisLeaseConnection.withoutPause(port: self.fixture.redis.port))
        connection.garblesReplyOfOpen = true
        try self.partition.replaceOwner(connection: connection)
        let effects = try self.partition.tick(seconds: 2)
        #expect(PartitionHarness.counts(effects).map(\.stale).first == true)
        #expect(PartitionHarness.epochs(effects).count == 1)
        try self.partition.tick(seconds: 14)
        try self.partition.send(.join(caller: PartitionHarness.caller("alice", counter: 1)))
        #expect(try self.partition.listUserIDs(pageSize: 10) == ["alice"])
    }

    @Test func `a new cluster is not fenced by the higher generation of an old one`() throws {
        // A generation is the offset of the owner's first tick. After 20 ticks, the next owner of the old cluster has a
        // higher generation than the first owner of the new cluster, whose inbox begins at 0.
        try self.partition.tick(seconds: 20)
        try self.partition.replaceOwner()
        try self.partition.processAndCommit()
        let newCluster = try PartitionHarness(redisPort: self.fixture.redis.port)
        try newCluster.processAndCommit()
        try newCluster.send(.join(caller: PartitionHarness.caller("alice", counter: 1)))
        #expect(try newCluster.listUserIDs(pageSize: 10) == ["alice"])
    }
}
