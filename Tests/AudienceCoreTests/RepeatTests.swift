// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import CoreKit
import PlazaModel
import Testing

@Suite struct RepeatTests {
    @Test func `I15 a join sent again is answered again, with the same ticket, and asks nothing of the leases`() {
        var room = Room()
        let caller = Room.caller(Room.alice, 1)
        let first = room.send(.join(caller: caller), room.did([.joined(isFirst: true, count: 1)]))
        let step = room.plan(.join(caller: caller))
        #expect(step.command == nil)
        #expect(room.send(.join(caller: caller)) == Array(first.suffix(1)))
    }

    @Test func `I6 I15 a join sent again after a kick, a leave or the live's end lets nobody in`() {
        let caller = Room.caller(Room.alice, 1)
        func joined() -> (Room, Int64) {
            var room = Room()
            for effect in room.send(.join(caller: caller), room.did([.joined(isFirst: true, count: 1)])) {
                if case .reply(let reply) = effect, case .success(.joined(let ticket, _, _)) = reply.outcome {
                    return (room, ticket.offset)
                }
            }
            Issue.record("alice is not in")
            return (room, 0)
        }
        var (room, ticket) = joined()
        _ = room.send(
            .kick(user: "alice", reason: .byAdmin, caller: Room.caller(Room.owner, 1)),
            room.did([.kicked(user: Room.alice, count: 0)]))
        #expect(Room.refusal(caller, room.send(.join(caller: caller))) == .staleTicket)

        (room, ticket) = joined()
        _ = room.send(
            .leave(caller: Room.caller(Room.alice, 2, ticket: ticket)),
            room.did([.left(user: Room.alice, isLast: true, count: 0)]))
        #expect(Room.refusal(caller, room.send(.join(caller: caller))) == .staleTicket)

        (room, ticket) = joined()
        _ = room.send(.signOff(session: "s1", user: "alice", ticket: Ticket(ticket)))
        #expect(Room.refusal(caller, room.send(.join(caller: caller))) == .staleTicket)

        (room, _) = joined()
        _ = room.send(.opened(epoch: 8, owner: Room.bob))
        #expect(Room.refusal(caller, room.send(.join(caller: caller))) == .noSuchRoomOnEntry)
    }

    @Test func `I6 a ticket that no join of the live gave is no way in, and one that a join gave is`() {
        var room = Room()
        let opened = room.offset
        _ = room.send(.join(caller: Room.caller(Room.alice, 1)), room.did([.joined(isFirst: true, count: 1)]))
        let given = room.offset
        // The first is refused by its own offset.
        let never = [given + 1, -1, 0, opened - 1, opened, Int64.max]
        for (index, ticket) in never.enumerated() {
            let caller = Room.caller(Room.bob, Int64(index + 1), ticket: ticket)
            let effects = room.send(.join(caller: caller))
            #expect(Room.refusal(caller, effects) == .staleTicket, "ticket \(ticket) at \(room.offset)")
            #expect(effects.count == 1)
        }
        let back = Room.caller(Room.alice, 2, ticket: given)
        let answer = room.send(.join(caller: back), room.did([.joined(isFirst: false, count: 1)]))
        #expect(answer == [Room.reply(back, .joined(ticket: Ticket(room.offset), epoch: 7, confirmed: true))])
        let expired = Room.caller(Room.alice, 3, ticket: given)
        let told = room.send(.join(caller: expired), room.did([.joined(isFirst: true, count: 1)]))
        #expect(told.contains(Room.tip(.audienceJoined(user: Room.alice))), "after her lease had ended")
        // Also while nobody can ask the leases (I5).
        let high = Room.caller(Room.bob, 20, ticket: room.offset + 1)
        #expect(Room.refusal(high, room.sendAway(.join(caller: high))) == .staleTicket)
    }

    @Test func `a leave that comes after a later join leaves that join's answer alone`() {
        var room = Room()
        _ = room.send(.join(caller: Room.caller(Room.alice, 1)), room.did([.joined(isFirst: true, count: 1)]))
        let again = Room.caller(Room.alice, 2)
        let answer = room.send(.join(caller: again), room.did([.joined(isFirst: false, count: 1)])).suffix(1)
        _ = room.send(.leave(caller: Room.caller(Room.alice, 3, ticket: 102)), room.did([]))
        #expect(room.send(.join(caller: again)) == Array(answer))
    }

    @Test func `I15 a join twice in one batch is carried out once and answered twice`() {
        var room = Room()
        let caller = Room.caller(Room.alice, 1)
        let input = AudienceInput(Room.key, .join(caller: caller))
        let steps = room.machine.plan(
            [(Moment(now: room.now, offset: 200), input), (Moment(now: room.now, offset: 201), input)],
            in: &room.rows)
        #expect(steps[0].command != nil)
        #expect(steps[1].command == nil)
        var effects: [Effect] = []
        let entry = LeaseEntry(id: 1, offset: 200, .joined(isFirst: true, count: 1))
        room.machine.conclude(steps[0], .done(entries: [entry], answer: .none), in: &room.rows, into: &effects)
        room.machine.conclude(steps[1], .nothing, in: &room.rows, into: &effects)
        let answer = Room.reply(caller, .joined(ticket: Ticket(200), epoch: 7, confirmed: true))
        #expect(effects.filter { $0 == answer }.count == 2)
        #expect(effects.count == 6)
    }

    @Test func `I15 a request older than the outcomes that are kept is refused, not applied`() {
        var room = Room()
        for counter in 1...20 {
            _ = room.send(
                .join(caller: Room.caller(Room.alice, Int64(counter))), room.did([.joined(isFirst: false, count: 1)]))
        }
        let old = Room.caller(Room.alice, 1)
        #expect(Room.refusal(old, room.send(.join(caller: old))) == .requestForgotten)
    }

    @Test func `outcomes go when their time is over`() {
        var room = Room()
        _ = room.send(.join(caller: Room.caller(Room.alice, 1)), room.did([.joined(isFirst: true, count: 1)]))
        #expect(room.rows[.calls(Room.key, "alice", "s1")] != nil)
        _ = room.tick(after: .seconds(71))
        #expect(room.rows[.calls(Room.key, "alice", "s1")] == nil)
    }

    @Test func `what a batch did to rows can be put back`() {
        var room = Room()
        let before = room.rows.sortedKeys.map { room.rows[$0] }
        var effects: [Effect] = []
        let step = room.plan(.join(caller: Room.caller(Room.alice, 1)))
        room.machine.conclude(step, room.did([]), in: &room.rows, into: &effects)
        room.rows.rollback()
        #expect(room.rows.sortedKeys.map { room.rows[$0] } == before)
    }
}
