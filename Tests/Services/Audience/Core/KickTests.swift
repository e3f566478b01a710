// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import MachineKit
import PlazaModel
import Testing

/// Kicks, and the tickets that they revoke.
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
        let floor = Ticket(harness.offset)
        #expect(
            effects == AudienceHarness.floors("alice", floor) + harness.effectsOfKick(floor: floor)
                + [AudienceHarness.reply(caller, .done)])
        let repeatingCaller = AudienceHarness.caller(AudienceHarness.owner, counter: 2)
        let secondKickEffects = harness.send(.kick(user: "alice", reason: .byAdmin, caller: repeatingCaller))
        #expect(AudienceHarness.rejection(repeatingCaller, secondKickEffects) == .notMember)
        #expect(secondKickEffects.count == 1)
    }

    @Test func `I6 commands with a ticket from before the kick are dropped, and a new join succeeds`() {
        var harness = AudienceHarness()
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        let ticketBeforeKick = Ticket(harness.offset)
        _ = harness.send(
            .kick(user: "alice", reason: .byServer, caller: AudienceHarness.caller(AudienceHarness.owner, counter: 1)),
            redisResult: .changed([.kicked(user: AudienceHarness.alice, count: 0)]))
        let alicesHeartbeat = Heartbeat(session: "s1", user: "alice", ticket: ticketBeforeKick, silentFor: 0)
        let bobsHeartbeat = Heartbeat(session: "s1", user: "bob", ticket: ticketBeforeKick, silentFor: 0)
        #expect(
            harness.plan(.heartbeats(beats: [alicesHeartbeat, bobsHeartbeat])).request
                == .heartbeats(live: AudienceHarness.key, owner: "host", heartbeats: [bobsHeartbeat]))
        let member = Presence(session: "s1", user: AudienceHarness.alice, ticket: ticketBeforeKick, silentFor: 0)
        #expect(harness.plan(.assert(members: [member])).request == nil)
        let leaving = AudienceHarness.caller(AudienceHarness.alice, counter: 2, ticket: ticketBeforeKick.offset)
        #expect(AudienceHarness.rejection(leaving, harness.send(.leave(caller: leaving))) == .staleTicket)
        #expect(
            harness.plan(.join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 3))).decision == .proceed)
        let heartbeatAfterJoin = Heartbeat(session: "s1", user: "alice", ticket: Ticket(harness.offset), silentFor: 0)
        #expect(harness.plan(.heartbeats(beats: [heartbeatAfterJoin])).request != nil)
    }

    @Test func `I6 while Redis cannot be reached, a kick takes effect and a second kick is rejected`() {
        var harness = AudienceHarness()
        let firstCaller = AudienceHarness.caller(AudienceHarness.owner, counter: 1)
        let effects = harness.sendWithoutRedis(.kick(user: "alice", reason: .byAdmin, caller: firstCaller))
        #expect(effects.contains(AudienceHarness.reply(firstCaller, .done)))
        #expect(AudienceHarness.notices(effects).count == 1)
        let secondCaller = AudienceHarness.caller(AudienceHarness.owner, counter: 2)
        #expect(
            AudienceHarness.rejection(
                secondCaller, harness.sendWithoutRedis(.kick(user: "alice", reason: .byAdmin, caller: secondCaller)))
                == .notMember)
        // After a new join alice can be kicked again.
        _ = harness.sendWithoutRedis(.join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)))
        let thirdCaller = AudienceHarness.caller(AudienceHarness.owner, counter: 3)
        #expect(
            harness.sendWithoutRedis(.kick(user: "alice", reason: .byAdmin, caller: thirdCaller)).contains(
                AudienceHarness.reply(thirdCaller, .done)))
    }
}
