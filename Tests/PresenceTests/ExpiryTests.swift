// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import Presence
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3))) struct ExpiryTests {
    let redis: LiveRedis
    let partition: Partition

    init() throws {
        self.redis = try LiveRedis()
        self.partition = try Partition(redis: self.redis.port)
        try self.partition.run()
    }

    @Test func `I4 a silent viewer goes offline no sooner than 90 s after its last heartbeat and no later than 92 s`()
        throws
    {
        let alice = self.partition.write(.join(caller: Partition.caller("alice", 1)))
        let bob = self.partition.write(.join(caller: Partition.caller("bob", 1)))
        try self.partition.run()
        try self.partition.tick(seconds: 30)
        try self.partition.send(.heartbeats(beats: [Partition.beat("alice", alice), Partition.beat("bob", bob)]))
        var seconds = 0
        while seconds < 200 {
            seconds += 1
            let effects = try self.partition.tick(seconds: 1)
            if seconds % 10 == 0 { try self.partition.send(.heartbeats(beats: [Partition.beat("bob", bob)])) }
            if Partition.leftTips(effects) == ["alice"] {
                #expect(Partition.gone(effects) == ["alice"])
                #expect(Partition.counts(effects).last?.count == 1)
                break
            }
            #expect(Partition.leftTips(effects).isEmpty)
        }
        #expect((90...92).contains(seconds))
        #expect(try self.partition.list(page: 10) == ["bob"])
    }

    @Test func `I4 the age of a sign of life counts, and a lease is never shortened`() throws {
        let alice = try self.join("alice")
        try self.partition.tick(seconds: 20)
        try self.partition.send(.heartbeats(beats: [Partition.beat("alice", alice, silentFor: 15_000)]))
        try self.partition.send(.heartbeats(beats: [Partition.beat("alice", alice, silentFor: 80_000)]))
        #expect(Partition.leftTips(try self.partition.tick(seconds: 74)).isEmpty)
        #expect(Partition.leftTips(try self.partition.tick(seconds: 2)) == ["alice"])
    }

    @Test func `I4 a time in which nothing came in is added to all leases`() throws {
        try self.join("alice")
        try self.partition.tick(seconds: 80)
        #expect(Partition.leftTips(try self.partition.send(nil, after: .seconds(60))).isEmpty)
        #expect(Partition.leftTips(try self.partition.tick(seconds: 9)).isEmpty)
        #expect(Partition.leftTips(try self.partition.tick(seconds: 3)) == ["alice"])
    }

    @Test func `I4 a long silence before the first join does not lengthen its lease`() throws {
        self.partition.write(.join(caller: Partition.caller("alice", 1)), after: .seconds(5000))
        try self.partition.run()
        #expect(Partition.leftTips(try self.partition.tick(seconds: 92)) == ["alice"])
    }

    @Test func `a sign of life after the lease has ended brings the viewer back, as it was`() throws {
        let alice = try self.join("alice")
        #expect(Partition.leftTips(try self.partition.tick(seconds: 92)) == ["alice"])
        let effects = try self.partition.send(.heartbeats(beats: [Partition.beat("alice", alice)]))
        #expect(Partition.joinedTips(effects) == ["alice"])
        #expect(
            effects.contains(
                .barrage(BarrageInput(Partition.key, .tell(content: .audienceJoined(user: Partition.user("alice")))))))
        #expect(try self.partition.list(page: 10) == ["alice"])
    }

    @Test func `a heartbeat that is late for a leave or a kick brings nobody back`() throws {
        let alice = try self.join("alice")
        let bob = try self.join("bob")
        try self.partition.send(.leave(caller: Partition.caller("alice", 2, ticket: alice)))
        // In one batch: the floor of the kick is no row yet when the heartbeat is planned.
        self.partition.write(.kick(user: "bob", reason: .byAdmin, caller: Partition.caller("host", 1)))
        self.partition.write(.heartbeats(beats: [Partition.beat("alice", alice), Partition.beat("bob", bob)]))
        let effects = try self.partition.run()
        #expect(Partition.joinedTips(effects).isEmpty)
        #expect(Partition.leftTips(effects) == ["bob"])
        #expect(try self.partition.list(page: 10).isEmpty)
        // Joined again, the session's heartbeats count again.
        let again = try self.partition.send(.join(caller: Partition.caller("bob", 2)))
        #expect(Partition.joinedTips(again) == ["bob"])
        #expect(try self.partition.list(page: 10) == ["bob"])
    }

    @Test func `a heartbeat of a whole lease ago brings nobody back`() throws {
        let alice = try self.join("alice")
        try self.partition.tick(seconds: 92)
        let effects = try self.partition.send(
            .heartbeats(beats: [Partition.beat("alice", alice, silentFor: 92_000)]))
        #expect(effects.isEmpty)
    }

    @Test func `a leave of before a second join of the same session removes nothing`() throws {
        let first = try self.join("alice")
        try self.partition.send(.join(caller: Partition.caller("alice", 2)))
        let effects = try self.partition.send(.leave(caller: Partition.caller("alice", 3, ticket: first)))
        #expect(Partition.leftTips(effects).isEmpty)
        #expect(try self.partition.list(page: 10) == ["alice"])
    }

    @Test func `more leases than one tick may end wait for the next`() throws {
        let machine = 5000
        for index in 0..<(machine + 10) {
            self.partition.write(.join(caller: Partition.caller("u\(index)", 1)), after: Milliseconds(0))
        }
        try self.partition.run()
        try self.partition.tick(seconds: 89)
        let first = Partition.leftTips(try self.partition.tick(seconds: 1))
        let second = Partition.leftTips(try self.partition.tick(seconds: 1))
        #expect(first.count + second.count == machine + 10)
        #expect(first.count == machine || first.isEmpty)
        #expect(Set(first + second).count == machine + 10)
    }

    @discardableResult
    private func join(_ name: String) throws -> Int64 {
        let offset = self.partition.write(.join(caller: Partition.caller(name, 1)))
        try self.partition.run()
        return offset
    }
}
