// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import Testing

/// The JSON of the inputs in the machines' inboxes (the topics that they consume) is the one in the golden files.
///
/// Most cases have the name of their command on the wire, such as `tell` for `publish`. A duration of -1 means
/// permanently, and a seat index of -1 means any free seat. `silentFor` is in milliseconds.
@Suite struct GoldenInputTests {
    private static let caller = Samples.caller

    @Test func `the directory's inputs match the golden file`() throws {
        let reply = Reply(to: Samples.caller, app: Samples.app, .failure(error: Samples.error))
        let changes = LiveChanges(liveName: "Concert")
        var commands: [(String, DirectoryCommand)] = [
            (
                "create",
                .create(live: Samples.live, changes: Samples.everyChange, owner: Samples.alice, caller: Samples.server)
            ), ("open", .open(live: Samples.live, changes: changes, owner: Samples.alice, caller: Self.caller)),
            ("enter", .enter(live: Samples.live, owner: "alice", caller: Self.caller)),
            ("repeatOpen", .repeatOpen(live: Samples.live, caller: Self.caller)),
            ("release", .release(owner: "alice", live: Samples.live, thenReply: nil)),
            ("releaseAndReply", .release(owner: "alice", live: Samples.live, thenReply: reply)),
            ("updateInfo", .updateInfo(live: Samples.live, changes: changes, caller: Self.caller)),
            ("setMetadata", .setMetadata(live: Samples.live, values: ["lang": "en"], caller: Self.caller)),
            ("deleteMetadata", .deleteMetadata(live: Samples.live, keys: ["lang"], caller: Self.caller)),
            ("setAdmin", .setAdmin(live: Samples.live, user: "bob", caller: Self.caller)),
            ("setAdminVouched", .adminMembershipVerified(live: Samples.live, user: "bob", caller: Self.caller)),
            ("revokeAdmin", .revokeAdmin(live: Samples.live, user: "bob", caller: Self.caller)),
            ("kick", .kick(live: Samples.live, user: "bob", caller: Self.caller)),
            (
                "ban",
                .ban(
                    live: Samples.live, users: ["bob", "carl"], durationSeconds: 600, reason: "spam",
                    caller: Self.caller)
            ), ("unban", .unban(live: Samples.live, users: ["bob"], caller: Self.caller)),
            ("bans", .bans(live: Samples.live, offset: 0, count: 100, caller: Self.caller)),
            ("mute", .mute(live: Samples.live, users: ["bob"], durationSeconds: -1, caller: Self.caller)),
            ("mutes", .mutes(live: Samples.live, offset: 100, count: 10, caller: Self.caller)),
            ("profile", .profile(live: Samples.live, user: Samples.alice)),
            ("end", .end(live: Samples.live, caller: Self.caller)), ("closed", .closed(live: Samples.live, epoch: 77)),
            ("occupancy", .occupancy(live: Samples.live, owner: .offline, isEmpty: true)),
            ("floor", .floor(live: Samples.live, user: "bob", ticket: Samples.ticket)),
        ]
        commands += Self.appChanges.map { ($0, .appSettings(change: $1, caller: Samples.server)) }
        for (_, command) in commands {
            switch command {
            case .create, .open, .enter, .repeatOpen, .release, .updateInfo, .setMetadata, .deleteMetadata, .setAdmin,
                .adminMembershipVerified, .revokeAdmin, .kick, .ban, .unban, .bans, .mute, .mutes, .end, .closed,
                .occupancy, .profile, .floor, .appSettings:
                break  // A new command does not compile until it is listed here; add a case with it to `commands`, too.
            }
        }
        try GoldenFile(name: "directory-inbox").expectWireFormat(
            of: commands.map { ($0, DirectoryInput(app: Samples.app, $1)) }, mapFields: ["values", "translations"])
    }

    private static let appChanges: [(String, AppSettingsChange)] = [
        ("setWords", .setWords(words: ["bad", "worse"])), ("addWords", .addWords(words: ["bad"])),
        ("removeWords", .removeWords(words: ["bad"])), ("setGifts", .setGifts(categories: [Samples.giftCategory])),
        ("putCategory", .putCategory(category: GiftCategory(categoryID: "new", name: "New"))),
        ("removeCategory", .removeCategory(category: "new")),
        ("putGift", .putGift(gift: Samples.rocket, category: "new")), ("removeGift", .removeGift(gift: "rose")),
    ]

    /// Does not compile until each new change is listed here; add a case with it to `appChanges`, too.
    ///
    /// The function is never called.
    private func checkThatEveryAppChangeIsListed(_ change: AppSettingsChange) {
        switch change {
        case .setWords, .addWords, .removeWords, .setGifts, .putCategory, .removeCategory, .putGift, .removeGift: break
        }
    }

    @Test func `the inputs of presence match the golden file`() throws {
        let member = MemberSession(session: "s-1", user: Samples.bob, ticket: Samples.ticket, silentFor: 1200)
        let commands: [(String, AudienceCommand)] = [
            ("opened", .opened(epoch: 77, owner: Samples.alice)), ("ended", .ended(epoch: 77, ending: Samples.ending)),
            ("join", .join(caller: Self.caller)), ("leave", .leave(caller: Self.caller)),
            (
                "heartbeats",
                .heartbeats(beats: [
                    Heartbeat(session: "s-1", user: "alice", ticket: Samples.ticket, silentFor: 0),
                    Heartbeat(session: "s-2", user: "bob", ticket: Ticket(9), silentFor: 8000),
                ])
            ), ("assert", .assert(members: [member])),
            ("kick", .kick(user: "bob", reason: .byAdmin, caller: Self.caller)),
            ("list", .list(cursor: "421", count: 200, caller: Self.caller)),
            ("vouchAdmin", .verifyAdminMembership(user: "bob", caller: Self.caller)),
            ("confirm", .confirm(user: "bob")),
            ("banned", .banned(user: "bob", until: Samples.at, caller: Self.caller)),
            ("bannedForGood", .banned(user: "bob", until: nil, caller: nil)), ("unbanned", .unbanned(user: "bob")),
            ("announceMute", .announceMute(user: "bob", isDisable: true, until: Samples.later)),
            ("announceEnd", .announceMute(user: "bob", isDisable: false, until: nil)),
            ("rights", .rights(admins: ["alice", "bob"], maxMembers: 20)), ("profile", .profile(caller: Self.caller)),
            ("signOff", .signOff(session: "s-1", user: "bob", ticket: Samples.ticket)),
            (
                "vouchGuest",
                .verifyGuestMembership(
                    user: "bob", offer: .invitation(seatIndex: 3, timeoutSeconds: 30, extraInfo: "x"),
                    caller: Self.caller)
            ),
        ]
        for (_, command) in commands {
            switch command {
            case .opened, .ended, .join, .leave, .heartbeats, .assert, .kick, .list, .verifyAdminMembership,
                .verifyGuestMembership, .confirm, .banned, .unbanned, .announceMute, .rights, .profile, .signOff:
                break  // A new command does not compile until it is listed here; add a case with it to `commands`, too.
            }
        }
        try GoldenFile(name: "audience-inbox").expectWireFormat(
            of: commands.map { ($0, AudienceInput(Samples.key, $1)) })
    }

    @Test func `the fan-out's inputs match the golden file`() throws {
        let commands: [(String, BarrageCommand)] = [
            ("opened", .opened(epoch: 77, owner: "alice")), ("ended", .ended(ending: Samples.ending)),
            ("sendText", .sendText(text: "hello \"all\"", extensionInfo: ["k": "v"], caller: Self.caller)),
            ("sendPlainText", .sendText(text: "hello", extensionInfo: nil, caller: Self.caller)),
            ("sendCustom", .sendCustom(businessID: "gift", data: "{\"n\":5}", caller: Self.caller)),
            ("tell", .publish(content: .audienceJoined(user: Samples.bob))),
            ("rights", .rights(isMessageDisable: true, admins: ["alice", "bob"], isGiftEnabled: false)),
            ("muted", .muted(user: "bob", until: Samples.later)), ("mutedForGood", .muted(user: "bob", until: nil)),
            ("unmuted", .unmuted(user: "bob")),
            ("sendGift", .sendGift(giftID: "rose", count: 3, receivers: ["alice"], caller: Self.caller)),
            ("sendLikes", .sendLikes(count: 7, caller: Self.caller)),
            ("refused", .refused(why: .giftsOff, caller: Self.caller)),
            ("forbidden", .forbidden(error: Samples.error, isGift: true, caller: Self.caller)),
            ("speaking", .speaking(level: 60, caller: Self.caller)), ("summary", .summary(caller: Self.caller)),
            ("repeatEnding", .repeatEnding(caller: Self.caller)),
            ("floor", .floor(user: "bob", ticket: Samples.ticket)),
        ]
        for (_, command) in commands {
            switch command {
            case .opened, .ended, .sendText, .sendCustom, .sendGift, .sendLikes, .refused, .forbidden, .speaking,
                .summary, .repeatEnding, .publish, .rights, .muted, .unmuted, .floor:
                break  // A new command does not compile until it is listed here; add a case with it to `commands`, too.
            }
        }
        try GoldenFile(name: "barrage-inbox").expectWireFormat(
            of: commands.map { ($0, BarrageInput(Samples.key, $1)) }, mapFields: ["extensionInfo"])
    }

    @Test func `the seat machine's inputs match the golden file`() throws {
        let caller = Self.caller
        let commands: [(String, SeatCommand)] = [
            ("opened", .opened(epoch: 77, info: Samples.info)), ("infoChanged", .infoChanged(info: Samples.info)),
            ("ended", .ended(ending: Samples.ending)),
            ("apply", .apply(seatIndex: -1, timeoutSeconds: 10, extraInfo: "please", caller: caller)),
            ("cancelApplication", .cancelApplication(caller: caller)),
            ("acceptApplication", .acceptApplication(user: "bob", caller: caller)),
            ("rejectApplication", .rejectApplication(user: "bob", caller: caller)),
            ("invite", .invite(user: "bob", seatIndex: 3, timeoutSeconds: 30, extraInfo: "", caller: caller)),
            ("cancelInvitation", .cancelInvitation(user: "bob", caller: caller)),
            ("acceptInvitation", .acceptInvitation(inviter: "alice", caller: caller)),
            ("rejectInvitation", .rejectInvitation(inviter: "alice", caller: caller)),
            ("take", .take(seatIndex: 3, caller: caller)), ("leave", .leave(caller: caller)),
            ("kickOff", .kickOff(user: "bob", caller: caller)),
            ("moveAbort", .move(user: "bob", to: 4, policy: .abortWhenOccupied, caller: caller)),
            ("moveForce", .move(user: "bob", to: 4, policy: .forceReplace, caller: caller)),
            ("moveSwap", .move(user: "bob", to: 4, policy: .swapPosition, caller: caller)),
            ("lock", .lock(seatIndex: 1, isLocked: true, microphone: nil, camera: nil, caller: caller)),
            ("lockDevices", .lock(seatIndex: 1, isLocked: nil, microphone: true, camera: false, caller: caller)),
            ("device", .device(microphone: true, camera: false, suspend: .inCalling, caller: caller)),
            ("noDevice", .device(microphone: nil, camera: nil, suspend: nil, caller: caller)),
            ("lockDevice", .lockDevice(user: "bob", device: .microphone, isLocked: true, caller: caller)),
            ("place", .place(user: "bob", seatIndex: 2, caller: Samples.server)),
            ("requests", .requests(caller: caller)),
            (
                "vouchedInvitation",
                .guestMembershipVerified(
                    user: Samples.bob, offer: .invitation(seatIndex: -1, timeoutSeconds: 30, extraInfo: ""),
                    caller: caller)
            ),
            (
                "vouchedPlacement",
                .guestMembershipVerified(user: Samples.bob, offer: .placement(seatIndex: 2), caller: Samples.server)
            ), ("userGone", .userGone(user: "bob")), ("userBack", .userBack(user: Samples.bob)),
            ("profile", .profile(user: Samples.bob)),
            ("confirmOccupants", .confirmOccupants), ("floor", .floor(user: "bob", ticket: Samples.ticket)),
            (
                "connection",
                .connection(
                    view: Samples.connection, battle: Samples.battle, revision: 6,
                    events: [.coHostJoined(member: Samples.otherMember)])
            ), ("noConnection", .connection(view: nil, battle: nil, revision: 7, events: [])),
            (
                "otherBattles",
                .connection(view: nil, battle: nil, revision: 8, events: [], otherBattles: [Samples.battle])
            ),
        ]
        for (_, command) in commands {
            switch command {
            case .opened, .infoChanged, .ended, .apply, .cancelApplication, .acceptApplication, .rejectApplication,
                .invite, .cancelInvitation, .acceptInvitation, .rejectInvitation, .take, .leave, .kickOff, .move, .lock,
                .device, .lockDevice, .place, .requests, .guestMembershipVerified, .userGone, .userBack, .profile,
                .confirmOccupants, .floor, .connection:
                break  // A new command does not compile until it is listed here; add a case with it to `commands`, too.
            }
        }
        try GoldenFile(name: "seat-inbox").expectWireFormat(
            of: commands.map { ($0, SeatInput(Samples.key, $1)) }, mapFields: ["metaData"])
    }

    @Test func `the connection machine's inputs match the golden file`() throws {
        let caller = Self.caller
        let (live, other) = (Samples.live, Samples.otherLive)
        let commands: [(String, ConnectionCommand)] = [
            ("opened", .opened(live: live, owner: Samples.alice, isVoice: false)),
            ("ended", .ended(live: live, ending: Samples.ending)),
            ("userGone", .userGone(live: live, user: "alice")), ("confirmOwner", .confirmOwner(live: live)),
            ("userBack", .userBack(live: live, user: Samples.alice)),
            ("profile", .profile(live: live, user: Samples.alice)),
            ("floor", .floor(live: live, user: "bob", ticket: Samples.ticket)),
            ("rights", .rights(live: live, admins: ["bob"])),
            ("seatsChanged", .seatsChanged(live: live, seats: Samples.stage.seats)),
            (
                "request",
                .request(
                    from: live, to: [other], layoutTemplate: 601, timeoutSeconds: 10, extensionInfo: "x",
                    caller: caller)
            ), ("cancelRequest", .cancelRequest(from: live, to: [other], caller: caller)),
            ("accept", .accept(live: other, inviter: live, caller: caller)),
            ("reject", .reject(live: other, inviter: live, caller: caller)),
            ("exit", .exit(live: live, caller: caller)),
            ("muteRemote", .muteRemote(live: live, other: other, isMuted: true, caller: caller)),
            (
                "requestBattle",
                .requestBattle(
                    from: live, to: [other], durationSeconds: 120, needResponse: true, timeoutSeconds: 10,
                    extensionInfo: "", caller: caller)
            ), ("cancelBattle", .cancelBattle(battle: "b-6", live: live, to: [other], caller: caller)),
            ("acceptBattle", .acceptBattle(battle: "b-6", live: other, caller: caller)),
            ("rejectBattle", .rejectBattle(battle: "b-6", live: other, caller: caller)),
            ("exitBattle", .exitBattle(battle: "b-6", live: live, caller: caller)),
            (
                "addScores",
                .updateScores(
                    battle: "b-6", operation: .accumulate,
                    scores: [ScoreUpdate(live: live, score: 5), ScoreUpdate(live: other, score: -1)],
                    caller: Samples.server)
            ),
            (
                "overwriteScores",
                .updateScores(
                    battle: "b-6", operation: .overwrite, scores: [ScoreUpdate(live: live, score: 50)],
                    caller: Samples.server)
            ), ("battleByID", .battleInfo(battle: "b-6", live: nil, caller: Samples.server)),
            ("battleByLive", .battleInfo(battle: nil, live: live, caller: Samples.server)),
            ("openRequests", .openRequests(live: live, caller: caller)),
            ("openBattleRequests", .openBattleRequests(live: live, caller: caller)),
        ]
        for (_, command) in commands {
            switch command {
            case .opened, .ended, .userGone, .userBack, .profile, .confirmOwner, .floor, .rights, .seatsChanged,
                .request, .cancelRequest, .accept, .reject, .exit, .muteRemote, .requestBattle, .cancelBattle,
                .acceptBattle, .rejectBattle, .exitBattle, .updateScores, .battleInfo, .openRequests,
                .openBattleRequests:
                break  // A new command does not compile until it is listed here; add a case with it to `commands`, too.
            }
        }
        try GoldenFile(name: "connection-inbox").expectWireFormat(
            of: commands.map { ($0, ConnectionInput(app: Samples.app, $1)) })
    }
}
