// SPDX-License-Identifier: Apache-2.0
internal import LivePlazaKit
internal import Testing

/// A session of a host that makes every call of the host's stores once.
///
/// A guest and a rival, who are never cut off, make the calls to which the host reacts. Seat requests, co-host requests
/// and battles last 300 s, so that none ends while calls are sent again.
package struct HostScript {
    private let session: any CallScriptSession
    private let host: LivePlaza
    /// The live of the host, and the live of the rival.
    private let (live, rivalLive): (String, String)
    /// The ids of the guest and the rival.
    private let (guestID, rivalID): (String, String)

    package init(_ session: any CallScriptSession) {
        self.session = session
        self.host = session.plaza
        (self.live, self.rivalLive) = (session.id("one"), session.id("two"))
        (self.guestID, self.rivalID) = (session.id("guest"), session.id("rival"))
    }

    /// Plays the session; throws at the first call that fails.
    package func run() async throws {
        let lives = self.host.liveListStore
        try await self.session.logInBackend().addGift()
        try await self.session.call("log in") {
            self.host.loginStore.login(
                sdkAppID: 1, userID: self.session.id("host"), userSig: self.session.token("host"), completion: $0)
        }
        var info = LiveInfo()
        (info.liveID, info.liveName) = (self.live, "One")
        try await self.session.call("create the live") { lives.createLive(info, completion: $0) }
        let witness = try await self.session.enter("witness", self.live)
        let guest = try await self.session.logIn("guest")
        try await guest.call("live.join", #"{"live":"\#(self.live)"}"#)
        let rival = try await self.session.logIn("rival")
        try await rival.call("live.create", #"{"live":"\#(self.rivalLive)"}"#)
        try await rival.call("live.join", #"{"live":"\#(self.rivalLive)"}"#)

        try await self.changeLive(info)
        try await self.sendMessages()
        try await self.manageAudience()
        try await self.answerSeatRequests(of: guest)
        try await self.manageSeats()
        try await self.manageGifts()
        try await self.connect(rival)
        try await self.battle(rival)
        try await self.session.call("leave the connection") {
            self.host.coHostStore(liveID: self.live).exitHostConnection(completion: $0)
        }
        try await self.session.call("kick the guest") {
            self.host.audienceStore(liveID: self.live).kickUserOutOfRoom(userID: self.guestID, completion: $0)
        }

        // The text of the custom message is empty.
        try await self.session.expectSameStores(in: self.live, as: witness, messageTexts: ["welcome", ""])
        let totals = try await self.session.call("end the live") { lives.endLive(completion: $0) }
        // The text and the custom message, each once.
        #expect(totals.totalMessageCount == 2)
        try await self.session.call("log out") { self.host.loginStore.logout(completion: $0) }
    }

    private func changeLive(_ info: LiveInfo) async throws {
        let lives = self.host.liveListStore
        var info = info
        info.notice = "at eight"
        try await self.session.call("update the live") {
            lives.updateLiveInfo(info, modifyFlag: .notice, completion: $0)
        }
        try await self.session.call("set metadata") {
            lives.updateLiveMetaData(["product": "mug", "theme": "dark"], completion: $0)
        }
        try await self.session.call("delete metadata") { lives.deleteLiveMetaData(keys: ["theme"], completion: $0) }
        let metaData = try await self.session.call("read metadata") {
            lives.queryMetaData(keys: ["product", "theme"], completion: $0)
        }
        #expect(metaData == ["product": "mug"])
        try await self.session.call("read the live") { lives.fetchLiveInfo(liveID: self.live, completion: $0) }
        try await self.session.call("list lives") { lives.fetchLiveList(cursor: "", count: 20, completion: $0) }
        let profile = UserProfile(userID: self.session.id("host"), nickname: "Hostess")
        try await self.session.call("set the nickname") {
            self.host.loginStore.setSelfInfo(userProfile: profile, completion: $0)
        }
    }

    private func sendMessages() async throws {
        let barrage = self.host.barrageStore(liveID: self.live)
        try await self.session.call("send a text") {
            barrage.sendTextMessage(text: "welcome", extensionInfo: nil, completion: $0)
        }
        try await self.session.call("send a poll") {
            barrage.sendCustomMessage(businessID: "poll", data: "1", completion: $0)
        }
        try await self.session.call("like") {
            self.host.likeStore(liveID: self.live).sendLike(count: 3, completion: $0)
        }
    }

    private func manageAudience() async throws {
        let audience = self.host.audienceStore(liveID: self.live)
        let guestID = self.guestID
        try await self.session.call("set admin") { audience.setAdministrator(userID: guestID, completion: $0) }
        try await self.session.call("revoke admin") { audience.revokeAdministrator(userID: guestID, completion: $0) }
        try await self.session.call("mute") {
            audience.disableSendMessage(userID: guestID, isDisable: true, completion: $0)
        }
        try await self.session.call("unmute") {
            audience.disableSendMessage(userID: guestID, isDisable: false, completion: $0)
        }
        try await self.session.call("list the audience") { audience.fetchAudienceList(completion: $0) }
    }

    /// The guest takes a seat in the end.
    private func answerSeatRequests(of guest: UncutUser) async throws {
        let requests = self.host.coGuestStore(liveID: self.live)
        let application = #"{"live":"\#(self.live)","timeout":300}"#
        try await self.session.call("invite") {
            requests.inviteToSeat(userID: self.guestID, timeout: 300, extraInfo: nil, completion: $0)
        }
        try await self.session.call("cancel the invitation") {
            requests.cancelInvitation(inviteeID: self.guestID, completion: $0)
        }
        try await guest.call("seat.apply", application)
        try await self.session.call("reject the guest") {
            requests.rejectApplication(userID: self.guestID, completion: $0)
        }
        try await guest.call("seat.apply", application)
        try await self.session.call("accept the guest") {
            requests.acceptApplication(userID: self.guestID, completion: $0)
        }
    }

    /// The guest, who has a seat, loses it in the end.
    private func manageSeats() async throws {
        let seats = self.host.seatStore(liveID: self.live)
        let guestID = self.guestID
        try await self.session.call("lock the microphone") {
            seats.closeRemoteMicrophone(userID: guestID, completion: $0)
        }
        try await self.session.call("unlock the microphone") {
            seats.openRemoteMicrophone(userID: guestID, policy: .unlockOnly, completion: $0)
        }
        try await self.session.call("lock the camera") { seats.closeRemoteCamera(userID: guestID, completion: $0) }
        try await self.session.call("unlock the camera") {
            seats.openRemoteCamera(userID: guestID, policy: .unlockOnly, completion: $0)
        }
        try await self.session.call("move the guest") {
            seats.moveUserToSeat(userID: guestID, targetIndex: 3, policy: .abortWhenOccupied, completion: $0)
        }
        try await self.session.call("lock a seat") { seats.lockSeat(seatIndex: 5, completion: $0) }
        try await self.session.call("unlock the seat") { seats.unlockSeat(seatIndex: 5, completion: $0) }
        try await self.session.call("lock another seat") { seats.lockSeat(seatIndex: 6, completion: $0) }
        try await self.session.call("kick from the seat") { seats.kickUserOutOfSeat(userID: guestID, completion: $0) }
    }

    private func manageGifts() async throws {
        let gifts = self.host.giftStore(liveID: self.live)
        try await self.session.call("gifts off") { gifts.setGiftEnabled(isEnabled: false, completion: $0) }
        try await self.session.call("gifts on") { gifts.setGiftEnabled(isEnabled: true, completion: $0) }
        try await self.session.call("list gifts") { gifts.refreshUsableGifts(completion: $0) }
    }

    /// The lives of host and rival are connected in the end.
    private func connect(_ rival: UncutUser) async throws {
        let coHosts = self.host.coHostStore(liveID: self.live)
        let rivalLive = self.rivalLive
        let request = #"{"live":"\#(rivalLive)","to":["\#(self.live)"],"timeout":300}"#
        try await self.session.call("list candidates") { coHosts.getCoHostCandidates(cursor: "", completion: $0) }
        try await self.session.call("invite the rival") {
            coHosts.requestHostConnection(
                targetHost: rivalLive, layoutTemplate: .hostDynamicGrid, timeout: 300, completion: $0)
        }
        try await self.session.call("cancel the co-host request") {
            coHosts.cancelHostConnection(toHostLiveID: rivalLive, completion: $0)
        }
        try await rival.call("cohost.request", request)
        try await self.session.call("reject the rival") {
            coHosts.rejectHostConnection(fromHostLiveID: rivalLive, completion: $0)
        }
        try await rival.call("cohost.request", request)
        try await self.session.call("accept the rival") {
            coHosts.acceptHostConnection(fromHostLiveID: rivalLive, completion: $0)
        }
        try await self.session.call("mute the rival") {
            coHosts.muteRemoteHostAudio(liveID: rivalLive, isMuted: true, completion: $0)
        }
    }

    private func battle(_ rival: UncutUser) async throws {
        let battles = self.host.battleStore(liveID: self.live)
        let config = BattleConfig(duration: 300, needResponse: true)
        let requested = try await self.session.call("request a battle") {
            battles.requestBattle(config: config, userIDList: [self.rivalID], timeout: 300, completion: $0)
        }
        try await self.session.call("cancel the battle") {
            battles.cancelBattleRequest(battleId: requested.0.battleID, userIdList: [self.rivalID], completion: $0)
        }
        let rejectedID = try await self.requestBattle(by: rival)
        try await self.session.call("reject a battle") { battles.rejectBattle(battleID: rejectedID, completion: $0) }
        let acceptedID = try await self.requestBattle(by: rival)
        try await self.session.call("accept a battle") { battles.acceptBattle(battleID: acceptedID, completion: $0) }
        try await self.session.call("leave the battle") { battles.exitBattle(battleID: acceptedID, completion: $0) }
    }

    /// Lets the rival request a battle that the host must accept, and returns the battle's id.
    private func requestBattle(by rival: UncutUser) async throws -> String {
        let reply = try await rival.call(
            "battle.request",
            #"{"live":"\#(self.rivalLive)","to":["\#(self.live)"],"duration":300,"needResponse":true,"timeout":300}"#)
        // The reply is JSON text; the id is what stands between the last `"battle":"` and the next quotation mark.
        let textFromID = reply.split(separator: #""battle":""#).last
        return try #require(textFromID?.split(separator: "\"").first.map(String.init))
    }
}
