// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import CoreKit
import PlazaModel
import Testing

@Suite struct OccupancyTests {
    private let host = Room.caller(Room.owner, 1)

    /// A room whose owner is in it, at offset `ticket`, some time ago.
    private func hosted() -> (room: Room, ticket: Int64) {
        var room = Room()
        _ = room.send(.join(caller: self.host), room.did([.joined(isFirst: true, count: 0)]))
        let ticket = room.offset
        room.now = room.now + .seconds(5)
        return (room, ticket)
    }

    @Test func `the directory hears of the owner's coming, leaving and silence, and of its return`() {
        var (room, ticket) = self.hosted()
        let leaving = Room.caller(Room.owner, 2, ticket: ticket)
        var effects = room.send(
            .leave(caller: leaving), room.did([.left(user: Room.owner, isLast: true, count: 0)]))
        #expect(Room.occupancies(effects) == [Room.occupancy(.left, isEmpty: true)])
        room.now = room.now + .seconds(5)
        let again = Room.caller(Room.owner, 3)
        effects = room.send(.join(caller: again), room.did([.joined(isFirst: true, count: 0)]))
        #expect(Room.occupancies(effects) == [Room.occupancy(.present, isEmpty: false)])
        ticket = room.offset
        effects = room.tick(after: .seconds(91), [.expired(live: Room.key, user: Room.owner, count: 0)])
        #expect(Room.occupancies(effects) == [Room.occupancy(.offline, isEmpty: true)])
        room.now = room.now + .seconds(5)
        let beat = Beat(session: "s1", user: "host", ticket: Ticket(ticket), silentFor: 0)
        effects = room.send(.heartbeats(beats: [beat]), room.did([.back(user: Room.owner, count: 0)]))
        #expect(
            effects == [
                Room.back(Room.owner),
                .connection(ConnectionInput(app: "demo", .userBack(live: "stage-1", user: Room.owner))),
                Room.ownersName(Room.owner),
                Room.occupancy(.present, isEmpty: false),
            ])
    }

    @Test func `an owner whose gateway signs it off has left`() {
        var (room, ticket) = self.hosted()
        let command = AudienceCommand.signOff(session: "s1", user: "host", ticket: Ticket(ticket))
        let effects = room.send(command, room.did([.left(user: Room.owner, isLast: true, count: 0)]))
        #expect(Room.occupancies(effects) == [Room.occupancy(.left, isEmpty: true)])
    }

    @Test func `one device of several that leaves changes nothing`() {
        var (room, ticket) = self.hosted()
        let leaving = Room.caller(Room.owner, 2, ticket: ticket)
        let effects = room.send(
            .leave(caller: leaving), room.did([.left(user: Room.owner, isLast: false, count: 0)]))
        #expect(effects == [Room.reply(leaving, .done)])
    }

    @Test func `however often people come and go, the directory hears of it once a second, and always of the last`() {
        var room = Room()
        var told: [(at: Timestamp, effect: Effect)] = []
        for index in 1...24 {
            let isIn = index % 2 == 1
            let effects =
                isIn
                ? room.send(
                    .join(caller: Room.caller(Room.alice, Int64(index))), room.did([.joined(isFirst: true, count: 1)]))
                : room.send(
                    .leave(caller: Room.caller(Room.alice, Int64(index), ticket: room.offset)),
                    room.did([.left(user: Room.alice, isLast: true, count: 0)]))
            for effect in Room.occupancies(effects) { told.append((room.now, effect)) }
            room.now = room.now + Milliseconds(130)
        }
        _ = room.send(.join(caller: Room.caller(Room.bob, 1)), room.did([.joined(isFirst: true, count: 1)]))
        #expect(room.rows.nextDue != nil)
        for _ in 0..<3 {
            for effect in Room.occupancies(room.tick(after: .seconds(1))) { told.append((room.now, effect)) }
        }
        for (a, b) in zip(told, told.dropFirst()) { #expect((b.at - a.at).count >= 1000) }
        #expect(told.count >= 2)
        #expect(told.last?.effect == Room.occupancy(.left, isEmpty: false))
    }

    @Test func `I5 the loss of the leases suspends and empties no live whose people are here`() {
        var (room, _) = self.hosted()
        _ = room.send(.join(caller: Room.caller(Room.alice, 1)), room.did([.joined(isFirst: true, count: 1)]))
        room.now = room.now + .seconds(5)
        var told = Room.occupancies(room.sendAway(nil))
        told += Room.occupancies(room.begin("e2"))
        let member = Presence(session: "s1", user: Room.alice, ticket: Ticket(room.offset), silentFor: 0)
        told += Room.occupancies(room.send(.assert(members: [member]), room.did([.asserted(count: 1)])))
        let settled = room.tick(after: .seconds(12))
        told += Room.occupancies(settled)
        #expect(settled.contains(.audience(AudienceInput(Room.key, .confirm(user: "host")))))
        let effects = room.send(.confirm(user: "host"), .done(entries: [], answer: .isMember(true)))
        #expect(effects.isEmpty)
        #expect(told.isEmpty)
    }

    @Test func `I5 an owner who went while nobody knew is told as offline once it is known`() {
        var (room, _) = self.hosted()
        _ = room.begin("e2")
        #expect(Room.occupancies(room.tick(after: .seconds(12))).isEmpty)
        let effects = room.send(.confirm(user: "host"), .done(entries: [], answer: .isMember(false)))
        #expect(
            effects == [
                Room.gone("host"),
                .connection(ConnectionInput(app: "demo", .userGone(live: "stage-1", user: "host"))),
                Room.occupancy(.offline, isEmpty: true),
            ])
        room.now = room.now + .seconds(5)
        // An owner that was told as offline may have been asserted after that.
        #expect(
            room.send(.confirm(user: "host"), .done(entries: [], answer: .isMember(true)))
                == [Room.occupancy(.present, isEmpty: false)])
    }

    @Test func `I5 a live without its owner is told as empty when it is known that the owner is not here`() {
        var room = Room()
        _ = room.send(.join(caller: Room.caller(Room.alice, 1)), room.did([.joined(isFirst: true, count: 1)]))
        room.now = room.now + .seconds(5)
        _ = room.begin("e2")
        #expect(Room.occupancies(room.tick(after: .seconds(12))).isEmpty)
        let effects = room.send(.confirm(user: "host"), .done(entries: [], answer: .isMember(false)))
        #expect(Room.occupancies(effects) == [Room.occupancy(.left, isEmpty: true)])
    }

    @Test func `I5 while the leases are away the directory hears who comes, and not who goes`() {
        var (room, ticket) = self.hosted()
        _ = room.sendAway(nil)
        #expect(
            Room.occupancies(room.sendAway(.leave(caller: Room.caller(Room.owner, 2, ticket: ticket)))).isEmpty)
        var empty = Room()
        _ = empty.sendAway(nil)
        let joined = empty.sendAway(.join(caller: self.host))
        #expect(Room.occupancies(joined) == [Room.occupancy(.present, isEmpty: false)])
        empty.now = empty.now + .seconds(5)
        // It cannot be written down that alice is here, yet the live is not empty while it is not known to be.
        _ = empty.sendAway(.join(caller: Room.caller(Room.alice, 1)))
        _ = empty.begin("e2")
        #expect(Room.occupancies(empty.tick(after: .seconds(11))).isEmpty)
        let settled = empty.tick(after: .seconds(1))
        #expect(Room.occupancies(settled).isEmpty, "the owner is here as far as is known")
        #expect(
            Room.occupancies(empty.send(.confirm(user: "host"), .done(entries: [], answer: .isMember(false))))
                == [Room.occupancy(.offline, isEmpty: true)])
    }

    @Test func `I5 a question that the leases' absence swallowed makes a new epoch, and is asked again`() {
        var (room, _) = self.hosted()
        _ = room.sendAway(.confirm(user: "host"))
        #expect(room.rows.partition.needsEpoch)
        _ = room.begin("e2")
        #expect(
            room.tick(after: .seconds(12)).contains(.audience(AudienceInput(Room.key, .confirm(user: "host")))))
    }

    @Test func `an owner who comes back while nobody knows sits again`() {
        var (room, _) = self.hosted()
        _ = room.tick(after: .seconds(91), [.expired(live: Room.key, user: Room.owner, count: 0)])
        room.now = room.now + .seconds(5)
        _ = room.begin("e2")
        let resuming = Room.caller(Room.owner, 5, ticket: 102)
        let effects = room.send(.join(caller: resuming), room.did([.joined(isFirst: true, count: 0)]))
        #expect(effects.contains(Room.back(Room.owner)))
        #expect(Room.occupancies(effects) == [Room.occupancy(.present, isEmpty: false)])
        let again = Room.caller(Room.owner, 6, ticket: room.offset)
        #expect(
            room.send(.join(caller: again), room.did([.joined(isFirst: true, count: 0)]))
                == [Room.reply(again, .joined(ticket: Ticket(room.offset), epoch: 7, confirmed: true))])
    }

    @Test func `I5 a viewer who resumes while nobody knows has not come anew`() {
        var room = Room()
        _ = room.send(.join(caller: Room.caller(Room.alice, 1)), room.did([.joined(isFirst: true, count: 1)]))
        let ticket = room.offset
        room.now = room.now + .seconds(5)
        _ = room.begin("e2")
        let resuming = Room.caller(Room.alice, 2, ticket: ticket)
        #expect(
            room.send(.join(caller: resuming), room.did([.joined(isFirst: true, count: 1)]))
                == [Room.reply(resuming, .joined(ticket: Ticket(room.offset), epoch: 7, confirmed: true))])
        #expect(room.rows.live(Room.key)?.totalViewers == 1)
    }
}
