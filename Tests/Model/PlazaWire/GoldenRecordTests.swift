// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import Testing

/// The JSON of public records, feed items, notices and replies is the one in the golden files.
@Suite struct GoldenRecordTests {
    /// Rules: R3.20.
    @Test func `records of rooms match the golden file`() throws {
        var ended = Samples.room
        ended.ended = .endedByHost
        var endedByServer = Samples.room
        endedByServer.ended = .endedByServer
        try GoldenFile(name: "rooms").expectWireFormat(
            of: [("running", Samples.room), ("ended", ended), ("endedByServer", endedByServer)],
            mapFields: ["metaData"])
    }

    /// Rules: R1.9.
    @Test func `records of stages match the golden file`() throws {
        var running = Samples.stage
        running.battle?.ended = nil
        var allLeft = Samples.stage
        allLeft.battle?.ended = .allMemberExit
        // A live that is connected with the sides of a battle, and takes no part in it.
        var watching = Samples.emptyStage
        watching.otherBattles = [Samples.battle]
        try GoldenFile(name: "stages").expectWireFormat(
            of: [
                ("empty", Samples.emptyStage), ("running", running), ("timeOver", Samples.stage), ("allLeft", allLeft),
                ("watching", watching),
            ])
    }

    @Test func `records of counts match the golden file`() throws {
        var fresh = Samples.count
        fresh.stale = false
        try GoldenFile(name: "audience-counts").expectWireFormat(of: [("fresh", fresh), ("stale", Samples.count)])
        try GoldenFile(name: "audience-epochs").expectWireFormat(
            of: [("epoch", PresenceEpochRecord(partition: 7, epoch: "1f-2"))])
    }

    /// Rules: R11.2.
    @Test func `records of apps match the golden file`() throws {
        try GoldenFile(name: "apps").expectWireFormat(
            of: [
                ("empty", AppRecord(app: Samples.app, revision: 1, settings: AppSettings())),
                ("full", AppRecord(app: Samples.app, revision: 5, settings: Samples.appSettings)),
            ], mapFields: ["translations"])
    }

    /// Rules: R14.6.
    @Test func `webhook events match the golden file`() throws {
        try GoldenFile(name: "webhooks").expectWireFormat(
            of: Self.hooks.map { ($0, WebhookEvent(Samples.key, at: Samples.at, $1)) },
            mapFields: ["metaData", "values"])
        #expect(Set(Self.hooks.map(\.1.name)) == Set(WebhookName.allCases))
    }

    /// Rules: R5.2.
    @Test func `feed items match the golden file, with the item's number n as the last member`() throws {
        let contents = Self.contents
        try GoldenFile(name: "room-feed").expectWireFormat(
            of: contents.map { name, content in (name, FeedEntry(n: 12, at: Samples.at, content: content)) },
            mapFields: ["metaData", "extensionInfo", "set"])
    }

    @Test func `notices match the golden file`() throws {
        let recipient = UserKey(Samples.app, "alice")
        try GoldenFile(name: "user-notices").expectWireFormat(
            of: Self.notices.map { name, content in
                // Only a notice of a kick has a floor: the lowest ticket that the user may still use.
                let floor: Ticket? = name.hasPrefix("kickedOut") ? Ticket(500) : nil
                return (name, Notice(to: recipient, live: Samples.live, at: Samples.at, floor: floor, content: content))
            })
    }

    @Test func `replies match the golden file`() throws {
        var cases = Self.results.map { name, result in
            (name, Reply(to: Samples.caller, app: Samples.app, .success(result: result)))
        }
        cases.append(("failure", Reply(to: Samples.caller, app: Samples.app, .failure(error: Samples.error))))
        for table in [RequiredRevision.Table.rooms, .stages, .apps] {
            let required = RequiredRevision(table, Samples.live, revision: 4)
            cases.append(
                (
                    "seen-\(table.rawValue)",
                    Reply(to: Samples.caller, app: Samples.app, .success(result: .done), required: required)
                ))
        }
        cases.append(
            ("refusal", Reply(to: Samples.caller, app: Samples.app, .failure(error: Samples.staleTicket))))
        try GoldenFile(name: "replies").expectWireFormat(of: cases, mapFields: ["metaData", "values", "translations"])
    }

    static let events: [StageEvent] = [
        .seatTaken(index: 2, user: Samples.bob), .seatLeft(index: 2, user: Samples.bob),
        .userMoved(user: Samples.bob, from: 2, to: 3), .seatLocked(index: 1), .seatUnlocked(index: 1),
        .coHostJoined(member: Samples.otherMember), .coHostLeft(member: Samples.otherMember),
        .coHostMuted(live: Samples.otherLive, isMuted: true), .battleStarted(battle: "b-6"),
        .battleUserJoined(battle: "b-6", live: Samples.otherLive),
        .battleUserExited(battle: "b-6", live: Samples.otherLive),
        .battleScored(battle: "b-6"), .battleEnded(battle: "b-6", reason: .timeOver),
    ]

    // Texts and keys that look like the item's number `"n":5` must not be taken for it.
    static let contents: [(String, FeedContent)] = [
        ("text", .text(sender: Samples.bob, text: "\"n\":5} \\ / 🎉\u{7}", extensionInfo: ["n": "5", "k": "v"])),
        ("plainText", .text(sender: Samples.alice, text: "hello", extensionInfo: nil)),
        ("custom", .custom(sender: Samples.alice, businessID: "gift", data: "{\"n\":5}")),
        ("audienceJoined", .audienceJoined(user: Samples.bob)), ("audienceLeft", .audienceLeft(user: Samples.bob)),
        ("infoChanged", .infoChanged(info: Samples.info)),
        ("metadataChanged", .metadataChanged(set: ["n": "5"], removed: ["old"])), ("adminSet", .adminSet(user: "bob")),
        ("adminRevoked", .adminRevoked(user: "bob")),
        ("stage", .stage(record: Samples.stage, events: Self.events)),
        (
            "gift",
            .gift(
                sender: Samples.bob, gift: Gift(giftID: "rose", name: "Rose", iconURL: "i", level: 2, coins: 5),
                count: 3, receivers: ["alice"])
        ), ("messageDisabled", .messageDisabled(user: Samples.bob, isDisable: true, until: Samples.later)),
        ("messageEnabled", .messageDisabled(user: Samples.bob, isDisable: false, until: nil)),
        ("userChanged", .userChanged(user: Samples.bob)),
        ("likes", .likes(total: 30, sender: Samples.bob, count: 7)),
        ("speaking", .speaking(users: [Speaker(user: "bob", level: 60)])),
        ("summary", .summary(statistics: Samples.statistics)), ("tips", .tips(isDegraded: true)),
        ("liveEnded", .liveEnded(reason: .endedByHost, statistics: Samples.statistics)),
        // Earlier versions wrote these kinds without a revision; the cases above show that form.
        ("infoChangedTo", .infoChanged(info: Samples.info, revision: 4)),
        ("metadataChangedTo", .metadataChanged(set: ["n": "5"], removed: ["old"], revision: 5)),
        ("adminSetAt", .adminSet(user: "bob", revision: 6)),
        ("adminRevokedAt", .adminRevoked(user: "bob", revision: 7)),
    ]

    static let hooks: [(String, WebhookContent)] = [
        ("roomCreated", .roomCreated(info: Samples.info, by: "alice")),
        (
            "roomEnded",
            .roomEnded(
                info: Samples.info, reason: .endedByServer, statistics: Samples.statistics)
        ), ("roomEndedBare", .roomEnded(info: nil, reason: .endedByHost, statistics: LiveStatistics())),
        ("roomUpdated", .roomUpdated(info: Samples.info, by: "alice")),
        ("metadataSet", .metadataSet(values: ["n": "5"], by: "alice")),
        ("metadataDeleted", .metadataDeleted(keys: ["n", "old"], by: "alice")),
        ("adminChanged", .adminChanged(user: "bob", isAdmin: true, admins: ["bob"], by: "alice")),
        ("enter", .memberState(isOnline: true, cause: .enter, users: [Samples.bob])),
        ("leave", .memberState(isOnline: false, cause: .leave, users: [Samples.bob])),
        ("interrupt", .memberState(isOnline: false, cause: .heartbeatInterrupt, users: [Samples.bob])),
        ("recover", .memberState(isOnline: true, cause: .heartbeatRecover, users: [Samples.alice, Samples.bob])),
        ("seatsChanged", .seatsChanged(seats: Samples.stage.seats)),
        (
            "battleCreated",
            .battleCreated(
                battle: "b-6", from: Samples.battle.sides[0], to: [Samples.battle.sides[1]],
                durationMilliseconds: 60_000, timeoutMilliseconds: 10_000, needResponse: true, extensionInfo: "x")
        ),
        (
            "battleStarted",
            .battleStarted(
                battle: "b-6", from: Samples.battle.sides[0], to: [Samples.battle.sides[1]], createdAt: Samples.at,
                startTime: Samples.at, endTime: Samples.later)
        ),
        (
            "battleEnded",
            .battleEnded(
                battle: "b-6", from: Samples.battle.sides[0], to: [Samples.battle.sides[1]], createdAt: Samples.at,
                startTime: Samples.at, endTime: Samples.later, kind: .timeOver)
        ),
        (
            "battleNeverStarted",
            .battleEnded(
                battle: "b-6", from: Samples.battle.sides[0], to: [], createdAt: Samples.at, startTime: nil,
                endTime: Samples.later, kind: .neverStarted)
        ),
    ]

    static let notices: [(String, NoticeContent)] = [
        ("kickedOut", .kickedOut(reason: .byAdmin, by: "bob")),
        ("kickedOutByServer", .kickedOut(reason: .byServer, by: "backend")),
        ("kickedOutByOtherDevice", .kickedOut(reason: .byLoggedOnOtherDevice, by: "alice")),
        (
            "signedInElsewhere",
            .signedInElsewhere(session: "s-1", connection: "3w5e11264sgsf", attempt: 1, isOnly: true)
        ),
        (
            "applicationReceived",
            .applicationReceived(guest: Samples.bob, seatIndex: -1, expiresAt: Samples.later, extraInfo: "please")
        ), ("applicationCancelled", .applicationCancelled(guest: Samples.bob)),
        ("applicationProcessed", .applicationProcessed(guest: Samples.bob, by: Samples.alice, accepted: true)),
        ("applicationTimedOut", .applicationTimedOut(guest: Samples.bob)),
        ("invitationAnswered", .invitationAnswered(guest: Samples.bob, accepted: false)),
        ("invitationNoResponse", .invitationNoResponse(guest: Samples.bob, reason: .timeout)),
        (
            "invitationReceived",
            .invitationReceived(host: Samples.alice, seatIndex: 3, expiresAt: Samples.later, extraInfo: "")
        ), ("invitationCancelled", .invitationCancelled(host: Samples.alice)),
        ("invitationTimedOut", .invitationTimedOut(host: Samples.alice)),
        ("applicationAnswered", .applicationAnswered(host: Samples.alice, accepted: true)),
        ("applicationNoResponse", .applicationNoResponse(reason: .alreadySeated)),
        ("kickedOffSeat", .kickedOffSeat(seatIndex: 3, by: Samples.alice)),
        ("microphoneClosed", .deviceClosedByAdmin(device: .microphone, by: Samples.alice)),
        ("cameraOpened", .deviceOpenedByAdmin(device: .camera, policy: .unlockOnly, by: Samples.alice)),
        (
            "coHostRequestReceived",
            .coHostRequestReceived(inviter: Samples.member, expiresAt: Samples.later, extensionInfo: "x")
        ), ("coHostRequestCancelled", .coHostRequestCancelled(inviter: Samples.member, invitee: Samples.otherLive)),
        ("coHostRequestAccepted", .coHostRequestAccepted(invitee: Samples.otherMember)),
        ("coHostRequestRejected", .coHostRequestRejected(invitee: Samples.otherMember)),
        ("coHostRequestTimedOut", .coHostRequestTimedOut(inviter: Samples.live, invitee: Samples.otherLive)),
        (
            "battleRequestReceived",
            .battleRequestReceived(
                battle: "b-6", inviter: Samples.member, expiresAt: Samples.later, durationSeconds: 120,
                extensionInfo: "")
        ),
        (
            "battleRequestCancelled",
            .battleRequestCancelled(battle: "b-6", inviter: Samples.live, invitee: Samples.otherLive)
        ), ("battleRequestAccepted", .battleRequestAccepted(battle: "b-6", invitee: Samples.otherMember)),
        ("battleRequestRejected", .battleRequestRejected(battle: "b-6", invitee: Samples.otherMember)),
        (
            "battleRequestTimedOut",
            .battleRequestTimedOut(battle: "b-6", inviter: Samples.live, invitee: Samples.otherLive)
        ), ("battleNotStarted", .battleNotStarted(battle: "b-6")),
        // Earlier versions wrote these kinds without the members at the end; the cases above show that form.
        (
            "coHostRequestCancelledTo",
            .coHostRequestCancelled(
                inviter: Samples.member, invitee: Samples.otherLive, inviteeMember: Samples.otherMember)
        ),
        (
            "coHostRequestTimedOutBetween",
            .coHostRequestTimedOut(
                inviter: Samples.live, invitee: Samples.otherLive, inviterMember: Samples.member,
                inviteeMember: Samples.otherMember)
        ),
        (
            "battleRequestCancelledBetween",
            .battleRequestCancelled(
                battle: "b-6", inviter: Samples.live, invitee: Samples.otherLive, inviterMember: Samples.member,
                inviteeMember: Samples.otherMember)
        ),
        (
            "battleRequestTimedOutBetween",
            .battleRequestTimedOut(
                battle: "b-6", inviter: Samples.live, invitee: Samples.otherLive, inviterMember: Samples.member,
                inviteeMember: Samples.otherMember)
        ),
    ]

    static let results: [(String, CallResult)] = [
        ("done", .done), ("live", .live(info: Samples.info, epoch: 77)),
        ("joined", .joined(ticket: Samples.ticket, epoch: 77, confirmed: true)),
        (
            "audience",
            .audience(
                page: AudiencePage(
                    members: [AudienceMember(user: Samples.bob, joinedAt: Samples.at)], cursor: "421", count: 3))
        ), ("sent", .sent(position: Samples.position)),
        (
            "sanctions",
            .sanctions(
                page: SanctionPage(
                    items: [
                        Sanction(user: "bob", until: Samples.later, reason: "spam", by: "alice"),
                        Sanction(user: "carl", until: nil, by: "alice"),
                    ], nextOffset: 100))
        ),
        ("statistics", .statistics(statistics: Samples.statistics)),
        (
            "coHost",
            .coHost(codes: [
                LiveCode(live: Samples.otherLive, code: 0), LiveCode(live: "gone", code: 1, reason: .noSuchRoom),
            ])
        ),
        (
            "battleWaiting",
            .battle(battle: "b-6", startTime: nil, endTime: nil, codes: [LiveCode(live: Samples.otherLive, code: 0)])
        ),
        ("battle", .battle(battle: "b-6", startTime: Samples.at, endTime: Samples.later, codes: [])),
        ("seat", .seat(index: 3)), ("noSeat", .seat(index: nil)),
        (
            "battleAsking",
            .battleInfo(
                details: BattleDetails(
                    id: "b-6", inviter: Samples.live, createTime: Samples.at, durationSeconds: 10, needResponse: true,
                    extensionInfo: "", expiresAt: Samples.later,
                    invitees: [BattleDetails.Invitee(live: Samples.otherLive, hasAccepted: false)]))
        ),
        (
            "battleOver",
            .battleInfo(
                details: BattleDetails(
                    id: "b-6", inviter: Samples.live, createTime: Samples.at, durationSeconds: 10, needResponse: true,
                    extensionInfo: "", battle: Samples.battle))
        ),
        (
            "seatRequests",
            .seatRequests(
                applications: [OpenApplication(guest: Samples.bob, seatIndex: -1, expiresAt: Samples.later)],
                invitations: [
                    OpenInvitation(guest: Samples.bob, host: Samples.alice, seatIndex: 3, expiresAt: Samples.later)
                ])
        ),
        ("scores", .scores(codes: [LiveCode(live: Samples.live, code: 0)])),
        // The id of a notice is its partition and its offset.
        ("loggedIn", .loggedIn(session: "phone", user: Samples.alice, gateway: "gateway-1", notices: "3-17")),
        ("resumed", .resumed(ticket: Samples.ticket, position: Samples.position, replayed: true)),
        (
            "lives",
            .lives(
                items: [LiveListEntry(info: Samples.info, audienceCount: 3, totalViewerCount: 8)], cursor: "g.1.1")
        ),
        (
            "room",
            .room(
                details: LiveDetails(
                    info: Samples.info, epoch: 77, audience: LiveCount(Samples.count), stage: Samples.stage))
        ), ("count", .count(count: LiveCount(Samples.count))), ("stage", .stage(record: Samples.emptyStage)),
        ("noStage", .stage(record: nil)), ("metadata", .metadata(values: ["lang": "en"])),
        ("app", .app(settings: Samples.appSettings, revision: 5)),
        ("gifts", .gifts(categories: [Samples.giftCategory])),
        (
            "loggedInAt",
            .loggedIn(
                session: "phone", user: Samples.alice, gateway: "gateway-1", notices: "3-17", at: Samples.later)
        ), ("pong", .pong(at: Samples.later)), ("liveAt", .live(info: Samples.info, epoch: 77, revision: 4)),
        (
            "roomAt",
            .room(
                details: LiveDetails(
                    info: Samples.info, epoch: 77, revision: 4, audience: LiveCount(Samples.count), stage: nil))
        ), ("audienceAt", .audience(page: AudiencePage(members: [], cursor: "", count: 0, at: Samples.later))),
        (
            "sanctionsAt",
            .sanctions(
                page: SanctionPage(
                    items: [], nextOffset: 0, at: Samples.later,
                    own: Sanction(user: "bob", until: nil, by: "alice", userInfo: Samples.bob)))
        ),
        ("statisticsAt", .statistics(statistics: Samples.statistics, at: Samples.later)),
        ("seatRequestsAt", .seatRequests(applications: [], invitations: [], at: Samples.later)),
        (
            "coHostRequests",
            .coHostRequests(
                sent: [
                    OpenCoHostRequest(
                        inviter: Samples.member, invitee: Samples.otherMember, expiresAt: Samples.later,
                        extensionInfo: "x")
                ], received: [], at: Samples.at)
        ),
        (
            "battleRequests",
            .battleRequests(
                sent: [],
                received: [
                    OpenBattleRequest(
                        battle: "b-6", inviter: Samples.otherMember, invitee: Samples.member, hasAccepted: true,
                        expiresAt: Samples.later, durationSeconds: 120, extensionInfo: "")
                ], at: Samples.at)
        ),
    ]

    /// Is never called; its switches are exhaustive, so that a new kind does not compile until it is added here.
    ///
    /// Add the new kind to the samples above, too.
    private func everyKindIsAbove(
        _ content: FeedContent, _ notice: NoticeContent, _ result: CallResult, _ event: StageEvent
    ) {
        switch content {
        case .text, .custom, .audienceJoined, .audienceLeft, .infoChanged, .metadataChanged, .adminSet, .adminRevoked,
            .stage, .gift, .messageDisabled, .userChanged, .likes, .speaking, .summary, .tips, .liveEnded:
            break
        }
        switch notice {
        case .kickedOut, .signedInElsewhere, .applicationReceived, .applicationCancelled, .applicationProcessed,
            .applicationTimedOut,
            .invitationAnswered, .invitationNoResponse, .invitationReceived, .invitationCancelled, .invitationTimedOut,
            .applicationAnswered, .applicationNoResponse, .kickedOffSeat, .deviceClosedByAdmin, .deviceOpenedByAdmin,
            .coHostRequestReceived,
            .coHostRequestCancelled, .coHostRequestAccepted, .coHostRequestRejected, .coHostRequestTimedOut,
            .battleRequestReceived, .battleRequestCancelled, .battleRequestAccepted, .battleRequestRejected,
            .battleRequestTimedOut, .battleNotStarted:
            break
        }
        switch result {
        case .done, .live, .joined, .audience, .sent, .statistics, .sanctions, .coHost, .battle, .battleInfo, .seat,
            .seatRequests, .coHostRequests, .battleRequests, .scores,
            .loggedIn, .pong, .resumed, .lives, .room, .count, .stage, .metadata, .app, .gifts:
            break
        }
        switch event {
        case .seatTaken, .seatLeft, .userMoved, .seatLocked, .seatUnlocked, .coHostJoined, .coHostLeft, .coHostMuted,
            .battleStarted, .battleUserJoined, .battleUserExited, .battleScored, .battleEnded:
            break
        }
    }
}
