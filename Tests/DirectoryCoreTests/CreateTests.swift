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
        // An app's server does not enter for her.
        #expect(codes(directory.settle(self.create(server(1), live, owner: alice))) == [.roomExistsAndIsYours])
        directory.expectSound()
    }

    @Test func `an owner that creates the live it runs enters it as it is, also on another device`() throws {
        var directory = DirectoryHarness.running(LiveChanges(notice: "first"))
        let before = try #require(directory.room)
        var phone = user("alice", 1)
        phone.request.session = "s-phone"
        let effects = directory.settle(self.create(phone, live, LiveChanges(notice: "second")))
        #expect(
            effects == [
                .success(
                    .live(info: before.info, epoch: before.epoch), to: phone, app: app,
                    seen: Seen(.rooms, live, revision: before.revision))
            ])
        #expect(directory.room == before)
        #expect(directory.settle(self.create(phone, live, LiveChanges(notice: "second"))) == effects, "sent again")
        directory.expectSound()
    }

    @Test func `a return that meets the live's end opens nothing and leaves no claim`() {
        var directory = DirectoryHarness.running()
        let back = user("alice", 3)
        // The owner's partition sees the create before the release that the end has sent.
        let ended = directory.send(.end(live: live, caller: user("alice", 2)))
        let enter = DirectoryCommand.enter(live: live, owner: "alice", caller: back)
        #expect(
            directory.send(self.create(back))
                == [.directory(DirectoryInput(app: app, enter), key: "demo/show")])
        for case .directory(let input, _) in ended { _ = directory.send(input.command) }
        #expect(codes(directory.send(enter)) == [.createdTooOften])
        #expect(directory.room?.ended == .endedByHost)
        #expect(codes(directory.send(enter)) == [.createdTooOften], "sent again")
        #expect(codes(directory.settle(self.create(back))) == [.createdTooOften])
        directory.expectSound()
    }

    @Test func `a return whose own create is still on its way is answered by what becomes of that`() {
        var directory = DirectoryHarness.running()
        let bob = user("bob", 1)
        let first = directory.send(self.create(bob))
        let second = directory.send(self.create(user("bob", 2)))
        var refused: [ReplyCode] = []
        for case .directory(let input, _) in first + second { refused += codes(directory.settle(input.command)) }
        #expect(refused == [.roomExists, .roomExists])
        directory.expectSound()
    }

    @Test func `a live that a server makes is scheduled, and anybody may sit down in it`() {
        var directory = DirectoryHarness()
        _ = directory.settle(self.create(server(1), owner: alice))
        #expect(directory.room?.info.status == .scheduled)
        #expect(directory.room?.info.seatMode == .free)
        _ = directory.send(.occupancy(live: live, owner: .left, isEmpty: false))
        #expect(directory.room?.info.status == .scheduled, "viewers come before the owner")
        _ = directory.send(.occupancy(live: live, owner: .present, isEmpty: false))
        #expect(directory.room?.info.status == .running)
        _ = directory.send(.occupancy(live: live, owner: .left, isEmpty: false))
        #expect(directory.room?.info.status == .suspended)
        let named = LiveChanges(seatMode: .apply)
        var other = DirectoryHarness()
        _ = other.settle(self.create(server(1), owner: alice, named))
        #expect(other.room?.info.seatMode == .apply)
    }

    @Test func `a new live is told to the app's backend when it has a hook`() throws {
        var directory = DirectoryHarness()
        var policy = AppPolicy()
        policy.hasWebhooks = true
        directory.machine = DirectoryMachine(policies: Policies([app: policy]))
        let effects = directory.settle(self.create(user("alice", 1)))
        let info = try #require(directory.room).info
        let event = WebhookEvent(key, at: directory.now, .roomCreated(info: info, by: "alice"))
        #expect(effects.contains(.webhook(event)))
    }

    @Test func `names and notices are held against the app's word filter`() {
        var directory = DirectoryHarness()
        let settings = AppSettings(words: ["Casino", "ÄRGER"])
        directory.machine.apps = AppTable([AppRecord(app: app, revision: 1, settings: settings)])
        #expect(
            codes(directory.settle(self.create(user("alice", 1), live, LiveChanges(liveName: "big CASINO night"))))
                == [.sensitiveWords])
        #expect(
            codes(directory.settle(self.create(user("alice", 2), live, LiveChanges(notice: "kein ärger"))))
                == [.sensitiveWords])
        #expect(directory.rows[.claim(UserKey(app, "alice"))] == nil)
        let apart = directory.settle(self.create(user("alice", 3), live, LiveChanges(liveName: "cas ino")))
        #expect(results(apart).count == 1)
        let update = LiveChanges(notice: "casino!")
        #expect(
            codes(directory.send(.updateInfo(live: live, changes: update, caller: user("alice", 4))))
                == [.sensitiveWords])
        #expect(directory.room?.info.notice == "")
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
        (LiveChanges(liveName: "two\nlines"), .badRoomName),
        (LiveChanges(notice: String(repeating: "ö", count: 51)), .badParameter),
        (LiveChanges(coverURL: String(repeating: "x", count: 201)), .badParameter),
        (LiveChanges(backgroundURL: String(repeating: "x", count: 201)), .badParameter),
        (LiveChanges(categoryList: [1, 2, 3, 4]), .tooManyTags),
        (LiveChanges(maxMemberCount: -1), .badParameter),
        (LiveChanges(maxMemberCount: 1_000_001), .badParameter),
        (LiveChanges(seatTemplate: 0), .badParameter),
        (LiveChanges(seatTemplate: 1000), .badParameter),
        (LiveChanges(maxSeatCount: 51, seatTemplate: 70), .badParameter),
        (LiveChanges(maxSeatCount: -1), .badParameter),
        (LiveChanges(maxSeatCount: 51, seatTemplate: 601), .badParameter),
    ]) func `a field over its limit creates nothing`(changes: LiveChanges, code: ReplyCode) {
        var directory = DirectoryHarness()
        let effects = directory.settle(self.create(user("alice", 1), live, changes))
        #expect(codes(effects) == [code])
        #expect(effects.count == 1)
        #expect(directory.rows.sortedKeys == [.ownerCalls(UserKey(app, "alice"), "s-alice")])
        #expect(codes(directory.settle(self.create(user("alice", 2), "a b"))) == [.badRoomID])
    }

    @Test func `a live's id is 1 to 48 printable ASCII characters without blank and slash`() {
        var counter: Int64 = 0
        func refused(_ id: String) -> [ReplyCode] {
            var directory = DirectoryHarness()
            counter += 1
            return codes(directory.settle(self.create(user("alice", counter), LiveID(id))))
        }
        for bad in [
            "", "a b", "a/b", "ä", "直播", "a\n", "a\u{7f}", String(repeating: "x", count: 49),
            String(repeating: "é", count: 24),
        ] { #expect(refused(bad) == [.badRoomID], "\(bad.debugDescription)") }
        for good in ["!", "a:b#c~", "Live_1", String(repeating: "x", count: 48)] {
            #expect(refused(good) == [], "\(good)")
        }
    }

    @Test func `a video template fixes the seats, a voice live chooses them`() {
        let video = DirectoryHarness.running(LiveChanges(keepOwnerOnSeat: false, maxSeatCount: 3, seatTemplate: 601))
        #expect(video.room?.info.maxSeatCount == 7)
        #expect(video.room?.info.keepOwnerOnSeat == true)
        let voice = DirectoryHarness.running(LiveChanges(keepOwnerOnSeat: false, maxSeatCount: 3, seatTemplate: 70))
        #expect(voice.room?.info.maxSeatCount == 3)
        #expect(voice.room?.info.keepOwnerOnSeat == false)
        let none = DirectoryHarness.running(LiveChanges(maxSeatCount: 0, seatTemplate: 50))
        #expect(none.room?.info.maxSeatCount == 0, "a voice live without seats")
    }

    @Test(arguments: [650, 51, 199, 200, 999]) func `an unknown template of either range is 600`(template: Int) {
        let directory = DirectoryHarness.running(LiveChanges(seatTemplate: template))
        #expect(directory.room?.info.seatTemplate == (template == 200 ? 200 : 600))
        #expect(directory.room?.info.isVoice == false)
    }

    @Test func `a field at its limit is taken, and an empty name is the live's id`() throws {
        let changes = LiveChanges(
            liveName: "", notice: String(repeating: "ö", count: 50), isPublicVisible: false, maxSeatCount: 50,
            seatTemplate: 70, coverURL: String(repeating: "c", count: 200),
            backgroundURL: String(repeating: "b", count: 200), categoryList: [7, 8, 9], activityStatus: -4,
            isGiftEnabled: false, maxMemberCount: 1_000_000)
        let info = try #require(DirectoryHarness.running(changes).room).info
        #expect(info.liveName == "show")
        #expect(info.notice == changes.notice && info.coverURL == changes.coverURL)
        #expect(info.backgroundURL == changes.backgroundURL && info.categoryList == [7, 8, 9])
        #expect(info.activityStatus == -4 && !info.isPublicVisible && !info.isGiftEnabled)
        #expect(info.maxSeatCount == 50 && info.maxMemberCount == 1_000_000)
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
