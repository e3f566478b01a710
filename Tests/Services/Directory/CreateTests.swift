// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import DirectoryCore

/// The creation of a live, in two steps.
///
/// The partition of the owner stores a claim, so that the owner runs no second live. Then it sends `open` to the
/// partition of the live, or `enter` if the owner's claim already names this live.
@Suite struct CreateTests {
    /// The command by which `caller` creates a live of `owner`; nil means the caller itself.
    private func create(
        _ caller: Caller, _ id: LiveID = live, owner: UserInfo? = nil, _ changes: LiveChanges = LiveChanges()
    ) -> DirectoryCommand {
        .create(live: id, changes: changes, owner: owner ?? caller.user, caller: caller)
    }

    /// Rules: R3.2.
    @Test func `a create claims the owner, then opens the live and publishes it to all machines`() {
        var directory = DirectoryHarness()
        let caller = user("alice", call: 1, ticket: nil)
        let changes = LiveChanges(notice: "hello", isMessageDisable: true)
        let open = DirectoryCommand.open(live: live, changes: changes, owner: alice, caller: caller)
        // The create is input 1 and `open` is input 2, whose offset becomes the epoch and the revision.
        #expect(
            directory.send(self.create(caller, live, changes))
                == [.directory(DirectoryInput(app: app, open), key: "demo/show")])
        #expect(directory.rows[.claim(UserKey(app, "alice"))] == .claim(claim: OwnerClaim(live: live)))

        let info = LiveInfo(liveID: live, liveOwner: alice, createTime: directory.now) {
            ($0.liveName, $0.notice, $0.isMessageDisable) = ("show", "hello", true)
        }
        let reply = Reply(
            to: caller, app: app, .success(result: .live(info: info, epoch: 2, revision: 2)),
            required: RequiredRevision(.rooms, live, revision: 2))
        #expect(
            directory.send(open) == [
                .live(LiveRecord(app: app, info: info, epoch: 2, revision: 2)),
                .audience(AudienceInput(key, .opened(epoch: 2, owner: alice))),
                .barrage(BarrageInput(key, .opened(epoch: 2, owner: "alice"))),
                .barrage(BarrageInput(key, .rights(isMessageDisable: true, admins: [], isGiftEnabled: true))),
                .seat(SeatInput(key, .opened(epoch: 2, info: info))),
                .connection(ConnectionInput(app: app, .opened(live: live, owner: alice, isVoice: false))),
                .reply(reply),
            ])
        directory.expectInvariants()
    }

    /// Rules: R3.3, R3.5.
    @Test func `I1 an owner runs one live at a time`() {
        var directory = DirectoryHarness.withLive()
        #expect(codes(directory.sendWithFollowUps(self.create(user("alice", call: 2), "other"))) == [.inAnotherRoom])
        // The app's server cannot enter the running live in place of its owner.
        #expect(
            codes(directory.sendWithFollowUps(self.create(server(call: 1), live, owner: alice))) == [
                .roomExistsAndIsYours
            ])
        directory.expectInvariants()
    }

    /// Rules: R3.4.
    @Test func `an owner that creates its running live again enters it unchanged, also on another device`() throws {
        var directory = DirectoryHarness.withLive(LiveChanges(notice: "first"))
        let before = try #require(directory.liveRow)
        var phone = user("alice", call: 1)
        phone.request.session = "s-phone"
        let effects = directory.sendWithFollowUps(self.create(phone, live, LiveChanges(notice: "second")))
        #expect(
            effects == [
                .success(
                    .live(info: before.info, epoch: before.epoch, revision: before.revision), to: phone, app: app,
                    required: RequiredRevision(.rooms, live, revision: before.revision))
            ])
        #expect(directory.liveRow == before)
        #expect(
            directory.sendWithFollowUps(self.create(phone, live, LiveChanges(notice: "second"))) == effects,
            "the same call, sent again")
        directory.expectInvariants()
    }

    @Test func `an owner's new create that overlaps the live's end opens nothing and leaves no claim`() {
        var directory = DirectoryHarness.withLive()
        let returningOwner = user("alice", call: 3)
        // The end sends a release of the claim to the owner's partition, which handles the create before the release.
        let endEffects = directory.send(.end(live: live, caller: user("alice", call: 2)))
        let enter = DirectoryCommand.enter(live: live, owner: "alice", caller: returningOwner)
        #expect(
            directory.send(self.create(returningOwner))
                == [.directory(DirectoryInput(app: app, enter), key: "demo/show")])
        for case .directory(let input, _) in endEffects { _ = directory.send(input.command) }
        #expect(codes(directory.send(enter)) == [.createdTooOften])
        #expect(directory.liveRow?.ended == .endedByHost)
        #expect(codes(directory.send(enter)) == [.createdTooOften], "the same command, sent again")
        #expect(codes(directory.sendWithFollowUps(self.create(returningOwner))) == [.createdTooOften])
        directory.expectInvariants()
    }

    @Test func `two creates of one user that overlap are both rejected when the live's id is taken`() {
        var directory = DirectoryHarness.withLive()
        let bob = user("bob", call: 1)
        let first = directory.send(self.create(bob))
        let second = directory.send(self.create(user("bob", call: 2)))
        var rejectionCodes: [ReplyCode] = []
        for case .directory(let input, _) in first + second {
            rejectionCodes += codes(directory.sendWithFollowUps(input.command))
        }
        #expect(rejectionCodes == [.roomExists, .roomExists])
        directory.expectInvariants()
    }

    /// Rules: R1.7, R3.15.
    @Test func `a live that an app's server creates is scheduled until its owner joins, and has free seats`() {
        var directory = DirectoryHarness()
        _ = directory.sendWithFollowUps(self.create(server(call: 1), owner: alice))
        #expect(directory.liveRow?.info.status == .scheduled)
        #expect(directory.liveRow?.info.seatMode == .free)
        _ = directory.send(.occupancy(live: live, owner: .left, isEmpty: false))
        #expect(directory.liveRow?.info.status == .scheduled, "only viewers have joined, not the owner")
        _ = directory.send(.occupancy(live: live, owner: .present, isEmpty: false))
        #expect(directory.liveRow?.info.status == .running)
        _ = directory.send(.occupancy(live: live, owner: .left, isEmpty: false))
        #expect(directory.liveRow?.info.status == .suspended)
        // The seat mode of the request replaces the default.
        var directoryWithSeatMode = DirectoryHarness()
        _ = directoryWithSeatMode.sendWithFollowUps(
            self.create(server(call: 1), owner: alice, LiveChanges(seatMode: .apply)))
        #expect(directoryWithSeatMode.liveRow?.info.seatMode == .apply)
    }

    /// Rules: R14.15.
    @Test func `a new live is reported to the backend of an app with webhooks`() throws {
        var directory = DirectoryHarness()
        var policy = AppPolicy()
        policy.hasWebhooks = true
        directory.machine = DirectoryMachine(policies: Policies([app: policy]))
        let effects = directory.sendWithFollowUps(self.create(user("alice", call: 1)))
        let info = try #require(directory.liveRow).info
        let event = WebhookEvent(key, at: directory.now, .roomCreated(info: info, by: "alice"))
        #expect(effects.contains(.webhook(event)))
    }

    /// Rules: R3.12.
    @Test func `names and notices are checked by the app's word filter`() {
        var directory = DirectoryHarness()
        let settings = AppSettings(words: ["Casino", "ÄRGER"])
        directory.machine.updateSettings(AppTable([AppRecord(app: app, revision: 1, settings: settings)]))
        #expect(
            codes(
                directory.sendWithFollowUps(
                    self.create(user("alice", call: 1), live, LiveChanges(liveName: "big CASINO night"))))
                == [.sensitiveWords])
        #expect(
            codes(
                directory.sendWithFollowUps(
                    self.create(user("alice", call: 2), live, LiveChanges(notice: "kein ärger"))))
                == [.sensitiveWords])
        #expect(directory.rows[.claim(UserKey(app, "alice"))] == nil)
        let splitWord = directory.sendWithFollowUps(
            self.create(user("alice", call: 3), live, LiveChanges(liveName: "cas ino")))
        #expect(results(splitWord).count == 1)
        let update = LiveChanges(notice: "casino!")
        #expect(
            codes(directory.send(.updateInfo(live: live, changes: update, caller: user("alice", call: 4))))
                == [.sensitiveWords])
        #expect(directory.liveRow?.info.notice == "")
        directory.expectInvariants()
    }

    /// Rules: R3.6.
    @Test func `I1 a live's id belongs to one owner, and the loser's claim is released before the reply`() {
        var directory = DirectoryHarness.withLive()
        let bob = user("bob", call: 1)
        _ = directory.send(self.create(bob))
        let open = DirectoryCommand.open(live: live, changes: LiveChanges(), owner: bob.user, caller: bob)
        let rejection = Reply(
            to: bob, app: app, .failure(error: ReplyError(.roomExists, "the live's id is in use")))
        let release = DirectoryCommand.release(owner: "bob", live: live, thenReply: rejection)
        #expect(directory.send(open) == [.directory(DirectoryInput(app: app, release), key: "demo/bob")])
        #expect(directory.send(release) == [.reply(rejection)])
        directory.expectInvariants()
        #expect(results(directory.sendWithFollowUps(self.create(user("bob", call: 2), "bobs"))).count == 1)
        directory.expectInvariants()
    }

    @Test func `a user can create a live only for itself, the app's server for any user`() {
        var directory = DirectoryHarness()
        #expect(codes(directory.sendWithFollowUps(self.create(user("bob", call: 1), owner: alice))) == [.noPermission])
        #expect(results(directory.sendWithFollowUps(self.create(server(call: 1), owner: alice))).count == 1)
        #expect(directory.liveRow?.info.liveOwner == alice)
        directory.expectInvariants()
    }

    /// Rules: R3.9.
    @Test func `the same live is created at most once a second`() {
        var directory = DirectoryHarness.withLive()
        #expect(results(directory.sendWithFollowUps(.end(live: live, caller: user("alice", call: 2)))).count == 1)
        #expect(codes(directory.sendWithFollowUps(self.create(user("bob", call: 1)))) == [.createdTooOften])
        // Now the first create is a second old.
        _ = directory.advance(Milliseconds(1000))
        let effects = directory.sendWithFollowUps(self.create(user("bob", call: 2)))
        #expect(results(effects).count == 1)
        #expect(directory.liveRow?.info.liveOwner.userID == "bob")
        #expect((directory.liveRow?.epoch ?? 0) > 2, "the epoch of the ended live was 2")
        directory.expectInvariants()
    }

    /// The limits of a plain text, such as the name, count the bytes of its JSON form, where a backslash has two.
    ///
    /// A free text, such as the notice, has at most 100 bytes, and at most 200 bytes as JSON, where most control
    /// characters have six bytes (34 * 6 = 204). An "ö" has two bytes (51 * 2 = 102).
    ///
    /// Rules: R3.10, R17.4, R17.5.
    @Test(arguments: [
        (LiveChanges(liveName: String(repeating: "x", count: 101)), ReplyCode.badRoomName),
        (LiveChanges(liveName: "two\nlines"), .badRoomName), (LiveChanges(liveName: "\u{7F}"), .badRoomName),
        (LiveChanges(liveName: String(repeating: "\\", count: 51)), .badRoomName),
        (LiveChanges(notice: String(repeating: "ö", count: 51)), .badParameter),
        (LiveChanges(notice: String(repeating: "\u{1}", count: 34)), .badParameter),
        (LiveChanges(coverURL: String(repeating: "x", count: 201)), .badParameter),
        (LiveChanges(coverURL: "https://a\u{1}"), .badParameter),
        (LiveChanges(backgroundURL: String(repeating: "x", count: 201)), .badParameter),
        (LiveChanges(backgroundURL: "https://a\n"), .badParameter),
        (LiveChanges(categoryList: [1, 2, 3, 4]), .tooManyTags),
        (LiveChanges(maxMemberCount: -1), .badParameter),
        (LiveChanges(maxMemberCount: 1_000_001), .badParameter),
        (LiveChanges(seatTemplate: 0), .badParameter),
        (LiveChanges(seatTemplate: 1000), .badParameter),
        (LiveChanges(maxSeatCount: -1), .badParameter),
        (LiveChanges(maxSeatCount: 51, seatTemplate: 70), .badParameter),
        (LiveChanges(maxSeatCount: 51, seatTemplate: 601), .badParameter),
    ]) func `a create with an invalid field creates nothing`(changes: LiveChanges, code: ReplyCode) {
        var directory = DirectoryHarness()
        let effects = directory.sendWithFollowUps(self.create(user("alice", call: 1), live, changes))
        #expect(codes(effects) == [code])
        #expect(effects.count == 1)
        #expect(
            directory.rows.sortedKeys == [.ownerCalls(UserKey(app, "alice"), "s-alice")],
            "only the rejection is stored")
        #expect(
            codes(directory.sendWithFollowUps(self.create(user("alice", call: 2), "a b"))) == [.badRoomID],
            "the live's id has a blank")
    }

    /// Rules: R1.6.
    @Test func `a live's id is 1 to 48 printable ASCII characters without blank and slash`() {
        var counter: Int64 = 0
        func rejectionCodes(_ id: String) -> [ReplyCode] {
            var directory = DirectoryHarness()
            counter += 1
            return codes(directory.sendWithFollowUps(self.create(user("alice", call: counter), LiveID(id))))
        }
        for invalidID in [
            "", "a b", "a/b", "ä", "直播", "a\n", "a\u{7f}", String(repeating: "x", count: 49),
            String(repeating: "é", count: 24),
        ] { #expect(rejectionCodes(invalidID) == [.badRoomID], "\(invalidID.debugDescription)") }
        for validID in ["!", "a:b#c~", "Live_1", String(repeating: "x", count: 48)] {
            #expect(rejectionCodes(validID) == [], "\(validID)")
        }
    }

    /// Rules: R3.17.
    @Test func `a video template fixes the number of seats, and the creator of a voice live chooses the number`() {
        let video = DirectoryHarness.withLive(LiveChanges(keepOwnerOnSeat: false, maxSeatCount: 3, seatTemplate: 601))
        #expect(video.liveRow?.info.maxSeatCount == 7)
        #expect(video.liveRow?.info.keepOwnerOnSeat == true)
        let voice = DirectoryHarness.withLive(LiveChanges(keepOwnerOnSeat: false, maxSeatCount: 3, seatTemplate: 70))
        #expect(voice.liveRow?.info.maxSeatCount == 3)
        #expect(voice.liveRow?.info.keepOwnerOnSeat == false)
        let withoutSeats = DirectoryHarness.withLive(LiveChanges(maxSeatCount: 0, seatTemplate: 50))
        #expect(withoutSeats.liveRow?.info.maxSeatCount == 0, "a voice live without seats")
    }

    /// Rules: R3.41.
    @Test(arguments: [51, 199, 200, 650, 999])
    func `template 600 replaces an unknown template, and the known template 200 stays`(
        template: Int
    ) {
        let directory = DirectoryHarness.withLive(LiveChanges(seatTemplate: template))
        #expect(directory.liveRow?.info.seatTemplate == (template == 200 ? 200 : 600))
        #expect(directory.liveRow?.info.isVoice == false, "also for 51 and 199 from the range of voice templates")
    }

    /// Rules: R3.11.
    @Test func `a field at its limit is accepted, and an empty name becomes the live's id`() throws {
        let changes = LiveChanges(
            liveName: "", notice: String(repeating: "ö", count: 50), isPublicVisible: false, maxSeatCount: 50,
            seatTemplate: 70, coverURL: String(repeating: "c", count: 200),
            backgroundURL: String(repeating: "b", count: 200), categoryList: [7, 8, 9], activityStatus: -4,
            isGiftEnabled: false, maxMemberCount: 1_000_000)
        let info = try #require(DirectoryHarness.withLive(changes).liveRow).info
        #expect(info.liveName == "show")
        #expect(info.notice == changes.notice && info.coverURL == changes.coverURL)
        #expect(info.backgroundURL == changes.backgroundURL && info.categoryList == [7, 8, 9])
        #expect(info.activityStatus == -4 && !info.isPublicVisible && !info.isGiftEnabled)
        #expect(info.maxSeatCount == 50 && info.maxMemberCount == 1_000_000)
    }

    @Test func `I15 a repeated create gets the same reply and opens nothing`() {
        var directory = DirectoryHarness()
        let first = directory.sendWithFollowUps(self.create(user("alice", call: 1)))
        let repeated = directory.sendWithFollowUps(self.create(user("alice", call: 1)))
        // The last effect is the reply.
        #expect(repeated == first.suffix(1))
        // The reply is the same when the live has ended since, and no live is opened.
        _ = directory.sendWithFollowUps(.end(live: live, caller: user("alice", call: 2)))
        _ = directory.advance(.seconds(2))
        #expect(directory.sendWithFollowUps(self.create(user("alice", call: 1))) == repeated)
        #expect(directory.liveRow?.ended == .endedByHost)
        directory.expectInvariants()
    }

    /// Rules: R16.8.
    @Test func `I15 a repeated create whose outcome is forgotten opens nothing`() {
        var directory = DirectoryHarness.withLive()
        _ = directory.sendWithFollowUps(.end(live: live, caller: user("alice", call: 2)))
        // The owner and the live each have an idempotency window of 60 s for alice's session. The second create is
        // rejected and extends only the owner's window. When alice repeats the first create after 55 + 30 = 85 s, the
        // owner's window (55 + 60 = 115 s) still has it, but the live's window (60 s, rounded up to 10 s) has expired.
        _ = directory.advance(.seconds(55))
        #expect(codes(directory.sendWithFollowUps(self.create(user("alice", call: 3), "a b"))) == [.badRoomID])
        _ = directory.advance(.seconds(30))
        #expect(codes(directory.sendWithFollowUps(self.create(user("alice", call: 1)))) == [.requestForgotten])
        #expect(directory.liveRow?.ended == .endedByHost)
        directory.expectInvariants()
    }

    @Test func `I15 a repeated create that was rejected is rejected again, even if it would succeed now`() {
        var directory = DirectoryHarness.withLive()
        let first = directory.sendWithFollowUps(self.create(user("bob", call: 1)))
        #expect(codes(first) == [.roomExists])
        _ = directory.sendWithFollowUps(.end(live: live, caller: user("alice", call: 2)))
        _ = directory.advance(.seconds(2))
        #expect(directory.sendWithFollowUps(self.create(user("bob", call: 1))) == first)
        directory.expectInvariants()
    }

    @Test func `I15 a create with the request id of a create for another owner opens nothing and leaves no claim`() {
        var directory = DirectoryHarness()
        _ = directory.sendWithFollowUps(self.create(server(call: 1), owner: alice))
        let effects = directory.sendWithFollowUps(self.create(server(call: 1), owner: UserInfo(userID: "bob")))
        #expect(results(effects).count == 1, "the reply to the first create")
        #expect(directory.rows[.claim(UserKey(app, "bob"))] == nil)
        directory.expectInvariants()
    }

    /// Rules: R16.11.
    @Test func `I15 a late retry is not applied, and gets its first outcome while that outcome is recorded`() {
        var directory = DirectoryHarness()
        var lateCreate = user("alice", call: 1, ticket: nil)
        lateCreate.isLateRetry = true
        let create = DirectoryCommand.create(live: live, changes: LiveChanges(), owner: alice, caller: lateCreate)
        #expect(codes(directory.sendWithFollowUps(create)) == [.requestForgotten])
        #expect(directory.rows.count == 0)
        directory = DirectoryHarness.withLive()
        #expect(results(directory.sendWithFollowUps(create)).count == 1)
        var lateUpdate = user("alice", call: 2)
        lateUpdate.isLateRetry = true
        let before = directory.liveRow
        #expect(
            codes(directory.send(.setMetadata(live: live, values: ["a": "1"], caller: lateUpdate))) == [
                .requestForgotten
            ])
        #expect(directory.liveRow == before)
        directory.expectInvariants()
    }
}
