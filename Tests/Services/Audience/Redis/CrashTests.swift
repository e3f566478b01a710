// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Presence
import RedisClient
import ServiceShell
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3))) struct CrashTests {
    let redis: LiveRedis

    init() throws { self.redis = try LiveRedis() }

    @Test func `I15 a batch that another owner repeats has the same effects, none twice and none lost`() throws {
        let partition = try PartitionHarness(redis: self.redis.port)
        try partition.run()
        self.writeMixedInputs(into: partition)
        let first = try partition.process()
        // The owner dies after Redis and before Kafka; the next owner splits the inbox into other batches.
        try partition.replaceOwner()
        var second: [Effect] = []
        while second.count < first.count {
            let effects = try partition.process(count: 2)
            if effects.isEmpty { break }
            second += effects
            partition.commit()
        }
        Self.expectSame(second, first)
        #expect(!first.isEmpty)
        #expect(try partition.run().isEmpty)
    }

    @Test func `I15 a batch whose transaction aborts has the same effects when it is repeated`() throws {
        let partition = try PartitionHarness(redis: self.redis.port)
        try partition.run()
        self.writeMixedInputs(into: partition)
        let first = try partition.process()
        partition.rollback()
        let second = try partition.process()
        Self.expectSame(second, first)
        partition.commit()
        #expect(try partition.send(nil).isEmpty)
    }

    @Test(arguments: (1...8).map { UInt64($0) })
    func `I15 with random batches and crashes of owners, the effects equal those of a single owner`(seed: UInt64) throws
    {
        var policy = AppPolicy()
        policy.devices = seed % 2 == 0 ? .several : .one
        policy.hasWebhooks = true
        let undisturbed = try PartitionHarness(redis: self.redis.port, policy: policy)
        Self.writeRandom(seed, into: undisturbed)
        try undisturbed.run()

        _ = try PlainRedisClient(port: self.redis.port).run("FLUSHALL")
        let crashing = try PartitionHarness(redis: self.redis.port, policy: policy)
        Self.writeRandom(seed, into: crashing)
        var chance = SeededRandom(seed: seed &+ 100)
        while crashing.committedOffset < undisturbed.committedOffset {
            _ = try crashing.process(count: Int.random(in: 1...20, using: &chance))
            switch Int.random(in: 0..<10, using: &chance) {
            case 0..<2: crashing.rollback()
            case 2: try crashing.replaceOwner()
            default: crashing.commit()
            }
        }
        while crashing.committedOffset < crashing.inbox.count { try crashing.run() }
        Self.expectSame(crashing.published, undisturbed.published)
        #expect(PartitionHarness.joinedUsers(undisturbed.published).count > 10)
        #expect(PartitionHarness.leftUsers(undisturbed.published).count > 10)
        #expect(PartitionHarness.occupancies(undisturbed.published).count > 10)
        let codes = PartitionHarness.results(undisturbed.published).compactMap {
            if case .failure(let error) = $0 { error.code } else { ReplyCode?.none }
        }
        #expect(codes.contains(.banned))
        #expect(codes.contains(.staleTicket))
    }

    @Test func `a former owner that wakes up is fenced and changes nothing`() throws {
        let partition = try PartitionHarness(redis: self.redis.port)
        try partition.run()
        let formerOwner = try partition.replaceOwner()
        try partition.run()
        let raw = try PlainRedisClient(port: self.redis.port)
        let before = try raw.run("HGETALL", "{audience.0}:state")
        let command = AudienceCommand.join(caller: PartitionHarness.caller("late", 1))
        partition.write(command)
        var effects: [Effect] = []
        #expect(throws: ProcessorError.fenced) {
            try formerOwner.process(partition.inbox.suffix(1), effects: &effects)
        }
        #expect(try raw.run("HGETALL", "{audience.0}:state") == before)
        // The error has closed its connection. A second attempt, on a new one, is fenced too.
        #expect(throws: ProcessorError.fenced) {
            try formerOwner.process(partition.inbox.suffix(1), effects: &effects)
        }
        #expect(PartitionHarness.joinedUsers(try partition.run()) == ["late"])
    }

    @Test func `published entries are deleted from the outbox with the next batch`() throws {
        let partition = try PartitionHarness(redis: self.redis.port)
        for index in 0..<50 { partition.write(.join(caller: PartitionHarness.caller("u\(index)", 1))) }
        try partition.run()
        let raw = try PlainRedisClient(port: self.redis.port)
        #expect(try raw.run("XLEN", "{audience.0}:outbox") == .integer(50))
        try partition.send(nil)
        #expect(try raw.run("XLEN", "{audience.0}:outbox") == .integer(0))
        #expect(try raw.run("HGET", "{audience.0}:state", "id") == .text("50"))
    }

    @Test func `the outbox cursor is read back from the metadata of the committed offset`() {
        var cursor = OutboxCursor()
        #expect(OutboxCursor(text: cursor.text) == cursor)
        cursor.epoch = "12.1.abcdef"
        cursor.id = 77
        cursor.latestTime = Timestamp(milliseconds: 1_700_000_000_123)
        #expect(OutboxCursor(text: cursor.text) == cursor)
        #expect(OutboxCursor(text: "") == OutboxCursor())
    }

    /// Writes inputs of every kind, as one batch.
    private func writeMixedInputs(into partition: PartitionHarness) {
        let alice = partition.write(.join(caller: PartitionHarness.caller("alice", 1)))
        let bob = partition.write(.join(caller: PartitionHarness.caller("bob", 1)))
        partition.write(.join(caller: PartitionHarness.caller("alice", 1)))
        partition.write(.join(caller: PartitionHarness.caller("alice", 1, session: "s2")))
        partition.write(.heartbeats(beats: [PartitionHarness.beat("alice", alice), PartitionHarness.beat("bob", bob)]))
        partition.write(.leave(caller: PartitionHarness.caller("alice", 2, ticket: alice)))
        partition.write(.kick(user: "bob", reason: .byAdmin, caller: PartitionHarness.caller("host", 1)))
        partition.write(.kick(user: "bob", reason: .byAdmin, caller: PartitionHarness.caller("host", 2)))
        partition.write(nil, after: .seconds(1))
        partition.write(.confirm(user: "bob"))
        partition.write(.join(caller: PartitionHarness.caller("host", 3)))
        partition.write(.rights(admins: ["alice"], maxMembers: 1))
        partition.write(.profile(caller: PartitionHarness.caller("alice", 3, ticket: alice, session: "s2")))
        partition.write(.join(caller: PartitionHarness.caller("carol", 1)))
        partition.write(.banned(user: "alice", until: nil, caller: PartitionHarness.caller("host", 4)))
        partition.write(.join(caller: PartitionHarness.caller("alice", 4, ticket: alice, session: "s2")))
        partition.write(.join(caller: PartitionHarness.caller("bob", 5, ticket: bob)))
        partition.write(.unbanned(user: "alice"))
        partition.write(.confirm(user: "host"))
    }

    /// Writes a random command that the directory machine or a gateway sends about a user.
    private static func writeCommand(
        _ name: String, _ session: SessionID, ticket: Int64?, _ counter: Int64, after pause: Milliseconds,
        into partition: PartitionHarness, chance: inout SeededRandom
    ) {
        let user = UserID(name)
        // Commands that read are left out: when one is repeated after a crash, later inputs may have changed its result.
        switch Int.random(in: 0..<5, using: &chance) {
        case 0:
            let until = partition.now + .seconds(Int64.random(in: 0..<200, using: &chance))
            partition.write(
                .banned(user: user, until: until, caller: PartitionHarness.caller("host", counter)), after: pause)
        case 1: partition.write(.unbanned(user: user), after: pause)
        case 2: partition.write(.rights(admins: [user], maxMembers: 5), after: pause)
        case 3:
            partition.write(.signOff(session: session, user: user, ticket: Ticket(ticket ?? 0)), after: pause)
        default:
            var caller = PartitionHarness.caller(name, counter, ticket: ticket, session: session)
            caller.user.userName = "n\(counter)"
            partition.write(.profile(caller: caller), after: pause)
        }
    }

    /// Writes some hundred inputs of a few users over some minutes.
    private static func writeRandom(_ seed: UInt64, into partition: PartitionHarness) {
        var chance = SeededRandom(seed: seed)
        var tickets: [String: Int64] = [:]
        for index in 0..<400 {
            let number = Int.random(in: 0..<8, using: &chance)
            let name = number == 0 ? "host" : "u\(number)"
            let session = SessionID("s\(Int.random(in: 0..<2, using: &chance))")
            let counter = Int64(index) + 10
            let ticket = tickets["\(name)\(session)"]
            let pause = Milliseconds(Int64.random(in: 0..<1000, using: &chance))
            switch Int.random(in: 0..<20, using: &chance) {
            case 0..<6:
                // Some users resume with their earlier ticket, which may be revoked.
                let earlierTicket = Bool.random(using: &chance) ? ticket : nil
                tickets["\(name)\(session)"] = partition.write(
                    .join(caller: PartitionHarness.caller(name, counter, ticket: earlierTicket, session: session)),
                    after: pause
                )
            case 6..<9:
                let caller = PartitionHarness.caller(name, counter, ticket: ticket, session: session)
                partition.write(.leave(caller: caller), after: pause)
            case 9..<12:
                if let ticket {
                    let beat = PartitionHarness.beat(name, ticket, silentFor: 500, session: session)
                    partition.write(.heartbeats(beats: [beat]), after: pause)
                }
            case 12:
                let caller = PartitionHarness.caller("owner", counter)
                partition.write(.kick(user: UserID(name), reason: .byAdmin, caller: caller), after: pause)
            case 13:
                for _ in 0..<100 { partition.write(nil, after: .seconds(1)) }
            case 14..<17:
                Self.writeCommand(
                    name, session, ticket: ticket, counter, after: pause, into: partition, chance: &chance)
            default: partition.write(nil, after: pause)
            }
        }
        // A last tick handles everything that is due, so that the ticks of later owners have no effects of their own.
        partition.write(nil, after: .seconds(2))
    }

    /// Compares all effects and reports the first difference.
    ///
    /// Epochs are skipped, because their names contain the owner.
    private static func expectSame(
        _ effects: [Effect], _ expected: [Effect], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let a = effects.filter { if case .presenceEpoch = $0 { false } else { true } }
        let b = expected.filter { if case .presenceEpoch = $0 { false } else { true } }
        if let index = zip(a, b).enumerated().first(where: { $0.element.0 != $0.element.1 })?.offset {
            Issue.record("effect \(index) is \(a[index]), not \(b[index])", sourceLocation: sourceLocation)
        }
        #expect(a.count == b.count, sourceLocation: sourceLocation)
    }
}
