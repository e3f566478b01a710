// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import CoreKit
import PlazaModel
import Testing

@Suite struct BanTests {
    @Test func `I6 a ban puts a user out everywhere, once, with one notice, and nobody answers it`() {
        var room = Room()
        _ = room.send(.join(caller: Room.caller(Room.alice, 1)), room.did([.joined(isFirst: true, count: 1)]))
        room.now = room.now + .seconds(5)
        let ban = AudienceCommand.banned(
            user: "alice", until: room.now + .seconds(60), caller: Room.caller(Room.owner, 1))
        let effects = room.send(ban, room.did([.kicked(user: Room.alice, count: 0)]))
        let floor = Ticket(room.offset)
        #expect(
            effects == Room.floors("alice", floor) + [
                Room.tip(.audienceLeft(user: Room.alice)), Room.gone("alice"), room.count(0, of: 1),
                Room.occupancy(.left, isEmpty: true),
                .notice(
                    Notice(
                        to: UserKey("demo", "alice"), live: "stage-1", at: room.now, floor: floor,
                        content: .kickedOut(reason: .byAdmin, by: "host"))),
            ])
        let again = room.send(ban)
        #expect(again == Room.floors("alice", Ticket(room.offset)))
    }

    @Test func `I6 a banned user cannot join until the ban ends`() {
        var room = Room()
        let until = room.now + .seconds(60)
        _ = room.send(.banned(user: "alice", until: until, caller: nil))
        room.now = until - Milliseconds(1)
        let caller = Room.caller(Room.alice, 1)
        let effects = room.send(.join(caller: caller))
        #expect(Room.refusal(caller, effects) == .banned)
        guard case .reply(let reply)? = effects.first, case .failure(let error) = reply.outcome else {
            return #expect(Bool(false), "no refusal: \(effects)")
        }
        #expect(error.retryAfter == 1)
        #expect(error.message.contains("\(until.milliseconds)"))
        #expect(effects.count == 1)
        room.now = until
        #expect(room.plan(.join(caller: caller)).verdict == .act)
        #expect(room.plan(.join(caller: Room.caller(Room.bob, 1))).verdict == .act)
    }

    @Test func `a ban for good ends when it is lifted, and with its live`() {
        var room = Room()
        let caller = Room.caller(Room.alice, 1)
        _ = room.send(.banned(user: "alice", until: nil, caller: nil))
        room.now = room.now + .seconds(1_000_000)
        #expect(Room.refusal(caller, room.send(.join(caller: caller))) == .banned)
        _ = room.send(.unbanned(user: "alice"))
        #expect(room.plan(.join(caller: caller)).verdict == .act)

        _ = room.send(.banned(user: "alice", until: nil, caller: nil))
        _ = room.send(.ended(epoch: 7, ending: Room.ending))
        #expect(room.rows[.bans(Room.key)] == nil)
        _ = room.send(.opened(epoch: 8, owner: Room.owner))
        #expect(room.plan(.join(caller: caller)).verdict == .act)
    }

    @Test func `I6 a ban holds for a join that stands behind it in the same batch`() {
        var room = Room()
        let caller = Room.caller(Room.alice, 1)
        let steps = room.machine.plan(
            [
                (
                    Moment(now: room.now, offset: 200),
                    AudienceInput(Room.key, .banned(user: "alice", until: nil, caller: nil))
                ), (Moment(now: room.now, offset: 201), AudienceInput(Room.key, .join(caller: caller))),
            ], in: &room.rows)
        #expect(steps[0].command == .kick(live: Room.key, user: "alice", isUnsure: true))
        #expect(steps[1].command == nil)
        room.rows.rollback()
        #expect(room.rows[.bans(Room.key)] == nil)
    }

    @Test func `I6 what a banned user who had gone silent still holds is void`() {
        var room = Room()
        _ = room.send(.join(caller: Room.caller(Room.alice, 1)), room.did([.joined(isFirst: true, count: 1)]))
        let old = Ticket(room.offset)
        _ = room.tick(after: .seconds(91), [.expired(live: Room.key, user: Room.alice, count: 0)])
        _ = room.send(.banned(user: "alice", until: nil, caller: nil))
        let beat = Beat(session: "s1", user: "alice", ticket: old, silentFor: 0)
        #expect(room.plan(.heartbeats(beats: [beat])).command == nil)
    }

    @Test func `I6 a ban while the leases are away holds, with one notice`() {
        var room = Room()
        let ban = AudienceCommand.banned(user: "alice", until: nil, caller: nil)
        #expect(Room.notices(room.sendAway(ban)).count == 1)
        #expect(Room.notices(room.sendAway(ban)).isEmpty)
        #expect(room.rows.partition.needsEpoch)
        let caller = Room.caller(Room.alice, 1)
        #expect(Room.refusal(caller, room.sendAway(.join(caller: caller))) == .banned)
    }

    @Test func `bans that are over leave no row behind`() {
        var room = Room()
        _ = room.send(.banned(user: "alice", until: room.now + .seconds(5), caller: nil))
        _ = room.send(.banned(user: "bob", until: room.now + .seconds(50), caller: nil))
        _ = room.tick(after: .seconds(5))
        #expect(room.rows.bans(Room.key).bans.map(\.user) == ["bob"])
        _ = room.tick(after: .seconds(45))
        #expect(room.rows[.bans(Room.key)] == nil)
        _ = room.send(.banned(user: "alice", until: room.now, caller: nil))
        #expect(room.rows[.bans(Room.key)] == nil)
    }

    @Test func `I16 beyond the most bans of a live the one that ends first goes`() {
        var bans = Bans()
        for index in 0..<Limits.bansPerLive {
            bans.set(UserID("u\(index)"), until: Timestamp(milliseconds: 10_000 - Int64(index)))
        }
        bans.set("forever", until: nil)
        let now = Timestamp(milliseconds: 0)
        #expect(bans.bans.count == Limits.bansPerLive)
        #expect(bans.ban(of: UserID("u\(Limits.bansPerLive - 1)"), at: now) == nil)
        #expect(bans.ban(of: "u0", at: now) != nil)
        #expect(bans.ban(of: "forever", at: .distantFuture) != nil)
        #expect(bans.bans.map(\.user) == bans.bans.map(\.user).sorted())
    }
}
