// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// The cases of the golden files of feed items, webhook events, notices and replies: each with its name in the file.
extension GoldenRecordTests {
    static let stageEvents: [StageEvent] = [
        .seatTaken(index: 2, user: Samples.bob), .seatLeft(index: 2, user: Samples.bob),
        .userMoved(user: Samples.bob, from: 2, to: 3), .seatLocked(index: 1), .seatUnlocked(index: 1),
        .coHostJoined(member: Samples.otherMember), .coHostLeft(member: Samples.otherMember),
        .coHostMuted(live: Samples.otherLive, isMuted: true), .battleStarted(battle: "b-6"),
        .battleUserJoined(battle: "b-6", live: Samples.otherLive),
        .battleUserExited(battle: "b-6", live: Samples.otherLive),
        .battleScored(battle: "b-6"), .battleEnded(battle: "b-6", reason: .timeOver),
    ]

    /// Some texts and keys look like an item's number, `"n":5`, which must not mislead a decoder.
    static let feedContents: [(String, FeedContent)] = [
        ("text", .text(sender: Samples.bob, text: "\"n\":5} \\ / 🎉\u{7}", extensionInfo: ["n": "5", "k": "v"])),
        ("plainText", .text(sender: Samples.alice, text: "hello", extensionInfo: nil)),
        ("custom", .custom(sender: Samples.alice, businessID: "gift", data: "{\"n\":5}")),
        ("audienceJoined", .audienceJoined(user: Samples.bob)), ("audienceLeft", .audienceLeft(user: Samples.bob)),
        ("infoChanged", .infoChanged(info: Samples.info)),
        ("metadataChanged", .metadataChanged(set: ["n": "5"], removed: ["old"])), ("adminSet", .adminSet(user: "bob")),
        ("adminRevoked", .adminRevoked(user: "bob")),
        ("stage", .stage(record: Samples.stage, events: Self.stageEvents)),
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
        // Earlier versions wrote these four kinds without a revision, as in their cases above.
        ("infoChangedTo", .infoChanged(info: Samples.info, revision: 4)),
        ("metadataChangedTo", .metadataChanged(set: ["n": "5"], removed: ["old"], revision: 5)),
        ("adminSetAt", .adminSet(user: "bob", revision: 6)),
        ("adminRevokedAt", .adminRevoked(user: "bob", revision: 7)),
    ]

    static let webhookContents: [(String, WebhookContent)] = [
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

    static let noticeContents: [(String, NoticeContent)] = [
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
        // Earlier versions wrote these four kinds without the members of inviter and invitee, as in their cases above.
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

    static let callResults: [(String, CallResult)] = [
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
        // The names with `At` at the end: earlier versions wrote these kinds without their time or revision.
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

    /// Does not compile until each new kind is listed here; add a case with the new kind above, too.
    ///
    /// The function is never called.
    private func checkThatEveryKindIsListed(
        _ content: FeedContent, _ notice: NoticeContent, _ result: CallResult, _ event: StageEvent
    ) {
        switch content {
        case .text, .custom, .audienceJoined, .audienceLeft, .infoChanged, .metadataChanged, .adminSet, .adminRevoked,
            .stage, .gift, .messageDisabled, .userChanged, .likes, .speaking, .summary, .tips, .liveEnded:
            break
        }
        switch notice {
        case .kickedOut, .signedInElsewhere, .applicationReceived, .applicationCancelled, .applicationProcessed,
            .applicationTimedOut, .invitationAnswered, .invitationNoResponse, .invitationReceived,
            .invitationCancelled, .invitationTimedOut, .applicationAnswered, .applicationNoResponse, .kickedOffSeat,
            .deviceClosedByAdmin, .deviceOpenedByAdmin, .coHostRequestReceived, .coHostRequestCancelled,
            .coHostRequestAccepted, .coHostRequestRejected, .coHostRequestTimedOut, .battleRequestReceived,
            .battleRequestCancelled, .battleRequestAccepted, .battleRequestRejected, .battleRequestTimedOut,
            .battleNotStarted:
            break
        }
        switch result {
        case .done, .live, .joined, .audience, .sent, .statistics, .sanctions, .coHost, .battle, .battleInfo, .seat,
            .seatRequests, .coHostRequests, .battleRequests, .scores, .loggedIn, .pong, .resumed, .lives, .room,
            .count, .stage, .metadata, .app, .gifts:
            break
        }
        switch event {
        case .seatTaken, .seatLeft, .userMoved, .seatLocked, .seatUnlocked, .coHostJoined, .coHostLeft, .coHostMuted,
            .battleStarted, .battleUserJoined, .battleUserExited, .battleScored, .battleEnded:
            break
        }
    }
}
