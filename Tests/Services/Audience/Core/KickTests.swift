// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import MachineKit
import PlazaModel
import Testing

@Suite struct KickTests {
    /// Rules: R3.32, R4.8.
    @Test func `I6 a kick removes a user everywhere, once, with one notice`() {
        var harness = AudienceHarness()
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, 1)),
            .changed([.joined(isFirst: true, count: 1)]))
        harness.now = harness.now + .seconds(5)
        let caller = AudienceHarness.caller(AudienceHarness.owner, 1)
        let command = AudienceCommand.kick(user: "alice", reason: .byAdmin, caller: caller)
        let effects = harness.send(command, .changed([.kicked(user: AudienceHarness.alice, count: 0)]))
        let floor = Ticket(harness.offset)
        #expect(
            effects == [
                .directory(DirectoryInput(app: "demo", .floor(live: "stage-1", user: "alice", ticket: floor))),
                .barrage(BarrageInput(AudienceHarness.key, .floor(user: "alice", ticket: floor))),
                .seat(SeatInput(AudienceHarness.key, .floor(user: "alice", ticket: floor))),
                .connection(ConnectionInput(app: "demo", .floor(live: "stage-1", user: "alice", ticket: floor))),
            ] + harness.effectsOfKick(floor: floor) + [AudienceHarness.reply(caller, .done)])
        let repeatingCaller = AudienceHarness.caller(AudienceHarness.owner, 2)
        let second = harness.send(.kick(user: "alice", reason: .byAdmin, caller: repeatingCaller))
        #expect(AudienceHarness.rejection(repeatingCaller, second) == .notMember)
        #expect(second.count == 1)
    }

    @Test func `I6 commands with a ticket from before the kick are dropped, and a new join succeeds`() {
        var harness = AudienceHarness()
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, 1)),
            .changed([.joined(isFirst: true, count: 1)]))
        let ticketBeforeKick = Ticket(harness.offset)
        _ = harness.send(
            .kick(user: "alice", reason: .byServer, caller: AudienceHarness.caller(AudienceHarness.owner, 1)),
            .changed([.kicked(user: AudienceHarness.alice, count: 0)]))
        let beats = [
            Heartbeat(session: "s1", user: "alice", ticket: ticketBeforeKick, silentFor: 0),
            Heartbeat(session: "s1", user: "bob", ticket: ticketBeforeKick, silentFor: 0),
        ]
        #expect(
            harness.plan(.heartbeats(beats: beats)).request
                == .heartbeats(live: AudienceHarness.key, owner: "host", heartbeats: [beats[1]]))
        let member = Presence(session: "s1", user: AudienceHarness.alice, ticket: ticketBeforeKick, silentFor: 0)
        #expect(harness.plan(.assert(members: [member])).request == nil)
        let leaving = AudienceHarness.caller(AudienceHarness.alice, 2, ticket: ticketBeforeKick.offset)
        #expect(AudienceHarness.rejection(leaving, harness.send(.leave(caller: leaving))) == .staleTicket)
        #expect(harness.plan(.join(caller: AudienceHarness.caller(AudienceHarness.alice, 3))).decision == .proceed)
        let fresh = Heartbeat(session: "s1", user: "alice", ticket: Ticket(harness.offset), silentFor: 0)
        #expect(harness.plan(.heartbeats(beats: [fresh])).request != nil)
    }

    @Test func `I6 while Redis cannot be reached, a kick takes effect and a second kick is rejected`() {
        var harness = AudienceHarness()
        let first = AudienceHarness.caller(AudienceHarness.owner, 1)
        let effects = harness.sendWithoutRedis(.kick(user: "alice", reason: .byAdmin, caller: first))
        #expect(effects.contains(AudienceHarness.reply(first, .done)))
        #expect(effects.filter { if case .notice = $0 { true } else { false } }.count == 1)
        let second = AudienceHarness.caller(AudienceHarness.owner, 2)
        #expect(
            AudienceHarness.rejection(
                second, harness.sendWithoutRedis(.kick(user: "alice", reason: .byAdmin, caller: second)))
                == .notMember)
        _ = harness.sendWithoutRedis(.join(caller: AudienceHarness.caller(AudienceHarness.alice, 1)))
        let third = AudienceHarness.caller(AudienceHarness.owner, 3)
        #expect(
            harness.sendWithoutRedis(.kick(user: "alice", reason: .byAdmin, caller: third)).contains(
                AudienceHarness.reply(third, .done)))
    }
}
