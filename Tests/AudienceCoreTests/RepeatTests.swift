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
