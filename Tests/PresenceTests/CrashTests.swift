// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import Presence
import ServiceShell
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3))) struct CrashTests {
    let redis: LiveRedis

    init() throws { self.redis = try LiveRedis() }

    @Test func `I15 a batch done again by another owner tells the same, nothing twice and nothing lost`() throws {
        let partition = try Partition(redis: self.redis.port)
        try partition.run()
        self.writeEvening(into: partition)
        let first = try partition.process()
        // The owner dies between Redis and Kafka; the next cuts the inbox elsewhere.
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

    @Test func `I15 a batch whose transaction aborts tells the same when it comes again`() throws {
        let partition = try Partition(redis: self.redis.port)
        try partition.run()
        self.writeEvening(into: partition)
        let first = try partition.process()
        partition.rollback()
        let second = try partition.process()
        Self.expectSame(second, first)
        partition.commit()
        #expect(try partition.send(nil).isEmpty)
    }

    @Test(arguments: (1...8).map { UInt64($0) })
    func `I15 however batches are cut and owners die, what is told is what one owner would tell`(seed: UInt64) throws {
        var policy = AppPolicy()
        policy.devices = seed % 2 == 0 ? .several : .one
        policy.hasWebhooks = true
        let calm = try Partition(redis: self.redis.port, policy: policy)
        Self.writeRandom(seed, into: calm)
        try calm.run()

        _ = try RawRedis(port: self.redis.port).run("FLUSHALL")
        let stormy = try Partition(redis: self.redis.port, policy: policy)
        Self.writeRandom(seed, into: stormy)
        var chance = SeededRandom(seed: seed &+ 100)
        while stormy.committedOffset < calm.committedOffset {
            _ = try stormy.process(count: Int.random(in: 1...20, using: &chance))
            switch Int.random(in: 0..<10, using: &chance) {
            case 0..<2: stormy.rollback()
            case 2: try stormy.replaceOwner()
            default: stormy.commit()
            }
        }
        while stormy.committedOffset < stormy.inbox.count { try stormy.run() }
        Self.expectSame(stormy.told, calm.told)
        #expect(Partition.joinedTips(calm.told).count > 10)
        #expect(Partition.leftTips(calm.told).count > 10)
        #expect(Partition.occupancies(calm.told).count > 10)
        let codes = Partition.results(calm.told).compactMap {
            if case .failure(let error) = $0 { error.code } else { ReplyCode?.none }
        }
        #expect(codes.contains(.banned))
        #expect(codes.contains(.staleTicket))
    }

    @Test func `a stopped owner that wakes up is fenced, and changes nothing`() throws {
        let partition = try Partition(redis: self.redis.port)
        try partition.run()
        let sleeper = try partition.replaceOwner()
        try partition.run()
        let raw = try RawRedis(port: self.redis.port)
        let before = try raw.run("HGETALL", "{audience.0}:state")
        let command = AudienceCommand.join(caller: Partition.caller("late", 1))
        partition.write(command)
        var effects: [Effect] = []
        #expect(throws: ProcessorError.fenced) {
            try sleeper.process(partition.inbox.suffix(1), effects: &effects)
        }
        #expect(try raw.run("HGETALL", "{audience.0}:state") == before)
        // On a new connection too.
        #expect(throws: ProcessorError.fenced) {
            try sleeper.process(partition.inbox.suffix(1), effects: &effects)
        }
        #expect(Partition.joinedTips(try partition.run()) == ["late"])
    }

    @Test func `what was told is deleted from the outbox with the next batch`() throws {
        let partition = try Partition(redis: self.redis.port)
        for index in 0..<50 { partition.write(.join(caller: Partition.caller("u\(index)", 1))) }
        try partition.run()
        let raw = try RawRedis(port: self.redis.port)
        #expect(try raw.run("XLEN", "{audience.0}:outbox") == .integer(50))
        try partition.send(nil)
        #expect(try raw.run("XLEN", "{audience.0}:outbox") == .integer(0))
        #expect(try raw.run("HGET", "{audience.0}:state", "id") == .text("50"))
    }

    @Test func `the bookmark is read back from what is committed beside the offset`() {
        var bookmark = Bookmark()
        #expect(Bookmark(text: bookmark.text) == bookmark)
        bookmark.epoch = "12.1.abcdef"
        bookmark.id = 77
        bookmark.now = Timestamp(milliseconds: 1_700_000_000_123)
        #expect(Bookmark(text: bookmark.text) == bookmark)
        #expect(Bookmark(text: "") == Bookmark())
    }

    /// Some of everything, in one batch.
    private func writeEvening(into partition: Partition) {
        let alice = partition.write(.join(caller: Partition.caller("alice", 1)))
        let bob = partition.write(.join(caller: Partition.caller("bob", 1)))
        partition.write(.join(caller: Partition.caller("alice", 1)))
        partition.write(.join(caller: Partition.caller("alice", 1, session: "s2")))
        partition.write(.heartbeats(beats: [Partition.beat("alice", alice), Partition.beat("bob", bob)]))
        partition.write(.leave(caller: Partition.caller("alice", 2, ticket: alice)))
        partition.write(.kick(user: "bob", reason: .byAdmin, caller: Partition.caller("host", 1)))
        partition.write(.kick(user: "bob", reason: .byAdmin, caller: Partition.caller("host", 2)))
        partition.write(nil, after: .seconds(1))
        partition.write(.confirm(user: "bob"))
        partition.write(.join(caller: Partition.caller("host", 3)))
        partition.write(.rights(admins: ["alice"], maxMembers: 1))
        partition.write(.profile(caller: Partition.caller("alice", 3, ticket: alice, session: "s2")))
        partition.write(.join(caller: Partition.caller("carol", 1)))
        partition.write(.banned(user: "alice", until: nil, caller: Partition.caller("host", 4)))
        partition.write(.join(caller: Partition.caller("alice", 4, ticket: alice, session: "s2")))
        partition.write(.join(caller: Partition.caller("bob", 5, ticket: bob)))
        partition.write(.unbanned(user: "alice"))
        partition.write(.confirm(user: "host"))
    }

    /// What the directory and gateways tell of a user, at random.
    private static func writeFact(
        _ name: String, _ session: SessionID, ticket: Int64?, _ counter: Int64, after pause: Milliseconds,
        into partition: Partition, chance: inout SeededRandom
    ) {
        let user = UserID(name)
        // No question is among them: asked again after a crash, it may be answered by what came meanwhile.
        switch Int.random(in: 0..<5, using: &chance) {
        case 0:
            let until = partition.now + .seconds(Int64.random(in: 0..<200, using: &chance))
            partition.write(
                .banned(user: user, until: until, caller: Partition.caller("host", counter)), after: pause)
        case 1: partition.write(.unbanned(user: user), after: pause)
        case 2: partition.write(.rights(admins: [user], maxMembers: 5), after: pause)
        case 3:
            partition.write(.signOff(session: session, user: user, ticket: Ticket(ticket ?? 0)), after: pause)
        default:
            var caller = Partition.caller(name, counter, ticket: ticket, session: session)
            caller.user.userName = "n\(counter)"
            partition.write(.profile(caller: caller), after: pause)
        }
    }

    /// Some hundred inputs of a few users over some minutes.
    private static func writeRandom(_ seed: UInt64, into partition: Partition) {
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
                // Some go on with the ticket that they had, though it may be void.
                let since = Bool.random(using: &chance) ? ticket : nil
                tickets["\(name)\(session)"] = partition.write(
                    .join(caller: Partition.caller(name, counter, ticket: since, session: session)), after: pause)
            case 6..<9:
                let caller = Partition.caller(name, counter, ticket: ticket, session: session)
                partition.write(.leave(caller: caller), after: pause)
            case 9..<12:
                if let ticket {
                    let beat = Partition.beat(name, ticket, silentFor: 500, session: session)
                    partition.write(.heartbeats(beats: [beat]), after: pause)
                }
            case 12:
                let caller = Partition.caller("owner", counter)
                partition.write(.kick(user: UserID(name), reason: .byAdmin, caller: caller), after: pause)
            case 13:
                for _ in 0..<100 { partition.write(nil, after: .seconds(1)) }
            case 14..<17:
                Self.writeFact(
                    name, session, ticket: ticket, counter, after: pause, into: partition, chance: &chance)
            default: partition.write(nil, after: pause)
            }
        }
        // So that nothing is due any more when another owner's tick comes.
        partition.write(nil, after: .seconds(2))
    }

    /// Compares all effects but the epochs, whose names tell their owner, and shows the first that differs.
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
