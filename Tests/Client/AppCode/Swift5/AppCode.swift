// SPDX-License-Identifier: Apache-2.0
import Foundation
import LivePlazaCombine
import LivePlazaKit

/// The code of an app that uses the stores, as app developers write it.
///
/// Two targets compile this file: one in Swift 5 mode, in which the class is a plain class, and one in Swift 6 mode, in
/// which the class is on the main actor. `AppCodeTests` runs the code, and `StoreCoverageTests` checks that the code
/// calls every method of the stores.
#if swift(>=6)
@MainActor
#endif
public final class AppCode {
    /// The names of the calls that have ended; after a failed call its name is followed by `:` and the error.
    public private(set) var endedCalls: [String] = []
    /// The names of the calls that were made with a completion.
    public private(set) var madeCalls: [String] = []
    /// What the app shows: texts about the states and events that its subscriptions have received.
    public private(set) var shown: [String] = []

    private let plaza: LivePlaza
    private let liveID: String
    private var cancellables = Set<AnyCancellable>()

    /// Makes the part of the app that is about one live, and subscribes to the stores.
    public init(plaza: LivePlaza, liveID: String) {
        self.plaza = plaza
        self.liveID = liveID
        self.bind()
    }

    /// Records that a call is made, and returns the completion of the call, which records its result.
    private func record<Value>(_ call: String) -> (Result<Value, ErrorInfo>) -> Void {
        self.madeCalls.append(call)
        return { [weak self] result in
            switch result {
            case .success: self?.endedCalls.append(call)
            case .failure(let error):
                self?.endedCalls.append("\(call): \(error.code) \(error.localizedDescription)")
            }
        }
    }

    /// Subscribes to the stores; the app retains the subscriptions, but no store.
    private func bind() {
        self.plaza.liveListStore.state.subscribe(StatePublisherSelector(keyPath: \LiveListState.currentLive))
            .receive(on: DispatchQueue.main)
            .sink { [weak self] live in self?.shown.append("live \(live.liveID)") }
            .store(in: &self.cancellables)
        self.plaza.loginStore.state.subscribe()
            .sink { [weak self] state in self?.shown.append("login \(state.loginStatus)") }
            .store(in: &self.cancellables)
        self.plaza.barrageStore(liveID: self.liveID).state
            .subscribe(StatePublisherSelector(keyPath: \BarrageState.messageList))
            .sink { [weak self] messages in self?.shown.append("messages \(messages.map(\.textContent))") }
            .store(in: &self.cancellables)
        self.plaza.audienceStore(liveID: self.liveID).liveAudienceEventPublisher
            .sink { [weak self] event in
                switch event {
                case .onAudienceJoined(let audience): self?.shown.append("welcome \(audience.userID)")
                case .onAudienceLeft(let audience): self?.shown.append("bye \(audience.userID)")
                case .onAudienceMessageDisabled(let audience, let isDisable):
                    self?.shown.append("\(audience.userID) is \(isDisable ? "muted" : "not muted")")
                }
            }
            .store(in: &self.cancellables)
        self.plaza.coGuestStore(liveID: self.liveID).hostEventPublisher
            .sink { [weak self] event in
                if case .onGuestApplicationReceived(let guestUser) = event {
                    self?.shown.append("\(guestUser.userID) applies")
                }
            }
            .store(in: &self.cancellables)
    }

    /// Logs the user in, and sets the user's nickname.
    public func login(userID: String, token: String) {
        self.plaza.loginStore.login(sdkAppID: 1, userID: userID, userSig: token, completion: self.record("login"))
        var profile = UserProfile(userID: userID)
        profile.nickname = "Nick"
        self.plaza.loginStore.setSelfInfo(userProfile: profile, completion: self.record("setSelfInfo"))
    }

    /// Creates the live, and thereby enters it.
    public func goLive() {
        var info = LiveInfo(seatTemplate: .videoDynamicGrid9Seats)
        info.liveID = self.liveID
        info.liveName = "Live"
        info.categoryList = [NSNumber(value: 3)]
        self.plaza.liveListStore.createLive(info, completion: self.record("createLive"))
    }

    /// Enters the live.
    public func enter() {
        self.plaza.liveListStore.joinLive(liveID: self.liveID, completion: self.record("joinLive"))
    }

    /// Reads pages of the list of lives, changes the live's notice, and sets, reads and deletes metadata of the live.
    public func useList() {
        let store = self.plaza.liveListStore
        let cursor = store.state.value.liveListCursor
        store.fetchLiveList(cursor: cursor, count: 20, completion: self.record("fetchLiveList"))
        store.fetchLiveList(cursor: "", count: 20, category: 3, completion: self.record("fetchLiveList of a category"))
        store.fetchLiveInfo(liveID: self.liveID, completion: self.record("fetchLiveInfo"))
        var info = LiveInfo()
        info.notice = "New"
        store.updateLiveInfo(info, modifyFlag: [.notice], completion: self.record("updateLiveInfo"))
        store.updateLiveMetaData(["product": "tea"], completion: self.record("updateLiveMetaData"))
        store.queryMetaData(keys: []) { [weak self] (result: Result<[String: String], ErrorInfo>) in
            if case .success(let values) = result { self?.shown.append("product \(values["product"] ?? "")") }
        }
        store.deleteLiveMetaData(keys: ["product"], completion: self.record("deleteLiveMetaData"))
        store.reset()
    }

    /// Reads the audience, makes a viewer an admin and a viewer again, and mutes and kicks this viewer.
    public func useAudience(with viewer: String) {
        let store = self.plaza.audienceStore(liveID: self.liveID)
        store.fetchAudienceList(completion: self.record("fetchAudienceList"))
        store.setAdministrator(userID: viewer, completion: self.record("setAdministrator"))
        store.revokeAdministrator(userID: viewer, completion: self.record("revokeAdministrator"))
        store.disableSendMessage(userID: viewer, isDisable: true, completion: self.record("disableSendMessage"))
        store.kickUserOutOfRoom(userID: viewer, completion: self.record("kickUserOutOfRoom"))
    }

    /// Sends messages, gifts and likes.
    public func useChat() {
        let barrage = self.plaza.barrageStore(liveID: self.liveID)
        barrage.sendTextMessage(text: "hello", extensionInfo: nil, completion: self.record("sendTextMessage"))
        barrage.sendCustomMessage(businessID: "vote", data: "{}", completion: self.record("sendCustomMessage"))
        var tip = Barrage()
        tip.textContent = "Welcome"
        barrage.appendLocalTip(message: tip)
        let gifts = self.plaza.giftStore(liveID: self.liveID)
        gifts.setLanguage("en")
        gifts.refreshUsableGifts(completion: self.record("refreshUsableGifts"))
        gifts.sendGift(giftID: "rose", count: 1, completion: self.record("sendGift"))
        gifts.sendGift(giftID: "rose", count: 1, receivers: ["host"], completion: self.record("sendGift to receivers"))
        gifts.setGiftEnabled(isEnabled: true, completion: self.record("setGiftEnabled"))
        self.plaza.likeStore(liveID: self.liveID).sendLike(completion: self.record("sendLike"))
    }

    /// Makes all calls about guests and seats; `user` is the one whom requests and seats concern.
    public func useSeats(with user: String) {
        let guests = self.plaza.coGuestStore(liveID: self.liveID)
        guests.applyForSeat(timeout: 30, extraInfo: nil, completion: self.record("applyForSeat"))
        guests.cancelApplication(completion: self.record("cancelApplication"))
        guests.acceptApplication(userID: user, completion: self.record("acceptApplication"))
        guests.rejectApplication(userID: user, completion: self.record("rejectApplication"))
        guests.inviteToSeat(userID: user, timeout: 30, extraInfo: nil, completion: self.record("inviteToSeat"))
        guests.cancelInvitation(inviteeID: user, completion: self.record("cancelInvitation"))
        guests.acceptInvitation(inviterID: user, completion: self.record("acceptInvitation"))
        guests.rejectInvitation(inviterID: user, completion: self.record("rejectInvitation"))
        let seats = self.plaza.seatStore(liveID: self.liveID)
        seats.takeSeat(seatIndex: 2, completion: self.record("takeSeat"))
        seats.lockSeat(seatIndex: 3, completion: self.record("lockSeat"))
        seats.unlockSeat(seatIndex: 3, completion: self.record("unlockSeat"))
        seats.moveUserToSeat(
            userID: user, targetIndex: 4, policy: .abortWhenOccupied, completion: self.record("moveUserToSeat"))
        seats.closeRemoteCamera(userID: user, completion: self.record("closeRemoteCamera"))
        seats.openRemoteCamera(userID: user, policy: .unlockOnly, completion: self.record("openRemoteCamera"))
        seats.closeRemoteMicrophone(userID: user, completion: self.record("closeRemoteMicrophone"))
        seats.openRemoteMicrophone(userID: user, policy: .unlockOnly, completion: self.record("openRemoteMicrophone"))
        seats.muteMicrophone()
        seats.unmuteMicrophone(completion: self.record("unmuteMicrophone"))
        seats.reportCamera(isOn: false, completion: self.record("reportCamera"))
        seats.reportSpeaking(level: 10, completion: self.record("reportSpeaking"))
        seats.reportSuspension(.inBackground, completion: self.record("reportSuspension"))
        seats.kickUserOutOfSeat(userID: user, completion: self.record("kickUserOutOfSeat"))
        seats.leaveSeat(completion: self.record("leaveSeat"))
        guests.disConnect(completion: self.record("disConnect"))
    }

    /// Makes all calls about a connection with another live, which `host` runs, and about a battle with this host.
    public func useConnection(with live: String, of host: String) {
        let hosts = self.plaza.coHostStore(liveID: self.liveID)
        hosts.getCoHostCandidates(cursor: "", completion: self.record("getCoHostCandidates"))
        hosts.requestHostConnection(
            targetHost: live, layoutTemplate: .hostDynamicGrid, timeout: 10,
            completion: self.record("requestHostConnection"))
        hosts.cancelHostConnection(toHostLiveID: live, completion: self.record("cancelHostConnection"))
        hosts.acceptHostConnection(fromHostLiveID: live, completion: self.record("acceptHostConnection"))
        hosts.rejectHostConnection(fromHostLiveID: live, completion: self.record("rejectHostConnection"))
        hosts.muteRemoteHostAudio(liveID: live, isMuted: true, completion: self.record("muteRemoteHostAudio"))
        let battles = self.plaza.battleStore(liveID: self.liveID)
        battles.requestBattle(config: BattleConfig(duration: 30), userIDList: [host], timeout: 10) {
            [weak self] result in
            switch result {
            case .success(let (battle, codes)): self?.shown.append("battle \(battle.battleID) \(codes)")
            case .failure(let error): self?.shown.append("no battle: \(error.message)")
            }
        }
        battles.cancelBattleRequest(battleId: "b", userIdList: [], completion: self.record("cancelBattleRequest"))
        battles.acceptBattle(battleID: "b", completion: self.record("acceptBattle"))
        battles.rejectBattle(battleID: "b", completion: self.record("rejectBattle"))
        battles.exitBattle(battleID: "b", completion: self.record("exitBattle"))
        hosts.exitHostConnection(completion: self.record("exitHostConnection"))
    }

    /// Uses camera, microphone and screen.
    public func useDevices() {
        let devices = self.plaza.deviceStore
        devices.openLocalCamera(isFront: true, completion: self.record("openLocalCamera"))
        devices.openLocalMicrophone(completion: self.record("openLocalMicrophone"))
        devices.switchCamera(isFront: false)
        devices.switchMirror(mirrorType: .auto)
        devices.updateVideoQuality(.quality1080P)
        devices.setAudioRoute(.speakerphone)
        devices.setCaptureVolume(volume: 80)
        devices.setOutputVolume(80)
        devices.startScreenShare(appGroup: "group")
        devices.stopScreenShare()
        devices.closeLocalCamera()
        devices.closeLocalMicrophone()
        devices.reset()
    }

    /// Ends the live as its owner, or leaves it, and logs out.
    public func close(asOwner: Bool) {
        let store = self.plaza.liveListStore
        if asOwner {
            store.endLive(completion: self.record("endLive"))
        } else {
            store.leaveLive(completion: self.record("leaveLive"))
        }
        self.plaza.loginStore.logout(completion: self.record("logout"))
    }

    /// Opens the stores of the default client, as most apps do.
    ///
    /// - Returns: whether a second request for the chat store of the live gives the same object.
    public static func openSharedStores(liveID: String) -> Bool {
        let barrageStore = BarrageStore.create(liveID: liveID)
        let stores: [AnyObject] = [
            LoginStore.shared, LiveListStore.shared, DeviceStore.shared, LiveAudienceStore.create(liveID: liveID),
            barrageStore, LiveSeatStore.create(liveID: liveID), CoGuestStore.create(liveID: liveID),
            CoHostStore.create(liveID: liveID), BattleStore.create(liveID: liveID),
            GiftStore.create(liveID: liveID), LikeStore.create(liveID: liveID),
            LiveSummaryStore.create(liveID: liveID),
        ]
        return stores.contains { $0 === BarrageStore.create(liveID: liveID) }
    }
}
