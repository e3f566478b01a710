// SPDX-License-Identifier: Apache-2.0
import LivePlazaKit
import LivePlazaTesting
import Testing

/// What a user's stores show when the user's connection is cut at every call of every store.
///
/// Each test runs a whole session and cuts the connection once per call, always after the same number of frames. Some
/// cuts come before the call, some between the call and its reply, and some after the reply. Every call must succeed
/// and be applied once. At the end the user's stores must equal those of a witness, who enters at the beginning and is
/// never cut off, and those of a newcomer, who enters at the end. Seat requests, co-host requests and battles last
/// 300 s, so that none ends while calls are sent again.
struct SimulatedCallCutTests {
    /// How many frames are still delivered, counted from the beginning of a call, before the connection is cut.
    private static let frameCountsBeforeCut = [0, 1, 2, 3, 5, CutSession.neverCut]

    @Test(arguments: Self.frameCountsBeforeCut)
    func `I7 I15 every call of a host is applied once although the connection is cut at each call`(
        frameCount: Int
    ) throws {
        let session = CutSession("host", live: "one", cutAfterFrames: frameCount)
        let (host, cluster) = (session.plaza, session.cluster)
        let lives = host.liveListStore
        var info = LiveInfo()
        (info.liveID, info.liveName) = ("one", "One")
        session.call("create the live") { lives.createLive(info, completion: $0) }
        try session.addWitness()
        // The guest and the rival, who runs the live `two`, are never cut off.
        let guest = try session.enter("guest")
        let rival = try cluster.user("rival", userName: "R")
        try rival.createLive("two")
        // The lists of lives contain `two` after a few seconds.
        session.passTime()

        info.notice = "at eight"
        session.call("update the live") { lives.updateLiveInfo(info, modifyFlag: .notice, completion: $0) }
        session.call("set metadata") { lives.updateLiveMetaData(["product": "mug"], completion: $0) }
        session.call("read metadata") { lives.queryMetaData(keys: ["product"], completion: $0) }
        session.call("read the live") { lives.fetchLiveInfo(liveID: "one", completion: $0) }
        session.call("list lives") { lives.fetchLiveList(cursor: "", count: 20, completion: $0) }
        let profile = UserProfile(userID: "host", nickname: "Hostess")
        session.call("set the nickname") { host.loginStore.setSelfInfo(userProfile: profile, completion: $0) }

        let barrage = host.barrageStore(liveID: "one")
        session.call("send a text") { barrage.sendTextMessage(text: "welcome", extensionInfo: nil, completion: $0) }
        session.call("send a poll") { barrage.sendCustomMessage(businessID: "poll", data: "1", completion: $0) }
        session.call("like") { host.likeStore(liveID: "one").sendLike(count: 3, completion: $0) }

        let audience = host.audienceStore(liveID: "one")
        session.call("set admin") { audience.setAdministrator(userID: "guest", completion: $0) }
        session.call("revoke admin") { audience.revokeAdministrator(userID: "guest", completion: $0) }
        session.call("mute") { audience.disableSendMessage(userID: "guest", isDisable: true, completion: $0) }
        session.call("unmute") { audience.disableSendMessage(userID: "guest", isDisable: false, completion: $0) }
        session.call("list the audience") { audience.fetchAudienceList(completion: $0) }

        let guests = host.coGuestStore(liveID: "one")
        let seats = host.seatStore(liveID: "one")
        session.call("invite") { guests.inviteToSeat(userID: "guest", timeout: 300, extraInfo: nil, completion: $0) }
        session.call("cancel the invitation") { guests.cancelInvitation(inviteeID: "guest", completion: $0) }
        try guest.applyForSeat(timeout: 300, in: "one")
        session.call("reject the guest") { guests.rejectApplication(userID: "guest", completion: $0) }
        try guest.applyForSeat(timeout: 300, in: "one")
        session.call("accept the guest") { guests.acceptApplication(userID: "guest", completion: $0) }
        session.call("lock the microphone") { seats.closeRemoteMicrophone(userID: "guest", completion: $0) }
        session.call("unlock the microphone") {
            seats.openRemoteMicrophone(userID: "guest", policy: .unlockOnly, completion: $0)
        }
        session.call("lock the camera") { seats.closeRemoteCamera(userID: "guest", completion: $0) }
        session.call("unlock the camera") {
            seats.openRemoteCamera(userID: "guest", policy: .unlockOnly, completion: $0)
        }
        session.call("move the guest") {
            seats.moveUserToSeat(userID: "guest", targetIndex: 3, policy: .abortWhenOccupied, completion: $0)
        }
        session.call("lock a seat") { seats.lockSeat(seatIndex: 5, completion: $0) }
        session.call("unlock the seat") { seats.unlockSeat(seatIndex: 5, completion: $0) }
        session.call("lock another seat") { seats.lockSeat(seatIndex: 6, completion: $0) }
        session.call("kick from the seat") { seats.kickUserOutOfSeat(userID: "guest", completion: $0) }

        try cluster.backend().call(
            "app.setGifts",
            json: #"{"categories":[{"categoryID":"c","name":"C","gifts":[{"giftID":"rose","name":"R"}]}]}"#)
        let gifts = host.giftStore(liveID: "one")
        session.call("gifts off") { gifts.setGiftEnabled(isEnabled: false, completion: $0) }
        session.call("gifts on") { gifts.setGiftEnabled(isEnabled: true, completion: $0) }
        session.call("list gifts") { gifts.refreshUsableGifts(completion: $0) }

        let coHosts = host.coHostStore(liveID: "one")
        session.call("list candidates") { coHosts.getCoHostCandidates(cursor: "", completion: $0) }
        session.call("invite the rival") {
            coHosts.requestHostConnection(
                targetHost: "two", layoutTemplate: .hostDynamicGrid, timeout: 300, completion: $0)
        }
        session.call("cancel the co-host request") { coHosts.cancelHostConnection(toHostLiveID: "two", completion: $0) }
        try rival.requestCoHost(["one"], timeout: 300, from: "two")
        session.call("reject the rival") { coHosts.rejectHostConnection(fromHostLiveID: "two", completion: $0) }
        try rival.requestCoHost(["one"], timeout: 300, from: "two")
        session.call("accept the rival") { coHosts.acceptHostConnection(fromHostLiveID: "two", completion: $0) }
        session.call("mute the rival") { coHosts.muteRemoteHostAudio(liveID: "two", isMuted: true, completion: $0) }

        let battles = host.battleStore(liveID: "one")
        let config = BattleConfig(duration: 300, needResponse: true)
        let battleRequest = session.call("request a battle") {
            battles.requestBattle(config: config, userIDList: ["rival"], timeout: 300, completion: $0)
        }
        let battleID = try #require(battleRequest?.0.battleID)
        session.call("cancel the battle") {
            battles.cancelBattleRequest(battleId: battleID, userIdList: ["rival"], completion: $0)
        }
        let rejectedID = try Self.requestBattle(by: rival)
        session.call("reject a battle") { battles.rejectBattle(battleID: rejectedID, completion: $0) }
        let acceptedID = try Self.requestBattle(by: rival)
        session.call("accept a battle") { battles.acceptBattle(battleID: acceptedID, completion: $0) }
        session.call("leave the battle") { battles.exitBattle(battleID: acceptedID, completion: $0) }
        session.call("leave the connection") { coHosts.exitHostConnection(completion: $0) }
        session.call("kick the guest") { audience.kickUserOutOfRoom(userID: "guest", completion: $0) }

        // The text of the custom message is empty.
        try session.expectSameStores(messageTexts: ["welcome", ""])
        let totals = session.call("end the live") { lives.endLive(completion: $0) }
        // The text and the custom message, each once.
        #expect(totals?.totalMessageCount == 2)
        session.call("log out") { host.loginStore.logout(completion: $0) }
        #expect(session.failures.all == [], "expected that every call succeeds, although the connection is cut")
    }

    /// Lets the rival request a battle that the host must accept, and returns the battle's id.
    private static func requestBattle(by rival: ScriptedUser) throws -> String {
        let reply = try rival.call(
            "battle.request",
            json: #"{"live":"two","to":["one"],"duration":300,"needResponse":true,"timeout":300}"#)
        // The reply is JSON text; the id is what stands between the last `"battle":"` and the next quotation mark.
        let textFromID = reply.split(separator: #""battle":""#).last
        return try #require(textFromID?.split(separator: "\"").first.map(String.init))
    }

    @Test(arguments: Self.frameCountsBeforeCut)
    func `I7 I15 every call of a guest is applied once although the connection is cut at each call`(
        frameCount: Int
    ) throws {
        let session = CutSession("guest", live: "one", cutAfterFrames: frameCount)
        let (guest, cluster) = (session.plaza, session.cluster)
        let host = try cluster.user("host", userName: "Host")
        try host.createLive("one", name: "One")
        try cluster.backend().call(
            "app.setGifts",
            json: #"{"categories":[{"categoryID":"c","name":"C","gifts":[{"giftID":"rose","name":"R"}]}]}"#)
        try session.addWitness()
        session.call("join") { guest.liveListStore.joinLive(liveID: "one", completion: $0) }

        let barrage = guest.barrageStore(liveID: "one")
        session.call("send a text") { barrage.sendTextMessage(text: "hello", extensionInfo: nil, completion: $0) }
        session.call("like") { guest.likeStore(liveID: "one").sendLike(count: 2, completion: $0) }
        let gifts = guest.giftStore(liveID: "one")
        session.call("gift") { gifts.sendGift(giftID: "rose", count: 2, completion: $0) }
        session.call("gift to a user") {
            gifts.sendGift(giftID: "rose", count: 1, receivers: ["host"], completion: $0)
        }

        let (seatRequests, seats) = (guest.coGuestStore(liveID: "one"), guest.seatStore(liveID: "one"))
        session.call("apply") { seatRequests.applyForSeat(timeout: 300, extraInfo: nil, completion: $0) }
        session.call("cancel the application") { seatRequests.cancelApplication(completion: $0) }
        session.call("apply again") { seatRequests.applyForSeat(timeout: 300, extraInfo: nil, completion: $0) }
        try host.answerApplication(of: "guest", accept: true, in: "one")
        session.call("switch the camera on") { seats.reportCamera(isOn: true, completion: $0) }
        session.call("unmute") { seats.unmuteMicrophone(completion: $0) }
        session.call("report the speaking level") { seats.reportSpeaking(level: 30, completion: $0) }
        session.call("report a phone call") { seats.reportSuspension(.inCalling, completion: $0) }
        session.call("report the end of the phone call") { seats.reportSuspension(.none, completion: $0) }
        session.call("leave the seat") { seats.leaveSeat(completion: $0) }
        try host.invite("guest", timeout: 300, in: "one")
        session.call("reject the invitation") { seatRequests.rejectInvitation(inviterID: "host", completion: $0) }
        try host.invite("guest", timeout: 300, in: "one")
        session.call("accept the invitation") { seatRequests.acceptInvitation(inviterID: "host", completion: $0) }
        session.call("leave the seat of the invitation") { seatRequests.disConnect(completion: $0) }
        // In the seat mode `free` a viewer may take a seat without an application.
        try host.call("live.update", json: #"{"live":"one","seatMode":"free"}"#)
        session.call("take a seat") { seats.takeSeat(seatIndex: 4, completion: $0) }

        try session.expectSameStores(messageTexts: ["hello"])
        // Two roses to the live and one to the host, each once.
        #expect(guest.summaryStore(liveID: "one").state.value.summaryData.totalGiftsSent == 3)
        session.call("leave the live") { guest.liveListStore.leaveLive(completion: $0) }
        session.call("log out") { guest.loginStore.logout(completion: $0) }
        #expect(session.failures.all == [], "expected that every call succeeds, although the connection is cut")
    }
}

/// A session of one user whose connection is cut at each call.
private final class CutSession {
    /// The frame count that stands for a session without cuts.
    static let neverCut = 100

    let cluster: SimulatedCluster
    let plaza: LivePlaza
    let failures = Failures()
    private let user: String
    private let live: String
    private let frameCountBeforeCut: Int
    private var witness: LivePlaza?

    /// Logs the user in, whose connection is cut already at the login.
    ///
    /// - Parameters:
    ///   - user: the user's id.
    ///   - live: the live of the session.
    ///   - frameCount: how many frames are delivered before each cut, or `neverCut`.
    init(_ user: String, live: String, cutAfterFrames frameCount: Int) {
        self.cluster = SimulatedCluster(seed: UInt64(frameCount) + 1)
        (self.user, self.live, self.frameCountBeforeCut) = (user, live, frameCount)
        self.plaza = self.cluster.client(user)
        let token = self.cluster.token(user)
        self.call("log in") { [plaza] in
            plaza.loginStore.login(sdkAppID: 1, userID: user, userSig: token, completion: $0)
        }
    }

    /// Advances the time by more than a client needs to reconnect and to send its call again.
    func passTime() { self.cluster.advance(by: .seconds(12)) }

    /// Makes a call, cuts the connection after some frames, and lets time pass until the call has ended.
    ///
    /// - Returns: the call's result; nil if the call has failed, which `failures` then contains.
    @discardableResult
    func call<Value>(_ name: String, _ start: (@escaping (Result<Value, ErrorInfo>) -> Void) -> Void) -> Value? {
        if self.frameCountBeforeCut != Self.neverCut {
            self.cluster.cutConnection(of: self.user, afterFrames: self.frameCountBeforeCut)
        }
        return self.callWithoutCut(name, start)
    }

    private func callWithoutCut<Value>(
        _ name: String, _ start: (@escaping (Result<Value, ErrorInfo>) -> Void) -> Void
    ) -> Value? {
        let recordEnd = self.failures.record(name)
        var value: Value?
        start { result in
            value = try? result.get()
            recordEnd(result.map { _ in })
        }
        self.passTime()
        return value
    }

    /// Lets the witness, whose connection is never cut, enter the live.
    func addWitness() throws { self.witness = try self.enterWithStores("witness") }

    /// Lets a scripted user enter the live: one without stores, whose calls the test makes itself.
    func enter(_ user: String) throws -> ScriptedUser {
        let scripted = try self.cluster.user(user)
        try scripted.joinLive(self.live)
        return scripted
    }

    /// Expects that the user's messages have these texts, and that the user's stores equal those of the witness and of
    /// a newcomer.
    func expectSameStores(messageTexts: [String]) throws {
        let newcomer = try self.enterWithStores("newcomer")
        self.passTime()
        var userSnapshot = StoreSnapshot(self.plaza, self.live)
        #expect(userSnapshot.messages == messageTexts)
        var witnessSnapshot = StoreSnapshot(try #require(self.witness), self.live)
        var newcomerSnapshot = StoreSnapshot(newcomer, self.live)
        userSnapshot.clearUserSpecificStates()
        witnessSnapshot.clearUserSpecificStates()
        newcomerSnapshot.clearUserSpecificStates()
        #expect(userSnapshot.differences(from: witnessSnapshot) == [])
        // The newcomer has no messages from before the join, so messages are not compared.
        (userSnapshot.messages, newcomerSnapshot.messages) = ([], [])
        #expect(userSnapshot.differences(from: newcomerSnapshot) == [])
    }

    /// Makes a client with stores, which logs in and enters the live.
    private func enterWithStores(_ name: String) throws -> LivePlaza {
        let plaza = self.cluster.client(name)
        _ = self.callWithoutCut("\(name) logs in") {
            plaza.loginStore.login(sdkAppID: 1, userID: name, userSig: self.cluster.token(name), completion: $0)
        }
        _ = self.callWithoutCut("\(name) enters") { plaza.liveListStore.joinLive(liveID: self.live, completion: $0) }
        return plaza
    }
}
