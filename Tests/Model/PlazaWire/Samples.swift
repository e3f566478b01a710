// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Values for the golden files, in which every optional field is set at least once.
///
/// Alice runs the live `concert`, and Bob the live `duet`; Bob also sits on seat 2 of `concert`. The two lives are
/// connected, and their battle is over.
enum Samples {
    static let app = AppID("demo")
    static let live = LiveID("concert")
    /// The live that is connected with `live`.
    static let otherLive = LiveID("duet")
    static let key = LiveKey(Samples.app, Samples.live)
    static let alice = UserInfo(userID: "alice", userName: "Alice", avatarURL: "https://example.org/a.png")
    static let bob = UserInfo(userID: "bob", userName: "Bob \"the\" Ü 🎸\n")
    /// The time of most samples.
    static let at = Timestamp(milliseconds: 1_700_000_000_000)
    /// Ten seconds after `at`, for times of an end or an expiry.
    static let later = Timestamp(milliseconds: 1_700_000_010_000)
    static let ticket = Ticket(421)
    static let position = FeedPosition(epoch: 77, number: 12)
    static let caller = Caller(
        user: Samples.alice, role: .user, request: RequestID(session: "s-1", counter: 9), replyTo: "gateway-1",
        ticket: Samples.ticket)
    /// The caller of a call of an app's server.
    static let server = Caller(
        user: UserInfo(userID: "backend"), role: .server, request: RequestID(session: "h-1", counter: 1),
        replyTo: "gateway-1")
    static let info = LiveInfo(liveID: Samples.live, liveOwner: Samples.alice, createTime: Samples.at) {
        ($0.liveName, $0.notice) = ("Concert", "Tonight")
        ($0.coverURL, $0.backgroundURL) = ("https://example.org/c", "https://example.org/b")
        ($0.categoryList, $0.activityStatus, $0.maxMemberCount) = ([1, 4], 2, 20)
        ($0.metaData, $0.admins, $0.status) = (["lang": "en", "n": "5"], ["bob"], .suspended)
    }
    static let statistics = LiveStatistics(
        totalViewers: 8, totalGiftsSent: 5, totalGiftCoins: 500, totalUniqueGiftSenders: 2, totalLikesReceived: 30,
        totalMessageCount: 12, liveDuration: 60_000)
    /// The changes of a call that sets every field of a live's info.
    static let everyChange = LiveChanges(
        liveName: "Concert", notice: "", isMessageDisable: true, isPublicVisible: false, keepOwnerOnSeat: false,
        maxSeatCount: 6, seatMode: .free, seatTemplate: 50, coverURL: "c", backgroundURL: "b", categoryList: [],
        activityStatus: 1, isGiftEnabled: false, maxMemberCount: 500)
    /// The end of `live`, which an app's server has ended.
    static let ending = Ending(
        reason: .endedByServer, caller: Samples.server, epoch: 77, createdAt: Samples.at, endedAt: Samples.later,
        totalViewers: 8)
    static let member = ConnectionMember(live: Samples.live, host: Samples.alice, joinedAt: Samples.at, seats: [])
    static let otherMember = ConnectionMember(
        live: Samples.otherLive, host: Samples.bob, joinedAt: Samples.later,
        seats: [Seat(index: 0, occupant: SeatUser(user: Samples.bob, role: .owner, live: Samples.otherLive))])
    static let connection = ConnectionView(
        id: "c-5", members: [Samples.member, Samples.otherMember], templateID: 601, mutedLives: [Samples.otherLive])
    static let battle = BattleView(
        id: "b-6", extensionInfo: "{\"prize\":1}", durationSeconds: 10, needResponse: true, startTime: Samples.at,
        endTime: Samples.later,
        sides: [
            BattleSide(live: Samples.live, host: Samples.alice, score: 30),
            BattleSide(live: Samples.otherLive, host: Samples.bob, score: 12, hasLeft: true),
        ], ended: .timeOver)
    static let stage = StageRecord(
        app: Samples.app, live: Samples.live, epoch: 77, revision: 5,
        seats: [
            Seat(
                index: 0,
                occupant: SeatUser(
                    user: Samples.alice, role: .owner, live: Samples.live, isMicrophoneOn: true, isCameraOn: true)),
            Seat(index: 1, isLocked: true, isMicrophoneLocked: true, isCameraLocked: true),
            Seat(
                index: 2,
                occupant: SeatUser(
                    user: Samples.bob, role: .generalUser, live: Samples.live, allowOpenMicrophone: false,
                    allowOpenCamera: false, suspendStatus: .inBackground)),
        ], connection: Samples.connection, battle: Samples.battle,
        layout: StageLayout(
            canvas: StageLayout.Canvas(width: 1080, height: 1920, templateID: 601),
            regions: [
                StageLayout.Region(live: Samples.live, userID: "alice", seatIndex: 0, width: 1080, height: 1920),
                StageLayout.Region(
                    live: Samples.live, userID: "bob", seatIndex: 2, x: 810, y: 1650, width: 270, height: 270,
                    zorder: 1),
            ]))
    /// A stage without seats and connection.
    static let emptyStage = StageRecord(app: Samples.app, live: Samples.live, epoch: 77, revision: 1, seats: [])
    static let count = CountRecord(
        app: Samples.app, live: Samples.live, epoch: 77, count: 3, totalViewers: 8, stale: true, at: Samples.at)
    static let liveRecord = LiveRecord(app: Samples.app, info: Samples.info, epoch: 77, revision: 4)
    static let rocket = Gift(
        giftID: "rocket", name: "Rocket", desc: "Flies", iconURL: "https://example.org/i",
        resourceURL: "https://example.org/r", level: 3, coins: 500, extensionInfo: "{\"fx\":1}",
        translations: ["zh-CN": GiftText(name: "火箭", desc: "飞")])
    static let giftCategory = GiftCategory(
        categoryID: "new", name: "New", desc: "Just in", extensionInfo: "x",
        gifts: [Samples.rocket, Gift(giftID: "rose", name: "Rose", coins: 1)],
        translations: ["zh-CN": GiftText(name: "新")])
    static let appSettings = AppSettings(words: ["bad", "worse"], gifts: [Samples.giftCategory])
    static let webhook = WebhookEvent(
        Samples.key, at: Samples.at, .memberState(isOnline: true, cause: .enter, users: [Samples.bob]))
    /// An error that says after how many milliseconds the call may be tried again.
    static let error = ReplyError(.overloaded, "16 calls are open already", retryAfter: 200)
    /// An error with a reason: by whom the user was kicked.
    static let staleTicket = ReplyError(.staleTicket, "the ticket is no longer valid", reason: "byAdmin")
}
