// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

/// The expiry of leases.
///
/// A lease is the entry in Redis of a session in a live. It lasts 90 s from the session's last sign of life, and
/// expires at most 2 s later.
@Suite(.timeLimit(.minutes(3))) struct ExpiryTests {
    private let fixture: RedisFixture
    private var partition: PartitionHarness { self.fixture.partition }

    init() throws { self.fixture = try RedisFixture() }

    /// Rules: R1.3.
    @Test func `I4 a viewer leaves no sooner than 90 s after its last heartbeat and no later than 92 s`()
        throws
    {
        let aliceTicket = self.partition.write(.join(caller: PartitionHarness.caller("alice", counter: 1)))
        let bobTicket = self.partition.write(.join(caller: PartitionHarness.caller("bob", counter: 1)))
        try self.partition.processAndCommit()
        try self.partition.tick(seconds: 30)
        try self.partition.send(
            .heartbeats(beats: [
                PartitionHarness.heartbeat("alice", ticket: aliceTicket),
                PartitionHarness.heartbeat("bob", ticket: bobTicket),
            ]))
        // From now on alice is silent, and bob sends a heartbeat every 10 s. The test gives up after 200 s.
        var secondsOfSilence = 0
        while secondsOfSilence < 200 {
            secondsOfSilence += 1
            let effects = try self.partition.tick(seconds: 1)
            if secondsOfSilence % 10 == 0 {
                try self.partition.send(.heartbeats(beats: [PartitionHarness.heartbeat("bob", ticket: bobTicket)]))
            }
            if PartitionHarness.leftUsers(effects) == ["alice"] {
                #expect(PartitionHarness.usersGone(effects) == ["alice"])
                #expect(PartitionHarness.counts(effects).last?.count == 1)
                break
            }
            #expect(PartitionHarness.leftUsers(effects).isEmpty, "expected that nobody but alice leaves")
        }
        #expect((90...92).contains(secondsOfSilence))
        #expect(try self.partition.listUserIDs(pageSize: 10) == ["bob"])
    }

    @Test func `I4 a heartbeat extends the lease from the time of the heartbeat itself, and never shortens it`() throws
    {
        let aliceTicket = try self.join("alice")
        try self.partition.tick(seconds: 20)
        // The first heartbeat was sent 20 - 15 = 5 s after the join, so the lease ends 5 + 90 = 95 s after the join.
        // The second heartbeat was sent 80 s ago, before the join, and must not shorten the lease.
        try self.partition.send(
            .heartbeats(beats: [PartitionHarness.heartbeat("alice", ticket: aliceTicket, silentFor: .seconds(15))]))
        try self.partition.send(
            .heartbeats(beats: [PartitionHarness.heartbeat("alice", ticket: aliceTicket, silentFor: .seconds(80))]))
        // The lease exists 20 + 74 = 94 s after the join, and has expired 94 + 2 = 96 s after the join.
        #expect(PartitionHarness.leftUsers(try self.partition.tick(seconds: 74)).isEmpty)
        #expect(PartitionHarness.leftUsers(try self.partition.tick(seconds: 2)) == ["alice"])
    }

    @Test func `I4 a standstill, a time without any input, is added to all leases`() throws {
        try self.join("alice")
        // A pause between two inputs that is longer than `Moment.maxGap` is a standstill, so the 60 s without input do
        // not count. The lease exists after 80 + 9 = 89 s, and has expired after 89 + 3 = 92 s.
        try self.partition.tick(seconds: 80)
        #expect(PartitionHarness.leftUsers(try self.partition.sendTick(after: .seconds(60))).isEmpty)
        #expect(PartitionHarness.leftUsers(try self.partition.tick(seconds: 9)).isEmpty)
        #expect(PartitionHarness.leftUsers(try self.partition.tick(seconds: 3)) == ["alice"])
    }

    @Test func `I4 a standstill before the first join does not extend the lease of this join`() throws {
        self.partition.write(.join(caller: PartitionHarness.caller("alice", counter: 1)), after: .seconds(5000))
        try self.partition.processAndCommit()
        #expect(PartitionHarness.leftUsers(try self.partition.tick(seconds: 92)) == ["alice"])
    }

    @Test func `a heartbeat after the lease has expired restores the viewer with its profile`() throws {
        let aliceTicket = try self.join("alice")
        #expect(PartitionHarness.leftUsers(try self.partition.tick(seconds: 92)) == ["alice"])
        let effects = try self.partition.send(
            .heartbeats(beats: [PartitionHarness.heartbeat("alice", ticket: aliceTicket)]))
        #expect(PartitionHarness.joinedUsers(effects) == ["alice"])
        #expect(
            effects.contains(
                .barrage(
                    BarrageInput(
                        PartitionHarness.key,
                        .publish(
                            content: .audienceJoined(user: PartitionHarness.user("alice"), continuesVisit: true))))))
        #expect(try self.partition.listUserIDs(pageSize: 10) == ["alice"])
    }

    @Test func `a heartbeat that arrives after a leave or a kick restores nobody`() throws {
        let aliceTicket = try self.join("alice")
        let bobTicket = try self.join("bob")
        try self.partition.send(.leave(caller: PartitionHarness.caller("alice", counter: 2, ticket: aliceTicket)))
        // The kick and the heartbeats are in one batch. Presence turns all inputs of a batch into requests to Redis
        // before it stores the kick, so Redis must reject bob's heartbeat.
        self.partition.write(.kick(user: "bob", reason: .byAdmin, caller: PartitionHarness.caller("host", counter: 1)))
        self.partition.write(
            .heartbeats(beats: [
                PartitionHarness.heartbeat("alice", ticket: aliceTicket),
                PartitionHarness.heartbeat("bob", ticket: bobTicket),
            ]))
        let effects = try self.partition.processAndCommit()
        #expect(PartitionHarness.joinedUsers(effects).isEmpty)
        #expect(PartitionHarness.leftUsers(effects) == ["bob"])
        #expect(try self.partition.listUserIDs(pageSize: 10).isEmpty)
        let rejoinEffects = try self.partition.send(.join(caller: PartitionHarness.caller("bob", counter: 2)))
        #expect(PartitionHarness.joinedUsers(rejoinEffects) == ["bob"])
        #expect(try self.partition.listUserIDs(pageSize: 10) == ["bob"])
    }

    @Test func `a heartbeat that was sent more than a lease's 90 s ago restores nobody`() throws {
        let aliceTicket = try self.join("alice")
        try self.partition.tick(seconds: 92)
        // The heartbeat was sent 92 s ago, and arrives only now.
        let effects = try self.partition.send(
            .heartbeats(beats: [PartitionHarness.heartbeat("alice", ticket: aliceTicket, silentFor: .seconds(92))]))
        #expect(effects.isEmpty)
    }

    @Test func `a leave with the ticket of a session's earlier join removes nothing`() throws {
        let firstTicket = try self.join("alice")
        try self.partition.send(.join(caller: PartitionHarness.caller("alice", counter: 2)))
        let effects = try self.partition.send(
            .leave(caller: PartitionHarness.caller("alice", counter: 3, ticket: firstTicket)))
        #expect(PartitionHarness.leftUsers(effects).isEmpty)
        #expect(try self.partition.listUserIDs(pageSize: 10) == ["alice"])
    }

    @Test func `leases beyond the limit of one tick expire at the next tick`() throws {
        // All users join at the same time, ten more than the leases that may expire at one tick.
        let limitPerTick = 5000
        for index in 0..<(limitPerTick + 10) {
            self.partition.write(
                .join(caller: PartitionHarness.caller("u\(index)", counter: 1)), after: Milliseconds(0))
        }
        try self.partition.processAndCommit()
        // The leases expire at the tick after 89 + 1 = 90 s.
        try self.partition.tick(seconds: 89)
        let leftAtFirstTick = PartitionHarness.leftUsers(try self.partition.tick(seconds: 1))
        let leftAtSecondTick = PartitionHarness.leftUsers(try self.partition.tick(seconds: 1))
        #expect(leftAtFirstTick.count == limitPerTick)
        #expect(leftAtSecondTick.count == 10)
        #expect(Set(leftAtFirstTick + leftAtSecondTick).count == limitPerTick + 10)
    }

    /// Rules: R16.12.
    @Test func `I15 a join that was sent again during a standstill gets its first ticket`() throws {
        let joinCommand = AudienceCommand.join(caller: PartitionHarness.caller("anna", counter: 1))
        let firstOutcomes = PartitionHarness.outcomes(try self.partition.send(joinCommand))
        #expect(firstOutcomes.count == 1)
        // The partition stands still for 80 s; then a new owner reads the repeated join.
        self.partition.write(joinCommand, after: .seconds(80))
        try self.partition.replaceOwner()
        #expect(PartitionHarness.outcomes(try self.partition.processAndCommit()) == firstOutcomes)
        // An outcome is recorded for 60 s, which rounding extends to at most 70 s. The standstill of 80 s does not
        // count, so the outcome was still recorded after the standstill. It is forgotten 75 s later, because 75 s are
        // more than 70 s.
        try self.partition.tick(seconds: 75)
        let lateOutcomes = PartitionHarness.outcomes(try self.partition.send(joinCommand))
        #expect(lateOutcomes == [.failure(error: .requestForgotten)])
    }

    /// Lets a user join with call 1 of its session `s1`; returns the ticket.
    @discardableResult
    private func join(_ name: String) throws -> Int64 {
        let offset = self.partition.write(.join(caller: PartitionHarness.caller(name, counter: 1)))
        try self.partition.processAndCommit()
        return offset
    }
}
