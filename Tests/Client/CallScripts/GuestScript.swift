// SPDX-License-Identifier: Apache-2.0
internal import LivePlazaKit
internal import Testing

/// A session of a guest that makes every call of the guest's stores once.
///
/// The host, who is never cut off, makes the calls to which the guest reacts. Seat requests last 300 s, so that none
/// ends while calls are sent again.
package struct GuestScript {
    private let session: any CallScriptSession
    private let guest: LivePlaza
    private let live: String
    private let (guestID, hostID): (String, String)

    package init(_ session: any CallScriptSession) {
        self.session = session
        self.guest = session.plaza
        self.live = session.id("one")
        (self.guestID, self.hostID) = (session.id("guest"), session.id("host"))
    }

    /// Plays the session; throws at the first call that fails.
    package func run() async throws {
        let host = try await self.session.logIn("host")
        try await host.call("live.create", #"{"live":"\#(self.live)","liveName":"One"}"#)
        try await host.call("live.join", #"{"live":"\#(self.live)"}"#)
        try await self.session.logInBackend().addGift()
        let witness = try await self.session.enter("witness", self.live)
        try await self.session.call("log in") {
            self.guest.loginStore.login(
                sdkAppID: 1, userID: self.guestID, userSig: self.session.token("guest"), completion: $0)
        }
        try await self.session.call("join") { self.guest.liveListStore.joinLive(liveID: self.live, completion: $0) }

        try await self.sendMessagesAndGifts()
        try await self.applyAndSit(host)
        try await self.answerInvitations(host)
        try await self.session.call("take a seat") {
            self.guest.seatStore(liveID: self.live).takeSeat(seatIndex: 4, completion: $0)
        }

        try await self.session.expectSameStores(in: self.live, as: witness, messageTexts: ["hello"])
        // Two roses to the live and one to the host, each once.
        #expect(self.guest.summaryStore(liveID: self.live).state.value.summaryData.totalGiftsSent == 3)
        try await self.session.call("leave the live") { self.guest.liveListStore.leaveLive(completion: $0) }
        try await self.session.call("log out") { self.guest.loginStore.logout(completion: $0) }
    }

    private func sendMessagesAndGifts() async throws {
        let barrage = self.guest.barrageStore(liveID: self.live)
        try await self.session.call("send a text") {
            barrage.sendTextMessage(text: "hello", extensionInfo: nil, completion: $0)
        }
        try await self.session.call("like") {
            self.guest.likeStore(liveID: self.live).sendLike(count: 2, completion: $0)
        }
        let gifts = self.guest.giftStore(liveID: self.live)
        // A cluster of several processes knows a new gift only a moment after its creation.
        for _ in 0..<10 where gifts.state.value.usableGifts.isEmpty {
            try await self.session.call("list gifts") { gifts.refreshUsableGifts(completion: $0) }
        }
        try await self.session.call("gift") { gifts.sendGift(giftID: "rose", count: 2, completion: $0) }
        try await self.session.call("gift to a user") {
            gifts.sendGift(giftID: "rose", count: 1, receivers: [self.hostID], completion: $0)
        }
    }

    private func applyAndSit(_ host: UncutUser) async throws {
        let (requests, seats) = (self.guest.coGuestStore(liveID: self.live), self.guest.seatStore(liveID: self.live))
        try await self.session.call("apply") { requests.applyForSeat(timeout: 300, extraInfo: nil, completion: $0) }
        try await self.session.call("cancel the application") { requests.cancelApplication(completion: $0) }
        try await self.session.call("apply again") {
            requests.applyForSeat(timeout: 300, extraInfo: nil, completion: $0)
        }
        try await host.call("seat.acceptApplication", #"{"live":"\#(self.live)","user":"\#(self.guestID)"}"#)
        try await self.requireSeat()
        try await self.session.call("switch the camera on") { seats.reportCamera(isOn: true, completion: $0) }
        try await self.session.call("unmute") { seats.unmuteMicrophone(completion: $0) }
        try await self.session.call("report the speaking level") { seats.reportSpeaking(level: 30, completion: $0) }
        try await self.session.call("report a phone call") { seats.reportSuspension(.inCalling, completion: $0) }
        try await self.session.call("report the end of the phone call") {
            seats.reportSuspension(.none, completion: $0)
        }
        try await self.session.call("leave the seat") { seats.leaveSeat(completion: $0) }
    }

    /// In the end, a viewer may take a seat without an application.
    private func answerInvitations(_ host: UncutUser) async throws {
        let requests = self.guest.coGuestStore(liveID: self.live)
        let invitation = #"{"live":"\#(self.live)","user":"\#(self.guestID)","timeout":300}"#
        // In this mode a seat may be taken without an application. The service of seats learns of the mode a moment
        // after the call, so the mode is set some calls before the guest takes a seat.
        try await host.call("live.update", #"{"live":"\#(self.live)","seatMode":"free"}"#)
        try await host.call("seat.invite", invitation)
        try await self.session.call("reject the invitation") {
            requests.rejectInvitation(inviterID: self.hostID, completion: $0)
        }
        try await host.call("seat.invite", invitation)
        try await self.session.call("accept the invitation") {
            requests.acceptInvitation(inviterID: self.hostID, completion: $0)
        }
        try await self.requireSeat()
        try await self.session.call("leave the seat of the invitation") { requests.disConnect(completion: $0) }
    }

    /// Waits until the guest's stores show that the guest has a seat.
    private func requireSeat() async throws {
        let requests = self.guest.coGuestStore(liveID: self.live)
        try await self.session.require("the guest sees that it has a seat") {
            requests.state.value.connected.contains { $0.userID == self.guestID }
        }
    }
}
