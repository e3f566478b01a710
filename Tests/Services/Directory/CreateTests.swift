// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import DirectoryCore

/// The creation of a live, in two steps.
///
/// First the partition of the owner stores a claim, so that the owner runs no second live. Then the owner's partition
/// sends `open` to the partition of the live, or `enter` if the owner's claim already names this live. In
/// `DirectoryHarness.withLive`, alice owns the live `show`, which she created with her call 1.
@Suite struct CreateTests {
    /// Rules: R3.2.
    @Test func `a create stores the owner's claim, then opens the live and reports it to all machines`() {
        var directory = DirectoryHarness()
        let caller = user("alice", call: 1, ticket: nil)
        let changes = LiveChanges(notice: "hello", isMessageDisable: true)
        let open = DirectoryCommand.open(live: live, changes: changes, owner: alice, caller: caller)
        // The create is input 1 and `open` is input 2, whose offset becomes the epoch and the revision.
        #expect(
            directory.send(createCommand(by: caller, live, changes))
                == [.directory(DirectoryInput(app: app, open), key: "demo/show")])
        #expect(directory.rows[.claim(UserKey(app, "alice"))] == .claim(claim: OwnerClaim(live: live)))

        let info = LiveInfo(liveID: live, liveOwner: alice, createTime: directory.now) {
            // The create names no liveName, so it is the live's id.
            $0.liveName = "show"
            $0.notice = "hello"
            $0.isMessageDisable = true
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
    @Test func `I1 a create is rejected if its owner already runs a live`() {
        var directory = DirectoryHarness.withLive()
        #expect(
            codes(directory.sendWithFollowUps(createCommand(by: user("alice", call: 2), "other"))) == [.inAnotherRoom])
        // A create of the running live lets its owner enter, but not the app's server.
        #expect(
            codes(directory.sendWithFollowUps(createCommand(by: server(call: 1), live, owner: alice))) == [
                .roomExistsAndIsYours
            ])
        directory.expectInvariants()
    }

    /// Rules: R3.4.
    @Test func `an owner that creates its running live again enters it unchanged, even on another device`() throws {
        var directory = DirectoryHarness.withLive(LiveChanges(notice: "first"))
        let before = try #require(directory.liveRow)
        var phone = user("alice", call: 1)
        phone.request.session = "s-phone"
        let effects = directory.sendWithFollowUps(createCommand(by: phone, live, LiveChanges(notice: "second")))
        #expect(
            effects == [
                .success(
                    .live(info: before.info, epoch: before.epoch, revision: before.revision), to: phone, app: app,
                    required: RequiredRevision(.rooms, live, revision: before.revision))
            ])
        #expect(directory.liveRow == before)
        #expect(
            directory.sendWithFollowUps(createCommand(by: phone, live, LiveChanges(notice: "second"))) == effects,
            "expected the same reply to the same call")
        directory.expectInvariants()
    }

    @Test func `an owner's create while the owner's live ends opens nothing and leaves no claim`() {
        var directory = DirectoryHarness.withLive()
        let returningOwner = user("alice", call: 3)
        // The end sends a `release` of the claim to the owner's partition. But this partition handles the create first.
        // The claim still names the live, so the partition sends `enter`.
        let endEffects = directory.send(.end(live: live, caller: user("alice", call: 2)))
        let enter = DirectoryCommand.enter(live: live, owner: "alice", caller: returningOwner)
        #expect(
            directory.send(createCommand(by: returningOwner))
                == [.directory(DirectoryInput(app: app, enter), key: "demo/show")])
        for case .directory(let input, _) in endEffects { _ = directory.send(input.command) }
        // A live that is still ending cannot be entered or created, until all machines have handled the end.
        #expect(codes(directory.send(enter)) == [.createdTooOften])
        #expect(directory.liveRow?.ended == .endedByHost)
        #expect(codes(directory.send(enter)) == [.createdTooOften], "expected the same reply to the same command")
        #expect(codes(directory.sendWithFollowUps(createCommand(by: returningOwner))) == [.createdTooOften])
        directory.expectInvariants()
    }

    @Test func `two creates of one user that overlap are both rejected when the live's id is taken`() {
        // Both creates of bob are handled by his partition before the partition of alice's live handles the first.
        var directory = DirectoryHarness.withLive()
        let bob = user("bob", call: 1)
        let first = directory.send(createCommand(by: bob))
        let second = directory.send(createCommand(by: user("bob", call: 2)))
        var rejectionCodes: [ReplyCode] = []
        for case .directory(let input, _) in first + second {
            rejectionCodes += codes(directory.sendWithFollowUps(input.command))
        }
        #expect(rejectionCodes == [.roomExists, .roomExists])
        directory.expectInvariants()
    }

    /// Rules: R1.7, R3.15.
    @Test func `a live that an app's server creates is scheduled until its owner joins, and has the seat mode free`() {
        var directory = DirectoryHarness()
        _ = directory.sendWithFollowUps(createCommand(by: server(call: 1), owner: alice))
        #expect(directory.liveRow?.info.status == .scheduled)
        #expect(directory.liveRow?.info.seatMode == .free)
        _ = directory.send(.occupancy(live: live, owner: .left, isEmpty: false))
        #expect(directory.liveRow?.info.status == .scheduled, "expected no change, because only viewers have joined")
        _ = directory.send(.occupancy(live: live, owner: .present, isEmpty: false))
        #expect(directory.liveRow?.info.status == .running)
        _ = directory.send(.occupancy(live: live, owner: .left, isEmpty: false))
        #expect(directory.liveRow?.info.status == .suspended)
        // A create that names a seat mode replaces the default.
        var directoryWithSeatMode = DirectoryHarness()
        _ = directoryWithSeatMode.sendWithFollowUps(
            createCommand(by: server(call: 1), owner: alice, LiveChanges(seatMode: .apply)))
        #expect(directoryWithSeatMode.liveRow?.info.seatMode == .apply)
    }

    /// Rules: R14.15.
    @Test func `a new live is reported to the backend of an app with webhooks`() throws {
        var directory = DirectoryHarness()
        var policy = AppPolicy()
        policy.hasWebhooks = true
        directory.machine = DirectoryMachine(policies: Policies([app: policy]))
        let effects = directory.sendWithFollowUps(createCommand(by: user("alice", call: 1)))
        let info = try #require(directory.liveRow).info
        let event = WebhookEvent(key, at: directory.now, .roomCreated(info: info, by: "alice"))
        #expect(effects.contains(.webhook(event)))
    }

    /// Rules: R3.12.
    @Test func `a create or update whose name or notice has a word of the app's filter is rejected`() {
        var directory = DirectoryHarness()
        let settings = AppSettings(words: ["Casino", "ÄRGER"])
        directory.machine.updateSettings(AppTable([AppRecord(app: app, revision: 1, settings: settings)]))
        #expect(
            codes(
                directory.sendWithFollowUps(
                    createCommand(by: user("alice", call: 1), live, LiveChanges(liveName: "big CASINO night"))))
                == [.sensitiveWords])
        #expect(
            codes(
                directory.sendWithFollowUps(
                    createCommand(by: user("alice", call: 2), live, LiveChanges(notice: "kein ärger"))))
                == [.sensitiveWords])
        #expect(directory.rows[.claim(UserKey(app, "alice"))] == nil)
        let createWithSplitWord = directory.sendWithFollowUps(
            createCommand(by: user("alice", call: 3), live, LiveChanges(liveName: "cas ino")))
        #expect(results(createWithSplitWord).count == 1, "expected success, because a blank splits the word")
        let update = LiveChanges(notice: "casino!")
        #expect(
            codes(directory.send(.updateInfo(live: live, changes: update, caller: user("alice", call: 4))))
                == [.sensitiveWords])
        #expect(directory.liveRow?.info.notice == "")
        directory.expectInvariants()
    }

    /// Rules: R3.6.
    @Test func `I1 a create of another owner's live is rejected, after the creator's claim was released`() {
        var directory = DirectoryHarness.withLive()
        let bob = user("bob", call: 1)
        _ = directory.send(createCommand(by: bob))
        let open = DirectoryCommand.open(live: live, changes: LiveChanges(), owner: bob.user, caller: bob)
        let rejection = Reply(
            to: bob, app: app, .failure(error: ReplyError(.roomExists, "the live's id is in use")))
        let release = DirectoryCommand.release(owner: "bob", live: live, thenReply: rejection)
        #expect(directory.send(open) == [.directory(DirectoryInput(app: app, release), key: "demo/bob")])
        #expect(directory.send(release) == [.reply(rejection)])
        directory.expectInvariants()
        // Without the claim, bob can create a live with another id.
        #expect(results(directory.sendWithFollowUps(createCommand(by: user("bob", call: 2), "bobs"))).count == 1)
        directory.expectInvariants()
    }

    @Test func `a user can create a live only for itself, the app's server for any user`() {
        var directory = DirectoryHarness()
        #expect(
            codes(directory.sendWithFollowUps(createCommand(by: user("bob", call: 1), owner: alice))) == [.noPermission]
        )
        #expect(results(directory.sendWithFollowUps(createCommand(by: server(call: 1), owner: alice))).count == 1)
        #expect(directory.liveRow?.info.liveOwner == alice)
        directory.expectInvariants()
    }

    /// Rules: R3.9.
    @Test func `a create within a second after the last create of the same id is rejected`() {
        var directory = DirectoryHarness.withLive()
        #expect(results(directory.sendWithFollowUps(.end(live: live, caller: user("alice", call: 2)))).count == 1)
        #expect(codes(directory.sendWithFollowUps(createCommand(by: user("bob", call: 1)))) == [.createdTooOften])
        // A second after alice's create, the id may be created again.
        _ = directory.advance(.seconds(1))
        let effects = directory.sendWithFollowUps(createCommand(by: user("bob", call: 2)))
        #expect(results(effects).count == 1)
        #expect(directory.liveRow?.info.liveOwner.userID == "bob")
        #expect((directory.liveRow?.epoch ?? 0) > 2, "expected a higher epoch than 2, that of the ended live")
        directory.expectInvariants()
    }

    /// Each argument is a value just beyond its limit.
    ///
    /// - A name has at most 100 bytes as JSON, where a backslash has two (51 * 2 = 102), and no control characters.
    /// - A notice has at most 100 bytes ("ö" has two, 51 * 2 = 102), and at most 200 as JSON, where most control
    ///   characters have six (34 * 6 = 204).
    /// - A URL has at most 200 bytes and no control characters.
    /// - A live has at most 3 categories and 50 seats, and 1,000,000 members by the default policy of an app.
    /// - Templates have the numbers 1 to 999.
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
        let effects = directory.sendWithFollowUps(createCommand(by: user("alice", call: 1), live, changes))
        #expect(codes(effects) == [code])
        #expect(effects.count == 1, "expected the rejection alone")
        #expect(
            directory.rows.sortedKeys == [.ownerCalls(UserKey(app, "alice"), "s-alice")],
            "expected that only the outcome of the call is stored")
        #expect(
            codes(directory.sendWithFollowUps(createCommand(by: user("alice", call: 2), "a b"))) == [.badRoomID],
            "expected a rejection, because the live's id has a blank")
    }

    /// Rules: R1.6.
    @Test func `a live's id is 1 to 48 printable ASCII characters without blank and slash`() {
        /// The code with which a create of this id is rejected, in a new directory; empty if the create succeeds.
        func rejectionCodes(_ id: String) -> [ReplyCode] {
            var directory = DirectoryHarness()
            return codes(directory.sendWithFollowUps(createCommand(by: user("alice", call: 1), LiveID(id))))
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
        // Template 601 is a video template with 7 seats; 50 and 70 are voice templates.
        let video = DirectoryHarness.withLive(LiveChanges(keepOwnerOnSeat: false, maxSeatCount: 3, seatTemplate: 601))
        #expect(video.liveRow?.info.maxSeatCount == 7)
        #expect(video.liveRow?.info.keepOwnerOnSeat == true)
        let voice = DirectoryHarness.withLive(LiveChanges(keepOwnerOnSeat: false, maxSeatCount: 3, seatTemplate: 70))
        #expect(voice.liveRow?.info.maxSeatCount == 3)
        #expect(voice.liveRow?.info.keepOwnerOnSeat == false)
        let withoutSeats = DirectoryHarness.withLive(LiveChanges(maxSeatCount: 0, seatTemplate: 50))
        #expect(withoutSeats.liveRow?.info.maxSeatCount == 0)
    }

    /// Rules: R3.41.
    @Test(arguments: [(51, 600), (199, 600), (200, 200), (650, 600), (999, 600)])
    func `a create with an unknown template gets template 600, and the known template 200 stays`(
        template: Int, expected: Int
    ) {
        let directory = DirectoryHarness.withLive(LiveChanges(seatTemplate: template))
        #expect(directory.liveRow?.info.seatTemplate == expected)
        #expect(
            directory.liveRow?.info.isVoice == false,
            "expected a video live, even for 51 and 199, which are numbers of voice templates")
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
}
