// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import CoreKit
import PlazaModel
import Testing

@Suite struct DeviceTests {
    private static func room(_ devices: DevicePolicy) -> Room {
        var policy = AppPolicy()
        policy.devices = devices
        return Room(policies: Policies(["demo": policy]))
    }

    private static func replaced(_ room: Room) -> [Effect] {
        let floor = Ticket(room.offset)
        return Room.floors("alice", floor) + [
            .notice(
                Notice(
                    to: UserKey("demo", "alice"), live: "stage-1", at: room.now, floor: floor,
                    content: .kickedOut(reason: .byLoggedOnOtherDevice, by: "alice")))
        ]
    }

    @Test func `where one device is allowed a second takes the first one's place, without a word to the viewers`() {
        var room = Self.room(.one)
        _ = room.send(.join(caller: Room.caller(Room.alice, 1)), room.did([.joined(isFirst: true, count: 1)]))
        room.now = room.now + .seconds(5)
        let second = Room.caller(Room.alice, 1, session: "s2")
        guard case .join(_, _, _, _, _, isOnly: true)? = room.plan(.join(caller: second)).command else {
            return #expect(Bool(false), "the other sessions stay")
        }
        let effects = room.send(
            .join(caller: second), room.did([.joined(isFirst: false, count: 1, replaces: true)]))
        let reply = Room.reply(second, .joined(ticket: Ticket(room.offset), epoch: 7, confirmed: true))
        #expect(effects == Self.replaced(room) + [reply])
        #expect(room.rows.live(Room.key)?.totalViewers == 1)
        let old = Room.caller(Room.alice, 2, ticket: 102)
        #expect(Room.refusal(old, room.send(.list(cursor: "", count: 1, caller: old))) == .staleTicket)
    }

    @Test func `the same device that joins again replaces nobody`() {
        var room = Self.room(.one)
        _ = room.send(.join(caller: Room.caller(Room.alice, 1)), room.did([.joined(isFirst: true, count: 1)]))
        let again = Room.caller(Room.alice, 2, ticket: room.offset)
        let effects = room.send(.join(caller: again), room.did([.joined(isFirst: false, count: 1)]))
        #expect(effects == [Room.reply(again, .joined(ticket: Ticket(room.offset), epoch: 7, confirmed: true))])
    }

    @Test func `where several devices are allowed none is asked to give way`() {
        var room = Self.room(.several)
        let step = room.plan(.join(caller: Room.caller(Room.alice, 1)))
        guard case .join(_, _, _, _, _, isOnly: false)? = step.command else {
            return #expect(Bool(false), "the other sessions give way")
        }
        #expect(Room.notices(room.sendAway(.join(caller: Room.caller(Room.alice, 1)))).isEmpty)
    }

    @Test
    func `while nobody knows who is here a device that begins puts out whatever there is, one that resumes nobody`() {
        var room = Self.room(.one)
        _ = room.sendAway(nil)
        let fresh = room.sendAway(.join(caller: Room.caller(Room.alice, 1)))
        #expect(Self.replaced(room).allSatisfy(fresh.contains))
        let resuming = Room.caller(Room.alice, 2, ticket: room.offset)
        #expect(Room.notices(room.sendAway(.join(caller: resuming))).isEmpty)
        #expect(room.plan(.join(caller: resuming)).verdict == .repeated)
    }

    @Test func `I6 a session that was put out does not come back by resuming, and does by joining`() {
        var room = Self.room(.several)
        _ = room.send(.join(caller: Room.caller(Room.alice, 1)), room.did([.joined(isFirst: true, count: 1)]))
        let old = room.offset
        _ = room.send(
            .kick(user: "alice", reason: .byAdmin, caller: Room.caller(Room.owner, 1)),
            room.did([.kicked(user: Room.alice, count: 0)]))
        let resuming = Room.caller(Room.alice, 2, ticket: old)
        #expect(Room.refusal(resuming, room.send(.join(caller: resuming))) == .staleTicket)
        #expect(room.plan(.join(caller: Room.caller(Room.alice, 3))).verdict == .act)
    }

    @Test func `I6 a resume behind the kick in one batch is refused by the leases, or without them by the floor`() {
        var room = Self.room(.several)
        _ = room.send(.join(caller: Room.caller(Room.alice, 1)), room.did([.joined(isFirst: true, count: 1)]))
        let resuming = Room.caller(Room.alice, 2, ticket: room.offset)
        #expect(Room.refusal(resuming, room.send(.join(caller: resuming), room.did([.void]))) == .staleTicket)

        let late = Room.caller(Room.alice, 3, ticket: 102)
        let kick = AudienceCommand.kick(user: "alice", reason: .byAdmin, caller: Room.caller(Room.owner, 1))
        let inputs = [kick, .join(caller: late)].enumerated().map { index, command in
            (
                moment: Moment(now: room.now, offset: 200 + Int64(index)),
                input: AudienceInput?.some(AudienceInput(Room.key, command))
            )
        }
        let steps = room.machine.plan(inputs, in: &room.rows)
        var effects: [Effect] = []
        room.machine.leasesAway(steps, wereSent: false, in: &room.rows, into: &effects)
        for step in steps { room.machine.conclude(step, .away, in: &room.rows, into: &effects) }
        #expect(Room.refusal(late, effects) == .staleTicket)
        #expect(!effects.contains(Room.tip(.audienceJoined(user: Room.alice))))
    }
}
