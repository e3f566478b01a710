// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import MachineKit
import PlazaModel
import Testing

/// Bans: when they begin and end, and what they remove.
@Suite struct BanTests {
    /// Rules: R4.22.
    @Test func `I6 a ban removes a user everywhere, once, with one notice and no reply`() {
        var harness = AudienceHarness()
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        harness.now = harness.now + .seconds(5)
        let ban = AudienceCommand.banned(
            user: "alice", until: harness.now + .seconds(60),
            caller: AudienceHarness.caller(AudienceHarness.owner, counter: 1))
        let effects = harness.send(ban, redisResult: .changed([.kicked(user: AudienceHarness.alice, count: 0)]))
        let lowestValidTicket = Ticket(harness.offset)
        // The directory itself replies to the caller of a ban. Presence only reports alice's profile to the directory.
        #expect(
            effects == AudienceHarness.effectsOfRevokedTickets(of: "alice", before: lowestValidTicket)
                + harness.effectsOfKickingAlice(lowestValidTicket: lowestValidTicket)
                + [AudienceHarness.directoryProfile(AudienceHarness.alice)])
        // alice is not in the live any more, so a second ban only revokes her tickets that are lower than its own
        // offset.
        let effectsOfSecondBan = harness.send(ban)
        #expect(
            effectsOfSecondBan
                == AudienceHarness.effectsOfRevokedTickets(of: "alice", before: Ticket(harness.offset)))
    }

    /// Rules: R3.26.
    @Test func `I6 a banned user cannot join until the ban ends`() {
        var harness = AudienceHarness()
        let until = harness.now + .seconds(60)
        _ = harness.send(.banned(user: "alice", until: until, caller: nil))
        harness.now = until - Milliseconds(1)
        let caller = AudienceHarness.caller(AudienceHarness.alice, counter: 1)
        let effects = harness.send(.join(caller: caller))
        #expect(AudienceHarness.rejectionCode(caller, effects) == .banned)
        guard case .reply(let reply)? = effects.first, case .failure(let error) = reply.outcome else {
            Issue.record("the first effect is no rejection: \(effects)")
            return
        }
        #expect(error.retryAfter == 1, "expected one millisecond, because the ban ends then")
        #expect(error.message.contains("\(until.milliseconds)"), "expected that the message names the end of the ban")
        #expect(effects.count == 1, "expected the rejection alone")
        harness.now = until
        #expect(harness.plan(.join(caller: caller)).decision == .proceed)
        #expect(
            harness.plan(.join(caller: AudienceHarness.caller(AudienceHarness.bob, counter: 1))).decision == .proceed)
    }

    @Test func `a ban without an end lasts until it is lifted or its live ends`() {
        var harness = AudienceHarness()
        let caller = AudienceHarness.caller(AudienceHarness.alice, counter: 1)
        _ = harness.send(.banned(user: "alice", until: nil, caller: nil))
        harness.now = harness.now + .seconds(1_000_000)
        #expect(AudienceHarness.rejectionCode(caller, harness.send(.join(caller: caller))) == .banned)
        _ = harness.send(.unbanned(user: "alice"))
        #expect(harness.plan(.join(caller: caller)).decision == .proceed)

        _ = harness.send(.banned(user: "alice", until: nil, caller: nil))
        _ = harness.send(AudienceHarness.endOfLive)
        #expect(harness.rows[.bans(AudienceHarness.key)] == nil)
        _ = harness.send(.opened(epoch: AudienceHarness.epoch + 1, owner: AudienceHarness.owner))
        #expect(harness.plan(.join(caller: caller)).decision == .proceed)
    }

    @Test func `I6 a ban rejects a later join of the same batch`() {
        var harness = AudienceHarness()
        let caller = AudienceHarness.caller(AudienceHarness.alice, counter: 1)
        let plannedInputs = harness.machine.plan(
            [
                (
                    Moment(now: harness.now, offset: 200),
                    AudienceInput(AudienceHarness.key, .banned(user: "alice", until: nil, caller: nil))
                ), (Moment(now: harness.now, offset: 201), AudienceInput(AudienceHarness.key, .join(caller: caller))),
            ], in: &harness.rows)
        #expect(plannedInputs[0].request == .kick(live: AudienceHarness.key, user: "alice", includesAbsent: true))
        #expect(
            plannedInputs[1].request == nil, "expected no request, because the join is rejected without asking Redis")
        // Planning has stored the ban in a row. If the batch aborts, the row is removed again.
        harness.rows.rollback()
        #expect(harness.rows[.bans(AudienceHarness.key)] == nil)
    }

    @Test func `I6 a ban revokes the ticket of a user whose leases have expired`() {
        var harness = AudienceHarness()
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        let revokedTicket = Ticket(harness.offset)
        _ = harness.tick(
            after: .seconds(91), changes: [.expired(live: AudienceHarness.key, user: AudienceHarness.alice, count: 0)])
        _ = harness.send(.banned(user: "alice", until: nil, caller: nil))
        let heartbeat = AudienceHarness.heartbeat(of: "alice", ticket: revokedTicket)
        #expect(harness.plan(.heartbeats(beats: [heartbeat])).request == nil)
    }

    @Test func `I6 a ban while Redis cannot be reached takes effect, with one notice`() {
        var harness = AudienceHarness()
        let ban = AudienceCommand.banned(user: "alice", until: nil, caller: nil)
        #expect(AudienceHarness.notices(harness.sendWithoutRedis(ban)).count == 1)
        #expect(
            AudienceHarness.notices(harness.sendWithoutRedis(ban)).isEmpty, "expected no notice of the second ban")
        #expect(harness.rows.partition.needsEpoch)
        let caller = AudienceHarness.caller(AudienceHarness.alice, counter: 1)
        #expect(AudienceHarness.rejectionCode(caller, harness.sendWithoutRedis(.join(caller: caller))) == .banned)
    }

    @Test func `bans that have ended leave no row behind`() {
        var harness = AudienceHarness()
        _ = harness.send(.banned(user: "alice", until: harness.now + .seconds(5), caller: nil))
        _ = harness.send(.banned(user: "bob", until: harness.now + .seconds(50), caller: nil))
        _ = harness.tick(after: .seconds(5))
        #expect(harness.rows.bans(AudienceHarness.key).bans.map(\.user) == ["bob"])
        _ = harness.tick(after: .seconds(45))
        #expect(harness.rows[.bans(AudienceHarness.key)] == nil)
        // A ban that ends at once is not stored.
        _ = harness.send(.banned(user: "alice", until: harness.now, caller: nil))
        #expect(harness.rows[.bans(AudienceHarness.key)] == nil)
    }

    @Test func `I16 beyond the maximum number of bans, the one that ends first is removed`() {
        var bans = Bans()
        // The ban of user u0 ends last, and the ban of each further user a millisecond earlier.
        for index in 0..<SanctionLimits.perLive {
            bans.set(UserID("u\(index)"), until: Timestamp(milliseconds: 10_000 - Int64(index)))
        }
        // One ban more than the maximum, without an end.
        bans.set("forever", until: nil)
        let now = Timestamp(milliseconds: 0)
        #expect(bans.bans.count == SanctionLimits.perLive)
        #expect(bans.ban(of: UserID("u\(SanctionLimits.perLive - 1)"), at: now) == nil)
        #expect(bans.ban(of: "u0", at: now) != nil)
        #expect(bans.ban(of: "forever", at: .distantFuture) != nil)
        #expect(bans.bans.map(\.user) == bans.bans.map(\.user).sorted(), "the bans are sorted by user")
    }
}
