// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import MachineKit
import PlazaModel
import Testing

/// Kicks, and the tickets that they revoke; a ticket is the offset of a join, and proves the join in later calls.
@Suite struct KickTests {
    /// Rules: R3.32, R4.8.
    @Test func `I6 a kick removes a user everywhere, once, with one notice`() {
        var harness = AudienceHarness()
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        harness.now = harness.now + .seconds(5)
        let caller = AudienceHarness.caller(AudienceHarness.owner, counter: 1)
        let command = AudienceCommand.kick(user: "alice", reason: .byAdmin, caller: caller)
        let effects = harness.send(command, redisResult: .changed([.kicked(user: AudienceHarness.alice, count: 0)]))
        let lowestValidTicket = Ticket(harness.offset)
        #expect(
            effects == AudienceHarness.effectsOfRevokedTickets(of: "alice", before: lowestValidTicket)
                + harness.effectsOfKickingAlice(lowestValidTicket: lowestValidTicket)
                + [AudienceHarness.reply(caller, .done)])
        // The owner kicks alice once more, in a second call.
        let secondCaller = AudienceHarness.caller(AudienceHarness.owner, counter: 2)
        let secondKickEffects = harness.send(.kick(user: "alice", reason: .byAdmin, caller: secondCaller))
        #expect(AudienceHarness.rejectionCode(secondCaller, secondKickEffects) == .notMember)
        #expect(secondKickEffects.count == 1, "expected the rejection alone")
    }

    @Test func `I6 after a kick the user's heartbeats are ignored and its leave is rejected, until it joins again`() {
        var harness = AudienceHarness()
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        let ticketBeforeKick = Ticket(harness.offset)
        _ = harness.send(
            .kick(user: "alice", reason: .byServer, caller: AudienceHarness.caller(AudienceHarness.owner, counter: 1)),
            redisResult: .changed([.kicked(user: AudienceHarness.alice, count: 0)]))
        let alicesHeartbeat = AudienceHarness.heartbeat(of: "alice", ticket: ticketBeforeKick)
        // A kick of alice revokes only alice's ticket, so a heartbeat of bob with the same ticket is valid.
        let bobsHeartbeat = AudienceHarness.heartbeat(of: "bob", ticket: ticketBeforeKick)
        #expect(
            harness.plan(.heartbeats(beats: [alicesHeartbeat, bobsHeartbeat])).request
                == .heartbeats(live: AudienceHarness.key, owner: "host", heartbeats: [bobsHeartbeat]))
        let alicesSession = AudienceHarness.session(of: AudienceHarness.alice, ticket: ticketBeforeKick)
        #expect(
            harness.plan(.assert(members: [alicesSession])).request == nil,
            "expected that the assertion of alice's session is ignored")
        let leaving = AudienceHarness.caller(AudienceHarness.alice, counter: 2, ticket: ticketBeforeKick.offset)
        #expect(AudienceHarness.rejectionCode(leaving, harness.send(.leave(caller: leaving))) == .staleTicket)
        // A join without a ticket is a new join, not a resume.
        #expect(
            harness.plan(.join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 3))).decision == .proceed)
        let heartbeatAfterJoin = AudienceHarness.heartbeat(of: "alice", ticket: Ticket(harness.offset))
        #expect(harness.plan(.heartbeats(beats: [heartbeatAfterJoin])).request != nil)
    }

    /// While Redis cannot be reached, the machine does not know that alice has not joined, so a kick of her takes
    /// effect.
    ///
    /// After this kick the machine knows that she is not in the live, so a second kick is rejected.
    @Test func `I6 while Redis cannot be reached, a kick takes effect, and a second kick only after a join`() {
        var harness = AudienceHarness()
        let firstCaller = AudienceHarness.caller(AudienceHarness.owner, counter: 1)
        let effects = harness.sendWithoutRedis(.kick(user: "alice", reason: .byAdmin, caller: firstCaller))
        #expect(effects.contains(AudienceHarness.reply(firstCaller, .done)))
        #expect(AudienceHarness.notices(effects).count == 1)
        let secondCaller = AudienceHarness.caller(AudienceHarness.owner, counter: 2)
        #expect(
            AudienceHarness.rejectionCode(
                secondCaller, harness.sendWithoutRedis(.kick(user: "alice", reason: .byAdmin, caller: secondCaller)))
                == .notMember)
        // alice joins, so a kick takes effect again.
        _ = harness.sendWithoutRedis(.join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)))
        let thirdCaller = AudienceHarness.caller(AudienceHarness.owner, counter: 3)
        #expect(
            harness.sendWithoutRedis(.kick(user: "alice", reason: .byAdmin, caller: thirdCaller)).contains(
                AudienceHarness.reply(thirdCaller, .done)))
    }
}
