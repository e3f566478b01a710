// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import DirectoryCore

/// Admins, kicks, and the profile of a live's owner; presence is the machine that knows who is in a live.
///
/// In `DirectoryHarness.withLive`, alice owns the live, which she created with her call 1. Input 2 opens the live, so
/// the live's epoch is 2 and the tests' first input has offset 3. A revision is the offset of the input that changed
/// the live. `maxMembers: 0` stands for a live without its own limit.
@Suite struct AdminKickAndProfileTests {
    @Test func `an admin is set once presence has verified membership, then published to feed and seats`() throws {
        var directory = DirectoryHarness.withLive()
        let caller = user("alice", call: 2)
        #expect(
            directory.send(.setAdmin(live: live, user: "bob", caller: caller))
                == [.audience(AudienceInput(key, .verifyAdminMembership(user: "bob", caller: caller)))])
        var info = try #require(directory.liveRow).info
        #expect(info.admins == [])
        info.admins = ["bob"]
        // `setAdmin` is input 3, the verification is input 4.
        let required = RequiredRevision(.rooms, live, revision: 4)
        #expect(
            directory.send(.adminMembershipVerified(live: live, user: "bob", caller: caller)) == [
                .live(LiveRecord(app: app, info: info, epoch: 2, revision: 4)),
                .barrage(BarrageInput(key, .publish(content: .adminSet(user: "bob", revision: 4)))),
                .barrage(BarrageInput(key, .rights(isMessageDisable: false, admins: ["bob"], isGiftEnabled: true))),
                .audience(AudienceInput(key, .rights(admins: ["bob"], maxMembers: 0))),
                .seat(SeatInput(key, .infoChanged(info: info))),
                .connection(ConnectionInput(app: app, .rights(live: live, admins: ["bob"]))),
                .success(.done, to: caller, app: app, required: required),
            ])
        info.admins = []
        let revoker = user("alice", call: 3)
        #expect(
            directory.send(.revokeAdmin(live: live, user: "bob", caller: revoker)) == [
                .live(LiveRecord(app: app, info: info, epoch: 2, revision: 5)),
                .barrage(BarrageInput(key, .publish(content: .adminRevoked(user: "bob", revision: 5)))),
                .barrage(BarrageInput(key, .rights(isMessageDisable: false, admins: [], isGiftEnabled: true))),
                .audience(AudienceInput(key, .rights(admins: [], maxMembers: 0))),
                .seat(SeatInput(key, .infoChanged(info: info))),
                .connection(ConnectionInput(app: app, .rights(live: live, admins: []))),
                .success(.done, to: revoker, app: app, required: RequiredRevision(.rooms, live, revision: 5)),
            ])
        directory.expectInvariants()
    }

    @Test func `I15 a repeated membership verification does not restore an admin whose rights were revoked since`() {
        var directory = DirectoryHarness.withLive()
        let caller = user("alice", call: 2)
        _ = directory.send(.setAdmin(live: live, user: "bob", caller: caller))
        // The call is repeated before presence has answered, so it is passed on to presence again.
        #expect(
            directory.send(.setAdmin(live: live, user: "bob", caller: caller))
                == [.audience(AudienceInput(key, .verifyAdminMembership(user: "bob", caller: caller)))])
        let first = directory.send(.adminMembershipVerified(live: live, user: "bob", caller: caller))
        _ = directory.send(.revokeAdmin(live: live, user: "bob", caller: user("alice", call: 3)))
        // The last effect of the first verification is the reply.
        #expect(directory.send(.adminMembershipVerified(live: live, user: "bob", caller: caller)) == first.suffix(1))
        #expect(directory.liveRow?.info.admins == [])
    }

    @Test func `I15 a membership verification whose call is forgotten sets no admin`() {
        var directory = DirectoryHarness.withLive()
        _ = directory.send(.setAdmin(live: live, user: "bob", caller: user("alice", call: 2)))
        // The directory remembers for 60 s (at most 70 s with rounding) that it has passed the call on to presence. The
        // verification comes after 120 s.
        _ = directory.advance(.seconds(120))
        let effects = directory.send(.adminMembershipVerified(live: live, user: "bob", caller: user("alice", call: 2)))
        #expect(codes(effects) == [.requestForgotten])
        #expect(directory.liveRow?.info.admins == [])
    }

    /// Rules: R4.4.
    @Test func `an admin beyond the app's limit is rejected in the call, or when presence has verified membership`() {
        var directory = DirectoryHarness()
        directory.machine = DirectoryMachine(policies: Policies([app: AppPolicy(maxAdmins: 1)]))
        let create = DirectoryCommand.create(
            live: live, changes: LiveChanges(), owner: alice, caller: user("alice", call: 1))
        _ = directory.sendWithFollowUps(create)
        // The limit is one admin. Both calls are passed on to presence, because neither user is an admin yet.
        _ = directory.send(.setAdmin(live: live, user: "bob", caller: user("alice", call: 2)))
        _ = directory.send(.setAdmin(live: live, user: "carl", caller: user("alice", call: 3)))
        #expect(
            results(directory.send(.adminMembershipVerified(live: live, user: "bob", caller: user("alice", call: 2))))
                == [.done])
        #expect(
            codes(directory.send(.adminMembershipVerified(live: live, user: "carl", caller: user("alice", call: 3))))
                == [.tooManyAdmins])
        #expect(
            codes(directory.send(.setAdmin(live: live, user: "dora", caller: user("alice", call: 4)))) == [
                .tooManyAdmins
            ])
        directory.expectInvariants()
    }

    /// Rules: R4.7.
    @Test func `a kick is passed on to presence, or rejected if the caller may not kick the user`() {
        // bob and carl are admins, dora is a viewer.
        var directory = DirectoryHarness.withLive()
        directory.makeAdmin("bob", call: 2)
        directory.makeAdmin("carl", call: 3)
        func kick(_ target: UserID, by caller: Caller) -> [Effect] {
            directory.send(.kick(live: live, user: target, caller: caller))
        }
        let bob = user("bob", call: 1)
        #expect(
            kick("dora", by: bob) == [.audience(AudienceInput(key, .kick(user: "dora", reason: .byAdmin, caller: bob)))]
        )
        #expect(
            kick("bob", by: server(call: 1))
                == [.audience(AudienceInput(key, .kick(user: "bob", reason: .byServer, caller: server(call: 1))))])
        // An admin cannot kick another admin, and nobody can kick the owner.
        #expect(codes(kick("carl", by: user("bob", call: 2))) == [.noPermission])
        #expect(codes(kick("alice", by: user("bob", call: 3))) == [.noPermission])
        #expect(codes(kick("alice", by: user("alice", call: 10))) == [.noPermission])
        #expect(codes(kick("bob", by: user("dora", call: 1))) == [.needsOwnerOrAdmin])
    }

    @Test func `I15 a repeated kick is checked again, and passed on only if the caller may still kick`() {
        // bob is an admin, dora a viewer.
        var directory = DirectoryHarness.withLive()
        directory.makeAdmin("bob", call: 2)
        let firstKick = user("bob", call: 1)
        let first = directory.send(.kick(live: live, user: "dora", caller: firstKick))
        #expect(directory.send(.kick(live: live, user: "dora", caller: firstKick)) == first)
        // A kick of the owner, whom nobody may kick, with the call number of bob's first kick.
        #expect(codes(directory.send(.kick(live: live, user: "alice", caller: firstKick))) == [.noPermission])
        // bob's second kick is repeated after his rights were revoked.
        let secondKick = user("bob", call: 2)
        _ = directory.send(.kick(live: live, user: "dora", caller: secondKick))
        _ = directory.send(.revokeAdmin(live: live, user: "bob", caller: user("alice", call: 3)))
        #expect(codes(directory.send(.kick(live: live, user: "dora", caller: secondKick))) == [.needsOwnerOrAdmin])
    }

    /// Rules: R2.13.
    @Test func `the owner's new name is stored in the live's info and sent to the machines that use it`() throws {
        var directory = DirectoryHarness.withLive()
        var info = try #require(directory.liveRow).info
        info.liveOwner = UserInfo(userID: "alice", userName: "Alice II", avatarURL: "a")
        #expect(
            directory.send(.profile(live: live, user: info.liveOwner)) == [
                .live(LiveRecord(app: app, info: info, epoch: 2, revision: 3)),
                .barrage(BarrageInput(key, .publish(content: .infoChanged(info: info, revision: 3)))),
                .seat(SeatInput(key, .infoChanged(info: info))),
            ])
        #expect(
            directory.send(.profile(live: live, user: info.liveOwner)) == [],
            "expected no effect, because the name is known already")
        #expect(
            directory.send(.profile(live: live, user: UserInfo(userID: "bob"))) == [],
            "expected no effect, because bob is not the owner")
        #expect(
            directory.send(.profile(live: "none", user: alice)) == [], "expected no effect, because the live is unknown"
        )
    }

    @Test func `I6 a kicked admin has no rights until it joins again`() {
        var directory = DirectoryHarness.withLive()
        directory.makeAdmin("bob", call: 2)
        // bob, an admin, was kicked: 150 is now the lowest ticket that he may still use.
        #expect(directory.send(.floor(live: live, user: "bob", ticket: Ticket(150))) == [])
        let values = ["k": "v"]
        #expect(
            codes(directory.send(.setMetadata(live: live, values: values, caller: user("bob", call: 1, ticket: 149))))
                == [.staleTicket])
        #expect(
            codes(directory.send(.setMetadata(live: live, values: values, caller: user("bob", call: 2, ticket: nil))))
                == [.notInRoom])
        #expect(
            results(directory.send(.setMetadata(live: live, values: values, caller: user("bob", call: 3, ticket: 151))))
                == [.done])
        // A floor for an unknown live has no effect.
        #expect(directory.send(.floor(live: "none", user: "bob", ticket: Ticket(1))) == [])
    }
}
