// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import CoreKit
import PlazaModel
import Testing

@Suite struct AwayTests {
    @Test func `I5 without the leases joins go on unconfirmed, counts are stale once, and what is unknown is refused`()
    {
        var room = Room()
        let caller = Room.caller(Room.alice, 1)
        let effects = room.sendAway(.join(caller: caller))
        #expect(
            effects == [
                room.count(0, of: 0, stale: true), Room.tip(.audienceJoined(user: Room.alice)), Room.back(Room.alice),
                Room.occupancy(.left, isEmpty: false),
                Room.reply(caller, .joined(ticket: Ticket(room.offset), epoch: 7, confirmed: false)),
            ])
        let list = Room.caller(Room.alice, 2, ticket: room.offset)
        let refused = room.sendAway(.list(cursor: "", count: 10, caller: list))
        guard case .reply(let reply)? = refused.first, case .failure(let error) = reply.outcome else {
            return #expect(Bool(false), "no refusal: \(refused)")
        }
        #expect(error.code == .unavailable)
        #expect(error.retryAfter != nil)
        #expect(refused.count == 1)
    }

    @Test func `I5 a leave without the leases tells nobody that a viewer has left`() {
        var room = Room()
        _ = room.sendAway(nil)
        let caller = Room.caller(Room.alice, 1, ticket: 110)
        #expect(room.sendAway(.leave(caller: caller)) == [Room.reply(caller, .done)])
    }

    @Test func `I4 expiry pauses while the leases are away or an epoch settles`() {
        var room = Room()
        #expect(room.plan(nil).command == .tick(limit: 5000))
        _ = room.sendAway(nil)
        #expect(room.plan(nil).command == .tick(limit: 0))
        _ = room.begin("e2")
        #expect(room.plan(nil).command == .tick(limit: 0))
        _ = room.tick(after: .seconds(12))
        #expect(room.plan(nil).command == .tick(limit: 5000))
    }

    @Test func `I5 a new epoch is needed once something was decided without the leases, and not for silence alone`() {
        var room = Room()
        _ = room.sendAway(nil)
        let beat = Beat(session: "s1", user: "alice", ticket: Ticket(110), silentFor: 0)
        _ = room.sendAway(.heartbeats(beats: [beat]))
        #expect(room.rows.partition.isAway)
        #expect(!room.rows.partition.needsEpoch)
        _ = room.sendAway(.leave(caller: Room.caller(Room.alice, 1, ticket: 110)))
        #expect(room.rows.partition.needsEpoch)

        var other = Room()
        _ = other.sendAway(nil, wereSent: true)
        #expect(other.rows.partition.needsEpoch)
    }

    @Test func `leases that come back as they were make counts fresh again`() {
        var room = Room()
        _ = room.sendAway(nil)
        var effects: [Effect] = []
        room.machine.leasesBack(at: Moment(now: room.now, offset: 300), in: &room.rows, into: &effects)
        #expect(effects == [room.count(0, of: 0)])
        #expect(!room.rows.partition.isAway)
    }

    @Test func `I5 a new epoch asks gateways, reports nobody as left, and settles within 15 s on the truth`() {
        var room = Room()
        _ = room.send(.join(caller: Room.caller(Room.alice, 1)), room.did([.joined(isFirst: true, count: 1)]))
        let ticket = Ticket(room.offset)
        room.now = room.now + .seconds(5)
        let began = room.now
        #expect(
            room.begin("e2") == [
                .presenceEpoch(PresenceEpochRecord(partition: 3, epoch: "e2")), room.count(1, of: 1, stale: true),
            ])
        // A gateway's heartbeat comes before its assertion, and a session's leave while others are not told yet.
        let beat = Beat(session: "s1", user: "alice", ticket: ticket, silentFor: 0)
        #expect(room.send(.heartbeats(beats: [beat]), room.did([.back(user: Room.alice, count: 1)])).isEmpty)
        let member = Presence(session: "s1", user: Room.bob, ticket: ticket, silentFor: 0)
        #expect(room.send(.assert(members: [member]), room.did([.asserted(count: 2)])).isEmpty)
        let leaving = Room.caller(Room.alice, 2, ticket: ticket.offset)
        #expect(
            room.send(.leave(caller: leaving), room.did([.left(user: Room.alice, isLast: true, count: 1)]))
                == [Room.reply(leaving, .done)])
        #expect(room.plan(.confirm(user: "alice")).command == nil)
        let settled = room.tick(after: .seconds(12))
        #expect((room.now - began).count <= 15_000)
        #expect(
            settled == [
                room.count(1, of: 1), .seat(SeatInput(Room.key, .confirmOccupants)),
                .connection(ConnectionInput(app: "demo", .confirmOwner(live: "stage-1"))),
                .audience(AudienceInput(Room.key, .confirm(user: "host"))),
            ])
        #expect(room.rows.nextDue != nil)  // the kept outcomes alone
        #expect(room.rows.partition == PartitionRow())
    }

    @Test func `I5 leases that go away while an epoch settles need another epoch`() {
        var room = Room()
        _ = room.begin("e2")
        _ = room.sendAway(nil)
        #expect(room.rows.partition.needsEpoch)
        #expect(room.rows.partition.settlesAt == nil)
        #expect(room.tick(after: .seconds(20)).isEmpty)
    }

    @Test func `a live that opens while an epoch settles is certain of its count, one that opens while away is not`() {
        var room = Room()
        _ = room.begin("e2")
        let other = LiveKey("demo", "other")
        func open(_ offset: Int64) -> [Effect] {
            let input = AudienceInput(other, .opened(epoch: offset, owner: Room.bob))
            let steps = room.machine.plan([(Moment(now: room.now, offset: offset), input)], in: &room.rows)
            var effects: [Effect] = []
            room.machine.conclude(steps[0], .nothing, in: &room.rows, into: &effects)
            return effects
        }
        for case .count(let record) in open(400) { #expect(!record.stale) }
        _ = room.sendAway(nil)
        for case .count(let record) in open(500) { #expect(record.stale) }
    }

    @Test func `the first epoch of all has nobody to wait for`() {
        var room = Room()
        var effects: [Effect] = []
        room.machine.epochBegan(
            "e1", wasEmpty: true, at: Moment(now: room.now, offset: 300), in: &room.rows, into: &effects)
        #expect(effects == [.presenceEpoch(PresenceEpochRecord(partition: 3, epoch: "e1"))])
        #expect(room.rows.partition.settlesAt == nil)
    }
}
