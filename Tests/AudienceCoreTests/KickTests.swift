// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import CoreKit
import PlazaModel
import Testing

@Suite struct KickTests {
    @Test func `I6 a kick puts a user out everywhere, once, with one notice`() {
        var room = Room()
        _ = room.send(.join(caller: Room.caller(Room.alice, 1)), room.did([.joined(isFirst: true, count: 1)]))
        room.now = room.now + .seconds(5)
        let caller = Room.caller(Room.owner, 1)
        let command = AudienceCommand.kick(user: "alice", reason: .byAdmin, caller: caller)
        let effects = room.send(command, room.did([.kicked(user: Room.alice, count: 0)]))
        let floor = Ticket(room.offset)
        #expect(
            effects == [
                .directory(DirectoryInput(app: "demo", .floor(live: "stage-1", user: "alice", ticket: floor))),
                .barrage(BarrageInput(Room.key, .floor(user: "alice", ticket: floor))),
                .seat(SeatInput(Room.key, .floor(user: "alice", ticket: floor))),
                .connection(ConnectionInput(app: "demo", .floor(live: "stage-1", user: "alice", ticket: floor))),
                Room.tip(.audienceLeft(user: Room.alice)), Room.gone("alice"), room.count(0, of: 1),
                Room.occupancy(.left, isEmpty: true),
                .notice(
                    Notice(
                        to: UserKey("demo", "alice"), live: "stage-1", at: room.now, floor: floor,
                        content: .kickedOut(reason: .byAdmin, by: "host"))),
                Room.reply(caller, .done),
            ])
        let again = Room.caller(Room.owner, 2)
        let second = room.send(.kick(user: "alice", reason: .byAdmin, caller: again))
        #expect(Room.refusal(again, second) == .notMember)
        #expect(second.count == 1)
    }

    @Test func `I6 nothing with a ticket of before the kick reaches the room, and a new join does`() {
        var room = Room()
        _ = room.send(.join(caller: Room.caller(Room.alice, 1)), room.did([.joined(isFirst: true, count: 1)]))
        let old = Ticket(room.offset)
        _ = room.send(
            .kick(user: "alice", reason: .byServer, caller: Room.caller(Room.owner, 1)),
            room.did([.kicked(user: Room.alice, count: 0)]))
        let beats = [
            Beat(session: "s1", user: "alice", ticket: old, silentFor: 0),
            Beat(session: "s1", user: "bob", ticket: old, silentFor: 0),
        ]
        #expect(
            room.plan(.heartbeats(beats: beats)).command
                == .beats(live: Room.key, owner: "host", beats: [beats[1]]))
        let member = Presence(session: "s1", user: Room.alice, ticket: old, silentFor: 0)
        #expect(room.plan(.assert(members: [member])).command == nil)
        let leaving = Room.caller(Room.alice, 2, ticket: old.offset)
        #expect(Room.refusal(leaving, room.send(.leave(caller: leaving))) == .staleTicket)
        #expect(room.plan(.join(caller: Room.caller(Room.alice, 3))).verdict == .act)
        let fresh = Beat(session: "s1", user: "alice", ticket: Ticket(room.offset), silentFor: 0)
        #expect(room.plan(.heartbeats(beats: [fresh])).command != nil)
    }

    @Test func `I6 while the leases are away a kick holds, and the second still finds nobody`() {
        var room = Room()
        let first = Room.caller(Room.owner, 1)
        let effects = room.sendAway(.kick(user: "alice", reason: .byAdmin, caller: first))
        #expect(effects.contains(Room.reply(first, .done)))
        #expect(effects.filter { if case .notice = $0 { true } else { false } }.count == 1)
        let second = Room.caller(Room.owner, 2)
        #expect(
            Room.refusal(second, room.sendAway(.kick(user: "alice", reason: .byAdmin, caller: second)))
                == .notMember)
        _ = room.sendAway(.join(caller: Room.caller(Room.alice, 1)))
        let third = Room.caller(Room.owner, 3)
        #expect(
            room.sendAway(.kick(user: "alice", reason: .byAdmin, caller: third)).contains(Room.reply(third, .done)))
    }
}
