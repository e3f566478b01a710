// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import Testing

@testable import DirectoryCore

@Suite struct PeopleTests {
    @Test func `an admin is vouched for by presence, then told to feed and seats`() throws {
        var directory = DirectoryHarness.running()
        let caller = user("alice", 2)
        #expect(
            directory.send(.setAdmin(live: live, user: "bob", caller: caller))
                == [.audience(AudienceInput(key, .vouchAdmin(user: "bob", caller: caller)))])
        var info = try #require(directory.room).info
        #expect(info.admins == [])
        info.admins = ["bob"]
        let seen = Seen(.rooms, live, revision: 4)
        #expect(
            directory.send(.setAdminVouched(live: live, user: "bob", caller: caller)) == [
                .room(RoomRecord(app: app, info: info, epoch: 2, revision: 4)),
                .barrage(BarrageInput(key, .tell(content: .adminSet(user: "bob")))),
                .barrage(BarrageInput(key, .rights(isMessageDisable: false, admins: ["bob"], isGiftEnabled: true))),
                .audience(AudienceInput(key, .rights(admins: ["bob"], maxMembers: 0))),
                .seat(SeatInput(key, .infoChanged(info: info))),
                .connection(ConnectionInput(app: app, .rights(live: live, admins: ["bob"]))),
                .success(.done, to: caller, app: app, seen: seen),
            ])
        info.admins = []
        let revoker = user("alice", 3)
        #expect(
            directory.send(.revokeAdmin(live: live, user: "bob", caller: revoker)) == [
                .room(RoomRecord(app: app, info: info, epoch: 2, revision: 5)),
                .barrage(BarrageInput(key, .tell(content: .adminRevoked(user: "bob")))),
                .barrage(BarrageInput(key, .rights(isMessageDisable: false, admins: [], isGiftEnabled: true))),
                .audience(AudienceInput(key, .rights(admins: [], maxMembers: 0))),
                .seat(SeatInput(key, .infoChanged(info: info))),
                .connection(ConnectionInput(app: app, .rights(live: live, admins: []))),
                .success(.done, to: revoker, app: app, seen: Seen(.rooms, live, revision: 5)),
            ])
        directory.expectSound()
    }

    @Test func `I15 a vouch that comes twice makes an admin once, also when it was revoked between`() {
        var directory = DirectoryHarness.running()
        let caller = user("alice", 2)
        _ = directory.send(.setAdmin(live: live, user: "bob", caller: caller))
        // Sent again before presence answered: passed on again.
        #expect(
            directory.send(.setAdmin(live: live, user: "bob", caller: caller))
                == [.audience(AudienceInput(key, .vouchAdmin(user: "bob", caller: caller)))])
        let first = directory.send(.setAdminVouched(live: live, user: "bob", caller: caller))
        _ = directory.send(.revokeAdmin(live: live, user: "bob", caller: user("alice", 3)))
        #expect(directory.send(.setAdminVouched(live: live, user: "bob", caller: caller)) == first.suffix(1))
        #expect(directory.room?.info.admins == [])
    }

    @Test func `I15 a vouch for a forgotten request makes no admin`() {
        var directory = DirectoryHarness.running()
        _ = directory.send(.setAdmin(live: live, user: "bob", caller: user("alice", 2)))
        _ = directory.pass(.seconds(120))
        let effects = directory.send(.setAdminVouched(live: live, user: "bob", caller: user("alice", 2)))
        #expect(codes(effects) == [.requestForgotten])
        #expect(directory.room?.info.admins == [])
    }

    @Test func `a live has at most as many admins as the app allows, counted again when vouched`() {
        var directory = DirectoryHarness()
        directory.machine = DirectoryMachine(policies: Policies([app: AppPolicy(maxAdmins: 1)]))
        let create = DirectoryCommand.create(
            live: live, changes: LiveChanges(), owner: alice, caller: user("alice", 1))
        _ = directory.settle(create)
        _ = directory.send(.setAdmin(live: live, user: "bob", caller: user("alice", 2)))
        _ = directory.send(.setAdmin(live: live, user: "carl", caller: user("alice", 3)))
        #expect(results(directory.send(.setAdminVouched(live: live, user: "bob", caller: user("alice", 2)))) == [.done])
        #expect(
            codes(directory.send(.setAdminVouched(live: live, user: "carl", caller: user("alice", 3))))
                == [.tooManyAdmins])
        #expect(
            codes(directory.send(.setAdmin(live: live, user: "dora", caller: user("alice", 4)))) == [.tooManyAdmins])
        directory.expectSound()
    }

    @Test func `a kick is authorised here and carried out by presence`() {
        var directory = DirectoryHarness.running()
        directory.makeAdmin("bob", counter: 2)
        directory.makeAdmin("carl", counter: 3)
        func kick(_ target: UserID, _ caller: Caller) -> [Effect] {
            directory.send(.kick(live: live, user: target, caller: caller))
        }
        let bob = user("bob", 1)
        #expect(
            kick("dora", bob) == [.audience(AudienceInput(key, .kick(user: "dora", reason: .byAdmin, caller: bob)))])
        #expect(
            kick("bob", server(1))
                == [.audience(AudienceInput(key, .kick(user: "bob", reason: .byServer, caller: server(1))))])
        #expect(codes(kick("carl", user("bob", 2))) == [.noPermission])
        #expect(codes(kick("alice", user("bob", 3))) == [.noPermission])
        #expect(codes(kick("alice", user("alice", 10))) == [.noPermission])
        #expect(codes(kick("bob", user("dora", 1))) == [.needsOwnerOrAdmin])
    }

    @Test func `I15 a retried kick is passed on again, but gives no right that is gone and no other target`() {
        var directory = DirectoryHarness.running()
        directory.makeAdmin("bob", counter: 2)
        let bob = user("bob", 1)
        let first = directory.send(.kick(live: live, user: "dora", caller: bob))
        #expect(directory.send(.kick(live: live, user: "dora", caller: bob)) == first)
        #expect(codes(directory.send(.kick(live: live, user: "alice", caller: bob))) == [.noPermission])
        let carl = user("bob", 2)
        _ = directory.send(.kick(live: live, user: "dora", caller: carl))
        _ = directory.send(.revokeAdmin(live: live, user: "bob", caller: user("alice", 3)))
        #expect(codes(directory.send(.kick(live: live, user: "dora", caller: carl))) == [.needsOwnerOrAdmin])
    }

    @Test func `the owner's new name reaches the live's info and all that show it`() throws {
        var directory = DirectoryHarness.running()
        var info = try #require(directory.room).info
        info.liveOwner = UserInfo(userID: "alice", userName: "Alice II", avatarURL: "a")
        #expect(
            directory.send(.profile(live: live, user: info.liveOwner)) == [
                .room(RoomRecord(app: app, info: info, epoch: 2, revision: 3)),
                .barrage(BarrageInput(key, .tell(content: .infoChanged(info: info)))),
                .seat(SeatInput(key, .infoChanged(info: info))),
            ])
        #expect(directory.send(.profile(live: live, user: info.liveOwner)) == [], "nothing new")
        #expect(directory.send(.profile(live: live, user: UserInfo(userID: "bob"))) == [], "not the owner")
        #expect(directory.send(.profile(live: "none", user: alice)) == [])
    }

    @Test func `I6 a kicked admin is powerless until it joins again`() {
        var directory = DirectoryHarness.running()
        directory.makeAdmin("bob", counter: 2)
        #expect(directory.send(.floor(live: live, user: "bob", ticket: Ticket(150))) == [])
        let values = ["k": "v"]
        #expect(
            codes(directory.send(.setMetadata(live: live, values: values, caller: user("bob", 1, ticket: 149))))
                == [.staleTicket])
        #expect(
            codes(directory.send(.setMetadata(live: live, values: values, caller: user("bob", 2, ticket: nil))))
                == [.notInRoom])
        #expect(
            results(directory.send(.setMetadata(live: live, values: values, caller: user("bob", 3, ticket: 151))))
                == [.done])
        // A live that is not there has no floors.
        #expect(directory.send(.floor(live: "none", user: "bob", ticket: Ticket(1))) == [])
    }
}
