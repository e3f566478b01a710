// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import Presence
import ServiceShell
import Testing

@Suite(.timeLimit(.minutes(3))) struct CrashTests {
    let redis: RedisProcess

    init() throws { self.redis = try RedisProcess() }

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
        let calm = try Partition(redis: self.redis.port)
        Self.writeRandom(seed, into: calm)
        try calm.run()

        _ = try RawRedis(port: self.redis.port).run("FLUSHALL")
        let stormy = try Partition(redis: self.redis.port)
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
    }

    /// Some hundred inputs of a few users over some minutes.
    private static func writeRandom(_ seed: UInt64, into partition: Partition) {
        var chance = SeededRandom(seed: seed)
        var tickets: [String: Int64] = [:]
        for index in 0..<400 {
            let name = "u\(Int.random(in: 0..<8, using: &chance))"
            let session = SessionID("s\(Int.random(in: 0..<2, using: &chance))")
            let counter = Int64(index) + 10
            let ticket = tickets["\(name)\(session)"]
            let pause = Milliseconds(Int64.random(in: 0..<1000, using: &chance))
            switch Int.random(in: 0..<20, using: &chance) {
            case 0..<6:
                tickets["\(name)\(session)"] = partition.write(
                    .join(caller: Partition.caller(name, counter, session: session)), after: pause)
            case 6..<9:
                let caller = Partition.caller(name, counter, ticket: ticket, session: session)
                partition.write(.leave(caller: caller), after: pause)
            case 9..<12:
                if let ticket {
                    let beat = Partition.beat(name, ticket, silentFor: 500, session: session)
                    partition.write(.heartbeats(beats: [beat]), after: pause)
                }
            case 12:
                let caller = Partition.caller("host", counter)
                partition.write(.kick(user: UserID(name), reason: .byAdmin, caller: caller), after: pause)
            case 13:
                for _ in 0..<100 { partition.write(nil, after: .seconds(1)) }
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
