// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import CoreKit
import PlazaModel
import Testing

@Suite struct MembersTests {
    @Test func `I4 a join shows at once and gives its offset as ticket`() {
        var room = Room()
        let caller = Room.caller(Room.alice, 1)
        let effects = room.send(.join(caller: caller), room.did([.joined(isFirst: true, count: 1)]))
        #expect(
            effects == [
                Room.tip(.audienceJoined(user: Room.alice)), Room.back(Room.alice), room.count(1, of: 1),
                Room.occupancy(.left, isEmpty: false),
                Room.reply(caller, .joined(ticket: Ticket(room.offset), epoch: 7, confirmed: true)),
            ])
    }

    @Test func `a join asks the leases for a session whose ticket is its offset`() {
        var room = Room(policies: Policies(["demo": AppPolicy(maxAudience: 9)]))
        let step = room.plan(.join(caller: Room.caller(Room.alice, 1)))
        let member = Presence(session: "s1", user: Room.alice, ticket: Ticket(room.offset), silentFor: 0)
        #expect(step.command == .join(live: Room.key, owner: "host", member: member, limit: 9))
    }

    @Test func `a user's second device is told to nobody, and the first to leave neither`() {
        var room = Room()
        _ = room.send(.join(caller: Room.caller(Room.alice, 1)), room.did([.joined(isFirst: true, count: 1)]))
        let second = Room.caller(Room.alice, 1, session: "s2")
        var effects = room.send(.join(caller: second), room.did([.joined(isFirst: false, count: 1)]))
        #expect(
            effects == [Room.reply(second, .joined(ticket: Ticket(room.offset), epoch: 7, confirmed: true))])
        let leaving = Room.caller(Room.alice, 2, ticket: room.offset, session: "s2")
        effects = room.send(
            .leave(caller: leaving), room.did([.left(user: Room.alice, isLast: false, count: 1)]))
        #expect(effects == [Room.reply(leaving, .done)])
    }

    @Test func `I4 the last device's leave shows at once, to viewers and seats`() {
        var room = Room()
        _ = room.send(.join(caller: Room.caller(Room.alice, 1)), room.did([.joined(isFirst: true, count: 1)]))
        let ticket = room.offset
        room.now = room.now + .seconds(5)
        let leaving = Room.caller(Room.alice, 2, ticket: ticket)
        let effects = room.send(
            .leave(caller: leaving), room.did([.left(user: Room.alice, isLast: true, count: 0)]))
        #expect(
            effects == [
                Room.tip(.audienceLeft(user: Room.alice)), Room.gone("alice"), room.count(0, of: 1),
                Room.occupancy(.left, isEmpty: true), Room.reply(leaving, .done),
            ])
    }

    @Test func `the owner has a lease, but no tip and no place in the count; its loss is told to the connections`() {
        var room = Room()
        let caller = Room.caller(Room.owner, 1)
        var effects = room.send(.join(caller: caller), room.did([.joined(isFirst: true, count: 0)]))
        #expect(
            effects == [
                Room.back(Room.owner),
                .connection(ConnectionInput(app: "demo", .userBack(live: "stage-1", user: Room.owner))),
                Room.ownersName(Room.owner),
                Room.occupancy(.present, isEmpty: false),
                Room.reply(caller, .joined(ticket: Ticket(room.offset), epoch: 7, confirmed: true)),
            ])
        effects = room.tick(after: .seconds(91), [.expired(live: Room.key, user: Room.owner, count: 0)])
        #expect(
            effects == [
                Room.gone("host"),
                .connection(ConnectionInput(app: "demo", .userGone(live: "stage-1", user: "host"))),
                Room.occupancy(.offline, isEmpty: true),
            ])
    }

    @Test func `I4 an expired viewer is told as left, and is told as joined by its next sign of life`() {
        var room = Room()
        _ = room.send(.join(caller: Room.caller(Room.alice, 1)), room.did([.joined(isFirst: true, count: 1)]))
        let ticket = Ticket(room.offset)
        var effects = room.tick(after: .seconds(91), [.expired(live: Room.key, user: Room.alice, count: 0)])
        #expect(
            effects == [
                Room.tip(.audienceLeft(user: Room.alice)), Room.gone("alice"), room.count(0, of: 1),
                Room.occupancy(.left, isEmpty: true),
            ])
        room.now = room.now + .seconds(3)
        let beat = Beat(session: "s1", user: "alice", ticket: ticket, silentFor: 0)
        effects = room.send(.heartbeats(beats: [beat]), room.did([.back(user: Room.alice, count: 1)]))
        #expect(
            effects == [
                Room.tip(.audienceJoined(user: Room.alice)), Room.back(Room.alice), room.count(1, of: 1),
                Room.occupancy(.left, isEmpty: false),
            ])
    }

    @Test func `joins into no live, a full live and calls without a ticket are refused by their codes`() {
        var room = Room()
        let caller = Room.caller(Room.alice, 1)
        #expect(
            Room.refusal(caller, room.send(.join(caller: caller), room.did([.full]))) == .roomFull)
        let out = Room.caller(Room.bob, 1)
        #expect(Room.refusal(out, room.send(.leave(caller: out))) == .notInRoom)
        #expect(Room.refusal(out, room.send(.list(cursor: "", count: 10, caller: out))) == .notInRoom)
        _ = room.send(.ended(epoch: 7, ending: Room.ending))
        let late = Room.caller(Room.bob, 2, ticket: 150)
        #expect(Room.refusal(late, room.send(.join(caller: late))) == .noSuchRoomOnEntry)
        #expect(Room.refusal(late, room.send(.leave(caller: late))) == .noSuchRoom)
        #expect(Room.refusal(late, room.send(.list(cursor: "", count: 10, caller: late))) == .noSuchRoom)
        #expect(Room.refusal(late, room.send(.kick(user: "x", reason: .byAdmin, caller: late))) == .noSuchRoom)
    }

    @Test func `an ended live clears its leases and withdraws its count, and takes the joins of its batch with it`() {
        var room = Room()
        let caller = Room.caller(Room.alice, 1)
        let steps = room.machine.plan(
            [
                (Moment(now: room.now, offset: 200), AudienceInput(Room.key, .join(caller: caller))),
                (Moment(now: room.now, offset: 201), AudienceInput(Room.key, .ended(epoch: 7, ending: Room.ending))),
            ], in: &room.rows)
        #expect(steps[1].command == .clear(live: Room.key))
        var effects: [Effect] = []
        let entry = LeaseEntry(id: 1, offset: 200, .joined(isFirst: true, count: 1))
        room.machine.conclude(steps[0], .done(entries: [entry], answer: .none), in: &room.rows, into: &effects)
        room.machine.conclude(steps[1], .nothing, in: &room.rows, into: &effects)
        #expect(Room.refusal(caller, effects) == .noSuchRoomOnEntry)
        // The end goes on to the fan-out (reference 19), with the entries that were counted.
        #expect(effects.count == 3)
        #expect(
            effects.suffix(2) == [.countGone(Room.key), .barrage(BarrageInput(Room.key, .ended(ending: Room.ending)))])
    }

    @Test func `the end of a live tells the fan-out its entries, and passes on also when the live is not known`() {
        var room = Room()
        for counter in 1...3 {
            let caller = Room.caller(Room.bob, Int64(counter))
            _ = room.send(.join(caller: caller), room.did([.joined(isFirst: true, count: 1)]))
        }
        var ending = Room.ending
        ending.totalViewers = 3
        #expect(
            room.send(.ended(epoch: 7, ending: Room.ending)).last
                == .barrage(BarrageInput(Room.key, .ended(ending: ending))))
        #expect(
            room.send(.ended(epoch: 7, ending: Room.ending))
                == [.barrage(BarrageInput(Room.key, .ended(ending: Room.ending)))])
    }

    @Test func `a ticket of an earlier live of the same name is void`() {
        var room = Room()
        _ = room.send(.ended(epoch: 7, ending: Room.ending))
        _ = room.send(.opened(epoch: 8, owner: Room.owner))
        let old = Room.caller(Room.alice, 5, ticket: 102)
        #expect(Room.refusal(old, room.send(.leave(caller: old))) == .staleTicket)
        let beat = Beat(session: "s1", user: "alice", ticket: Ticket(102), silentFor: 0)
        #expect(room.plan(.heartbeats(beats: [beat])).command == nil)
    }

    @Test func `a page of the list goes out with a cursor that begins the next`() {
        var room = Room()
        let caller = Room.caller(Room.alice, 1, ticket: 110)
        let member = AudienceMember(user: Room.alice, joinedAt: room.now)
        #expect(
            room.plan(.list(cursor: "", count: 1000, caller: caller)).command
                == .page(live: Room.key, after: -1, count: Limits.audiencePage))
        let effects = room.send(
            .list(cursor: "", count: 1, caller: caller),
            .done(entries: [], answer: .page(members: [member], next: 110, count: 5)))
        #expect(
            effects == [
                Room.reply(caller, .audience(page: AudiencePage(members: [member], cursor: "110", count: 5)))
            ])
        #expect(
            room.plan(.list(cursor: "110", count: 1, caller: caller)).command
                == .page(live: Room.key, after: 110, count: 1))
        let bad = Room.caller(Room.alice, 2, ticket: 110)
        #expect(Room.refusal(bad, room.send(.list(cursor: "x", count: 1, caller: bad))) == .invalidParameter)
    }

    @Test func `presence vouches for an admin who is here, and for nobody else`() {
        var room = Room()
        let caller = Room.caller(Room.owner, 1, ticket: 110)
        let command = AudienceCommand.vouchAdmin(user: "alice", caller: caller)
        #expect(
            room.send(command, .done(entries: [], answer: .isMember(true))) == [
                .directory(
                    DirectoryInput(app: "demo", .setAdminVouched(live: "stage-1", user: "alice", caller: caller)))
            ])
        #expect(Room.refusal(caller, room.send(command, .done(entries: [], answer: .isMember(false)))) == .notMember)
    }

    @Test func `an occupant whom presence does not know is told as gone`() {
        var room = Room()
        #expect(room.plan(.confirm(user: "alice")).command == .isMember(live: Room.key, user: "alice"))
        #expect(room.send(.confirm(user: "alice"), .done(entries: [], answer: .isMember(true))).isEmpty)
        #expect(
            room.send(.confirm(user: "alice"), .done(entries: [], answer: .isMember(false))) == [Room.gone("alice")])
    }

    @Test func `row keys are read back from their text`() {
        for key in [
            AudienceKey.partition, .live(Room.key), .floors(Room.key), .bans(Room.key), .calls(Room.key, "alice", "s1"),
        ] {
            #expect(AudienceKey(text: key.text) == key)
        }
        #expect(AudienceKey(text: "calls/demo/stage-1/alice") == nil)
        #expect(AudienceKey(text: "") == nil)
    }
}
