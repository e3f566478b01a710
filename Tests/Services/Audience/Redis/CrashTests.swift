// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Presence
import RedisClient
import ServiceShell
import TestSupport
import Testing

/// Crashes, aborted transactions and changes of the partition's owner, after Redis has executed a batch.
///
/// Presence has Redis execute a batch of inputs before Kafka commits the batch. Then the batch is processed again.
@Suite(.timeLimit(.minutes(3))) struct CrashTests {
    let redis: RealRedis

    init() throws { self.redis = try RealRedis() }

    @Test func `I15 inputs that the next owner processes again, in smaller batches, have the same effects`() throws {
        let partition = try PartitionHarness(redisPort: self.redis.port)
        try partition.processAndCommit()
        self.writeMixedInputs(into: partition)
        let effectsOfFirstOwner = try partition.process()
        // The owner dies after the batch has changed Redis, and before Kafka has committed the batch. The next owner
        // processes the inbox in batches of two inputs.
        try partition.replaceOwner()
        var effectsOfNextOwner: [Effect] = []
        while effectsOfNextOwner.count < effectsOfFirstOwner.count {
            let effects = try partition.process(count: 2)
            // If the loop ends here, effects are missing, and the comparison below fails.
            if effects.isEmpty { break }
            effectsOfNextOwner += effects
            partition.commit()
        }
        Self.expectSame(effectsOfNextOwner, effectsOfFirstOwner)
        #expect(!effectsOfFirstOwner.isEmpty)
        // The loop ended when the effects were complete. The inputs that are left, the last of which is the first tick
        // of the next owner, have no effects.
        #expect(try partition.processAndCommit().isEmpty, "expected no further effects")
    }

    @Test func `I15 a batch whose transaction aborts has the same effects when it is repeated`() throws {
        let partition = try PartitionHarness(redisPort: self.redis.port)
        try partition.processAndCommit()
        self.writeMixedInputs(into: partition)
        let abortedEffects = try partition.process()
        partition.rollback()
        let repeatedEffects = try partition.process()
        Self.expectSame(repeatedEffects, abortedEffects)
        partition.commit()
        #expect(try partition.sendTick().isEmpty, "expected no further effects")
    }

    @Test(arguments: (1...8).map { UInt64($0) })
    func `I15 random batches, aborts and changes of owner give the same effects as a single owner`(seed: UInt64) throws
    {
        // Even seeds allow several devices for a user, odd seeds one.
        var policy = AppPolicy()
        policy.devices = seed % 2 == 0 ? .several : .one
        policy.hasWebhooks = true
        let undisturbed = try PartitionHarness(redisPort: self.redis.port, policy: policy)
        Self.writeRandomInputs(seed, into: undisturbed)
        try undisturbed.processAndCommit()

        // The same inputs again, from an empty Redis, with aborts and changes of owner.
        _ = try PlainRedisClient(port: self.redis.port).run("FLUSHALL")
        let crashing = try PartitionHarness(redisPort: self.redis.port, policy: policy)
        Self.writeRandomInputs(seed, into: crashing)
        var random = SeededRandom(seed: seed &+ 100)
        while crashing.committedOffset < undisturbed.committedOffset {
            _ = try crashing.process(count: Int.random(in: 1...20, using: &random))
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<2: crashing.rollback()
            case 2: try crashing.replaceOwner()
            default: crashing.commit()
            }
        }
        // Each new owner has appended a tick, so the inbox is longer than in the undisturbed run.
        while crashing.committedOffset < crashing.inbox.count { try crashing.processAndCommit() }
        Self.expectSame(crashing.published, undisturbed.published)
        // The random inputs must cause enough effects of each kind, or the comparison would show little.
        #expect(PartitionHarness.joinedUsers(undisturbed.published).count > 10)
        #expect(PartitionHarness.leftUsers(undisturbed.published).count > 10)
        #expect(PartitionHarness.occupancyReports(undisturbed.published).count > 10)
        let rejectionCodes = PartitionHarness.outcomes(undisturbed.published).compactMap {
            if case .failure(let error) = $0 { error.code } else { ReplyCode?.none }
        }
        #expect(rejectionCodes.contains(.banned))
        #expect(rejectionCodes.contains(.staleTicket))
    }

    @Test func `a former owner that processes an input is fenced and changes nothing`() throws {
        let partition = try PartitionHarness(redisPort: self.redis.port)
        try partition.processAndCommit()
        let formerOwner = try partition.replaceOwner()
        try partition.processAndCommit()
        let plainRedis = try PlainRedisClient(port: self.redis.port)
        let stateBeforeJoin = try plainRedis.run("HGETALL", "{audience.0}:state")
        partition.write(.join(caller: PartitionHarness.caller("alice", counter: 1)))
        var effects: [Effect] = []
        #expect(throws: ProcessorError.fenced) {
            try formerOwner.process(partition.inbox.suffix(1), effects: &effects)
        }
        #expect(try plainRedis.run("HGETALL", "{audience.0}:state") == stateBeforeJoin)
        // The error has closed the former owner's connection. A second attempt, on a new connection, is fenced too.
        #expect(throws: ProcessorError.fenced) {
            try formerOwner.process(partition.inbox.suffix(1), effects: &effects)
        }
        #expect(PartitionHarness.joinedUsers(try partition.processAndCommit()) == ["alice"])
    }

    @Test func `published entries are deleted from the outbox with the next batch`() throws {
        let partition = try PartitionHarness(redisPort: self.redis.port)
        for index in 0..<50 { partition.write(.join(caller: PartitionHarness.caller("u\(index)", counter: 1))) }
        try partition.processAndCommit()
        let plainRedis = try PlainRedisClient(port: self.redis.port)
        #expect(try plainRedis.run("XLEN", "{audience.0}:outbox") == .integer(50))
        try partition.sendTick()
        #expect(try plainRedis.run("XLEN", "{audience.0}:outbox") == .integer(0))
        #expect(
            try plainRedis.run("HGET", "{audience.0}:state", "id") == .text("50"), "expected the id of the last entry")
    }

    @Test func `the outbox cursor is read back from the metadata of the committed offset`() {
        var cursor = OutboxCursor()
        #expect(OutboxCursor(text: cursor.text) == cursor)
        // These values are arbitrary, but differ from those of a new cursor.
        cursor.epoch = "12.1.abcdef"
        cursor.id = 77
        cursor.latestTime = Timestamp(milliseconds: 1_700_000_000_123)
        #expect(OutboxCursor(text: cursor.text) == cursor)
        #expect(OutboxCursor(text: "") == OutboxCursor())
    }

    /// Writes inputs of many kinds, without processing them.
    private func writeMixedInputs(into partition: PartitionHarness) {
        let aliceTicket = partition.write(.join(caller: PartitionHarness.caller("alice", counter: 1)))
        let bobTicket = partition.write(.join(caller: PartitionHarness.caller("bob", counter: 1)))
        // alice's join is sent again, then her second device joins.
        partition.write(.join(caller: PartitionHarness.caller("alice", counter: 1)))
        partition.write(.join(caller: PartitionHarness.caller("alice", counter: 1, session: "s2")))
        partition.write(
            .heartbeats(beats: [
                PartitionHarness.heartbeat("alice", ticket: aliceTicket),
                PartitionHarness.heartbeat("bob", ticket: bobTicket),
            ]))
        partition.write(.leave(caller: PartitionHarness.caller("alice", counter: 2, ticket: aliceTicket)))
        // bob is kicked twice; the second kick is rejected, because he is not in the live any more.
        partition.write(.kick(user: "bob", reason: .byAdmin, caller: PartitionHarness.caller("host", counter: 1)))
        partition.write(.kick(user: "bob", reason: .byAdmin, caller: PartitionHarness.caller("host", counter: 2)))
        partition.writeTick(after: .seconds(1))
        partition.write(.confirm(user: "bob"))
        partition.write(.join(caller: PartitionHarness.caller("host", counter: 3)))
        // The live may have one viewer and has alice, so carol's join is rejected.
        partition.write(.rights(admins: ["alice"], maxMembers: 1))
        partition.write(
            .profile(caller: PartitionHarness.caller("alice", counter: 3, ticket: aliceTicket, session: "s2")))
        partition.write(.join(caller: PartitionHarness.caller("carol", counter: 1)))
        partition.write(.banned(user: "alice", until: nil, caller: PartitionHarness.caller("host", counter: 4)))
        // alice, who is banned, and bob, who was kicked, resume with their tickets; both are rejected.
        partition.write(.join(caller: PartitionHarness.caller("alice", counter: 4, ticket: aliceTicket, session: "s2")))
        partition.write(.join(caller: PartitionHarness.caller("bob", counter: 5, ticket: bobTicket)))
        partition.write(.unbanned(user: "alice"))
        partition.write(.confirm(user: "host"))
    }

    /// Writes a random command that the directory machine or a gateway sends about a user.
    private static func writeRandomCommand(
        about name: String, session: SessionID, ticket: Int64?, counter: Int64, after pause: Milliseconds,
        into partition: PartitionHarness, random: inout SeededRandom
    ) {
        let user = UserID(name)
        // Commands that only read the leases are left out: when they are processed again after a crash, Redis may have
        // the changes of later inputs already.
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            let until = partition.now + .seconds(Int64.random(in: 0..<200, using: &random))
            partition.write(
                .banned(user: user, until: until, caller: PartitionHarness.caller("host", counter: counter)),
                after: pause)
        case 1: partition.write(.unbanned(user: user), after: pause)
        case 2: partition.write(.rights(admins: [user], maxMembers: 5), after: pause)
        case 3:
            partition.write(.signOff(session: session, user: user, ticket: Ticket(ticket ?? 0)), after: pause)
        default:
            var caller = PartitionHarness.caller(name, counter: counter, ticket: ticket, session: session)
            caller.user.userName = "n\(counter)"
            partition.write(.profile(caller: caller), after: pause)
        }
    }

    /// Writes the inputs of 400 random steps of the owner and seven users, each with two sessions.
    ///
    /// A step is an input, a tick, or 100 ticks in 100 s. A step whose heartbeat has no ticket writes nothing.
    private static func writeRandomInputs(_ seed: UInt64, into partition: PartitionHarness) {
        var random = SeededRandom(seed: seed)
        var tickets: [String: Int64] = [:]
        for index in 0..<400 {
            let number = Int.random(in: 0..<8, using: &random)
            let name = number == 0 ? "host" : "u\(number)"
            let session = SessionID("s\(Int.random(in: 0..<2, using: &random))")
            // Each step has a call number of its own.
            let counter = Int64(index) + 10
            // The ticket of the session's last join; nil before its first join.
            let ticket = tickets["\(name)\(session)"]
            let pause = Milliseconds(Int64.random(in: 0..<1000, using: &random))
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<6:
                // A new join, or a resume: a join with the session's last ticket, which may be revoked.
                let earlierTicket = Bool.random(using: &random) ? ticket : nil
                tickets["\(name)\(session)"] = partition.write(
                    .join(
                        caller: PartitionHarness.caller(name, counter: counter, ticket: earlierTicket, session: session)
                    ),
                    after: pause
                )
            case 6..<9:
                let caller = PartitionHarness.caller(name, counter: counter, ticket: ticket, session: session)
                partition.write(.leave(caller: caller), after: pause)
            case 9..<12:
                if let ticket {
                    let beat = PartitionHarness.heartbeat(
                        name, ticket: ticket, silentFor: Milliseconds(500), session: session)
                    partition.write(.heartbeats(beats: [beat]), after: pause)
                }
            case 12:
                let caller = PartitionHarness.caller("host", counter: counter)
                partition.write(.kick(user: UserID(name), reason: .byAdmin, caller: caller), after: pause)
            case 13:
                // 100 s without heartbeats, in which all leases expire.
                for _ in 0..<100 { partition.writeTick(after: .seconds(1)) }
            case 14..<17:
                Self.writeRandomCommand(
                    about: name, session: session, ticket: ticket, counter: counter, after: pause, into: partition,
                    random: &random)
            default: partition.writeTick(after: pause)
            }
        }
        // A last tick handles everything that is due, so that further ticks of later owners have no effects.
        partition.writeTick(after: .seconds(2))
    }

    /// Compares all effects and reports the first difference.
    ///
    /// Effects that begin a presence epoch are skipped: the epoch's name differs from owner to owner.
    private static func expectSame(
        _ effects: [Effect], _ expected: [Effect], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let actualWithoutEpochs = effects.filter { if case .presenceEpoch = $0 { false } else { true } }
        let expectedWithoutEpochs = expected.filter { if case .presenceEpoch = $0 { false } else { true } }
        let sharedCount = min(actualWithoutEpochs.count, expectedWithoutEpochs.count)
        let firstDifference = (0..<sharedCount).first { actualWithoutEpochs[$0] != expectedWithoutEpochs[$0] }
        if let index = firstDifference {
            Issue.record(
                "effect \(index) is \(actualWithoutEpochs[index]), not \(expectedWithoutEpochs[index])",
                sourceLocation: sourceLocation)
        }
        #expect(actualWithoutEpochs.count == expectedWithoutEpochs.count, sourceLocation: sourceLocation)
    }
}
