// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import CoreKit
import PlazaModel
import Testing

@Suite struct RightsTests {
    @Test func `the list shows who is an admin as the directory has it`() {
        var room = Room()
        let caller = Room.caller(Room.alice, 1, ticket: 110)
        let members = [Room.alice, Room.bob].map { AudienceMember(user: $0, joinedAt: room.now) }
        func roles() -> [LiveRole] {
            let result = LeaseResult.done(entries: [], answer: .page(members: members, next: nil, count: 2))
            for case .reply(let reply) in room.send(.list(cursor: "", count: 2, caller: caller), result) {
                if case .success(.audience(let page)) = reply.outcome { return page.members.map(\.role) }
            }
            return []
        }
        #expect(roles() == [.generalUser, .generalUser])
        #expect(room.send(.rights(admins: ["bob"], maxMembers: 0)).isEmpty)
        #expect(roles() == [.generalUser, .admin])
        _ = room.send(.rights(admins: [], maxMembers: 0))
        #expect(roles() == [.generalUser, .generalUser])
    }

    @Test func `a live takes as many users as it says, and no more than its app allows`() {
        var room = Room(policies: Policies(["demo": AppPolicy(maxAudience: 9)]))
        let limit = { (room: inout Room) -> Int? in
            guard case .join(_, _, _, let limit, _, _)? = room.plan(.join(caller: Room.caller(Room.alice, 1))).command
            else { return nil }
            return limit
        }
        #expect(limit(&room) == 9)
        _ = room.send(.rights(admins: [], maxMembers: 3))
        #expect(limit(&room) == 3)
        _ = room.send(.rights(admins: [], maxMembers: 30))
        #expect(limit(&room) == 9)
    }

    @Test func `a session that its gateway signed off is out like one that left, and nobody is answered`() {
        var room = Room()
        _ = room.send(.join(caller: Room.caller(Room.alice, 1)), room.did([.joined(isFirst: true, count: 1)]))
        let ticket = Ticket(room.offset)
        room.now = room.now + .seconds(2)
        let command = AudienceCommand.signOff(session: "s1", user: "alice", ticket: ticket)
        #expect(
            room.plan(command).command
                == .leave(live: Room.key, owner: "host", user: "alice", session: "s1", ticket: ticket))
        #expect(
            room.send(command, room.did([.left(user: Room.alice, isLast: true, count: 0)])) == [
                Room.tip(.audienceLeft(user: Room.alice)), Room.gone("alice"), room.count(0, of: 1),
                Room.occupancy(.left, isEmpty: true),
            ])
        _ = room.send(.banned(user: "alice", until: nil, caller: nil))
        #expect(room.plan(command).command == nil)
    }

    @Test func `a new name reaches seats and viewers, once, and is refused while the leases are away`() {
        var room = Room()
        let renamed = UserInfo(userID: "alice", userName: "Alice B.", avatarURL: "https://example.org/b")
        let caller = Room.caller(renamed, 5, ticket: 110)
        #expect(
            room.plan(.profile(caller: caller)).command
                == .rename(live: Room.key, user: renamed, session: "s1", ticket: Ticket(110)))
        let away = Room.caller(renamed, 6, ticket: 110)
        #expect(Room.refusal(away, room.sendAway(.profile(caller: away))) == .unavailable)
        let outside = Room.caller(renamed, 7)
        #expect(Room.refusal(outside, room.send(.profile(caller: outside))) == .notInRoom)
        #expect(
            room.send(.profile(caller: caller), room.did([.renamed])) == [
                .seat(SeatInput(Room.key, .profile(user: renamed))), Room.tip(.userChanged(user: renamed)),
                Room.reply(caller, .done),
            ])
        #expect(room.send(.profile(caller: caller)) == [Room.reply(caller, .done)])
    }

    @Test func `a mute is announced with the name that the user has here, and with its id where it has none`() {
        var room = Room()
        let until = room.now + .seconds(60)
        let mute = AudienceCommand.announceMute(user: "alice", isDisable: true, until: until)
        #expect(room.plan(mute).command == .profile(live: Room.key, user: "alice"))
        #expect(
            room.send(mute, .done(entries: [], answer: .profile(Room.alice))) == [
                Room.tip(.messageDisabled(user: Room.alice, isDisable: true, until: until))
            ])
        let end = AudienceCommand.announceMute(user: "alice", isDisable: false, until: nil)
        let nameless = [Room.tip(.messageDisabled(user: UserInfo(userID: "alice"), isDisable: false, until: nil))]
        #expect(room.send(end, .done(entries: [], answer: .profile(nil))) == nameless, "it is not here")
        var away = Room()
        let told = away.sendAway(end)
        #expect(told.filter { nameless.contains($0) } == nameless, "nobody knows who is here")
    }

    @Test func `the owner's new name reaches the directory and the connections too, also by entering with it`() {
        var room = Room()
        let renamed = UserInfo(userID: "host", userName: "Host the Great")
        let caller = Room.caller(renamed, 5, ticket: 110)
        let effects = room.send(.profile(caller: caller), room.did([.renamed]))
        #expect(
            effects == [
                .seat(SeatInput(Room.key, .profile(user: renamed))), Room.ownersName(renamed),
                .connection(ConnectionInput(app: "demo", .profile(live: "stage-1", user: renamed))),
                Room.tip(.userChanged(user: renamed)), Room.reply(caller, .done),
            ])
        for (name, isTold) in [("Host again", true), ("", false)] {
            var room = Room()
            let owner = UserInfo(userID: "host", userName: name)
            let entered = room.send(.join(caller: Room.caller(owner, 6)), room.did([.joined(isFirst: true, count: 0)]))
            #expect(entered.contains(Room.ownersName(owner)) == isTold, "one without a name keeps the live's for it")
        }
    }

    @Test func `who joins again under another name is shown so everywhere, without having come or gone`() {
        var room = Room()
        room.offset = 120
        let renamed = UserInfo(userID: "alice", userName: "Alice B.")
        let caller = Room.caller(renamed, 5, ticket: 110)
        let result = room.did([.joined(isFirst: false, count: 0, isRenamed: true)])
        #expect(
            room.send(.join(caller: caller), result) == [
                .seat(SeatInput(Room.key, .profile(user: renamed))), Room.tip(.userChanged(user: renamed)),
                Room.reply(caller, .joined(ticket: Ticket(room.offset), epoch: 7, confirmed: true)),
            ])
        let owner = Room.caller(UserInfo(userID: "host", userName: "Host B."), 6, ticket: 111)
        let again = room.send(
            .join(caller: owner), room.did([.joined(isFirst: false, count: 0, isRenamed: true)]))
        #expect(again.contains(Room.ownersName(owner.user)))
        #expect(
            again.contains(.connection(ConnectionInput(app: "demo", .profile(live: "stage-1", user: owner.user)))))
    }

    @Test func `a new name of one who went silent is answered, and told to nobody until it is back`() {
        var room = Room()
        let caller = Room.caller(UserInfo(userID: "alice", userName: "Alice B."), 5, ticket: 110)
        #expect(room.send(.profile(caller: caller), room.did([])) == [Room.reply(caller, .done)])
    }
}
