// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import Testing

@testable import DirectoryCore

@Suite struct CreateTests {
    private func create(
        _ caller: Caller, _ id: LiveID = live, owner: UserInfo? = nil, _ changes: LiveChanges = LiveChanges()
    ) -> DirectoryCommand {
        .create(live: id, changes: changes, owner: owner ?? caller.user, caller: caller)
    }

    @Test func `a create claims the owner, then opens the live and tells everybody`() {
        var directory = DirectoryHarness()
        let caller = user("alice", 1, ticket: nil)
        let changes = LiveChanges(notice: "hello", isMessageDisable: true)
        let open = DirectoryCommand.open(live: live, changes: changes, owner: alice, caller: caller)
        #expect(
            directory.send(self.create(caller, live, changes))
                == [.directory(DirectoryInput(app: app, open), key: "demo/show")])
        #expect(directory.rows[.claim(UserKey(app, "alice"))] == .claim(claim: OwnerClaim(live: live)))

        let info = LiveInfo(
            liveID: live, liveName: "show", notice: "hello", isMessageDisable: true, liveOwner: alice,
            createTime: directory.now)
        let reply = Reply(
            to: caller, app: app, .success(result: .live(info: info, epoch: 2)), seen: Seen(.rooms, live, revision: 2))
        #expect(
            directory.send(open) == [
                .room(RoomRecord(app: app, info: info, epoch: 2, revision: 2)),
                .audience(AudienceInput(key, .opened(epoch: 2, owner: alice))),
                .barrage(BarrageInput(key, .opened(epoch: 2, owner: "alice"))),
                .barrage(BarrageInput(key, .rights(isMessageDisable: true, admins: [], isGiftEnabled: true))),
                .seat(SeatInput(key, .opened(epoch: 2, info: info))),
                .connection(ConnectionInput(app: app, .opened(live: live, owner: alice, isVoice: false))),
                .reply(reply),
            ])
        directory.expectSound()
    }

    @Test func `I1 an owner runs one live at a time`() {
        var directory = DirectoryHarness.running()
        #expect(codes(directory.settle(self.create(user("alice", 2), "other"))) == [.inAnotherRoom])
        #expect(codes(directory.settle(self.create(user("alice", 3), live))) == [.roomExistsAndIsYours])
        directory.expectSound()
    }

    @Test func `I1 a live's id belongs to one owner, and the loser's claim goes before it hears`() {
        var directory = DirectoryHarness.running()
        let bob = user("bob", 1)
        _ = directory.send(self.create(bob))
        let open = DirectoryCommand.open(live: live, changes: LiveChanges(), owner: bob.user, caller: bob)
        let refusal = Reply(
            to: bob, app: app, .failure(error: ReplyError(.roomExists, "the live's id is in use")))
        let release = DirectoryCommand.release(owner: "bob", live: live, thenReply: refusal)
        #expect(directory.send(open) == [.directory(DirectoryInput(app: app, release), key: "demo/bob")])
        #expect(directory.send(release) == [.reply(refusal)])
        directory.expectSound()
        #expect(results(directory.settle(self.create(user("bob", 2), "bobs"))).count == 1)
        directory.expectSound()
    }

    @Test func `a user creates for itself only, the app's server for anybody`() {
        var directory = DirectoryHarness()
        #expect(codes(directory.settle(self.create(user("bob", 1), owner: alice))) == [.noPermission])
        #expect(results(directory.settle(self.create(server(1), owner: alice))).count == 1)
        #expect(directory.room?.info.liveOwner == alice)
        directory.expectSound()
    }

    @Test func `the same live is created at most once a second`() {
        var directory = DirectoryHarness.running()
        #expect(results(directory.settle(.end(live: live, caller: user("alice", 2)))).count == 1)
        #expect(codes(directory.settle(self.create(user("bob", 1)))) == [.createdTooOften])
        _ = directory.pass(Milliseconds(1000))
        let effects = directory.settle(self.create(user("bob", 2)))
        #expect(results(effects).count == 1)
        #expect(directory.room?.info.liveOwner.userID == "bob")
        #expect((directory.room?.epoch ?? 0) > 2)
        directory.expectSound()
    }

    @Test(arguments: [
        (LiveChanges(liveName: String(repeating: "x", count: 101)), ReplyCode.badRoomName),
        (LiveChanges(notice: String(repeating: "ö", count: 51)), .badParameter),
        (LiveChanges(coverURL: String(repeating: "x", count: 201)), .badParameter),
        (LiveChanges(backgroundURL: String(repeating: "x", count: 201)), .badParameter),
        (LiveChanges(categoryList: [1, 2, 3, 4]), .badParameter),
        (LiveChanges(seatTemplate: 0), .badParameter),
        (LiveChanges(seatTemplate: 1000), .badParameter),
        (LiveChanges(maxSeatCount: 51, seatTemplate: 70), .badParameter),
    ]) func `a field over its limit creates nothing`(changes: LiveChanges, code: ReplyCode) {
        var directory = DirectoryHarness()
        let effects = directory.settle(self.create(user("alice", 1), live, changes))
        #expect(codes(effects) == [code])
        #expect(effects.count == 1)
        #expect(directory.rows.sortedKeys == [.ownerCalls(UserKey(app, "alice"), "s-alice")])
        #expect(codes(directory.settle(self.create(user("alice", 2), "a b"))) == [.badRoomID])
    }

    @Test func `a video template fixes the seats, a voice live chooses them`() {
        let video = DirectoryHarness.running(LiveChanges(keepOwnerOnSeat: false, maxSeatCount: 3, seatTemplate: 601))
        #expect(video.room?.info.maxSeatCount == 7)
        #expect(video.room?.info.keepOwnerOnSeat == true)
        let voice = DirectoryHarness.running(LiveChanges(keepOwnerOnSeat: false, maxSeatCount: 3, seatTemplate: 70))
        #expect(voice.room?.info.maxSeatCount == 3)
        #expect(voice.room?.info.keepOwnerOnSeat == false)
    }

    @Test func `I15 a create sent again is answered again and opens nothing more`() {
        var directory = DirectoryHarness()
        let first = directory.settle(self.create(user("alice", 1)))
        let again = directory.settle(self.create(user("alice", 1)))
        #expect(again == first.suffix(1))
        // Also when the live has ended since: the answer is the old one, and no live is opened.
        _ = directory.settle(.end(live: live, caller: user("alice", 2)))
        _ = directory.pass(.seconds(2))
        #expect(directory.settle(self.create(user("alice", 1))) == again)
        #expect(directory.room?.ended == .endedByHost)
        directory.expectSound()
    }

    @Test func `I15 a create whose answer is forgotten opens nothing when it is sent again`() {
        var directory = DirectoryHarness.running()
        _ = directory.settle(.end(live: live, caller: user("alice", 2)))
        // The owner's window outlives the live's: another create is refused a minute later.
        _ = directory.pass(.seconds(55))
        #expect(codes(directory.settle(self.create(user("alice", 3), "a b"))) == [.badRoomID])
        _ = directory.pass(.seconds(30))
        #expect(directory.rows[.roomCalls(key, "s-alice")] == nil)
        #expect(codes(directory.settle(self.create(user("alice", 1)))) == [.requestForgotten])
        #expect(directory.room?.ended == .endedByHost)
        directory.expectSound()
    }

    @Test func `I15 a refused create sent again is refused again, though it would succeed now`() {
        var directory = DirectoryHarness.running()
        let first = directory.settle(self.create(user("bob", 1)))
        #expect(codes(first) == [.roomExists])
        _ = directory.settle(.end(live: live, caller: user("alice", 2)))
        _ = directory.pass(.seconds(2))
        #expect(directory.settle(self.create(user("bob", 1))) == first)
        directory.expectSound()
    }

    @Test func `I15 a request id used for another owner opens nothing and leaves no claim`() {
        var directory = DirectoryHarness()
        _ = directory.settle(self.create(server(1), owner: alice))
        let effects = directory.settle(self.create(server(1), owner: UserInfo(userID: "bob")))
        #expect(results(effects).count == 1)
        #expect(directory.rows[.claim(UserKey(app, "bob"))] == nil)
        directory.expectSound()
    }
}
