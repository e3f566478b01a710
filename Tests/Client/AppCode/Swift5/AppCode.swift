// SPDX-License-Identifier: Apache-2.0
import Foundation
import LivePlazaCombine
import LivePlazaKit

/// An app's code over the stores, as its developers write it: in Swift 5 mode a plain class, in Swift 6 mode one on the
/// main actor.
///
/// Two targets compile this file. `AppCodeTests` runs it; `StoreCoverageTests` checks that it calls every method.
#if swift(>=6)
@MainActor
#endif
public final class AppCode {
    /// The calls that have ended; a call that has failed is followed by its error.
    public private(set) var ended: [String] = []
    /// The calls that were made and have a completion.
    public private(set) var begun: [String] = []
    /// What the subscriptions have received.
    public private(set) var shown: [String] = []

    private let plaza: LivePlaza
    private let liveID: String
    private var cancellables = Set<AnyCancellable>()

    /// Makes the app's part for one live, and subscribes to the stores.
    public init(plaza: LivePlaza, liveID: String) {
        self.plaza = plaza
        self.liveID = liveID
        self.bind()
    }

    /// Records that a call was made, and returns its completion, which records the result.
    private func note<Value>(_ call: String) -> (Result<Value, ErrorInfo>) -> Void {
        self.begun.append(call)
        return { [weak self] result in
            switch result {
            case .success: self?.ended.append(call)
            case .failure(let error): self?.ended.append("\(call): \(error.code) \(error.localizedDescription)")
            }
        }
    }

    /// Subscribes to the stores, and retains the subscriptions but no store.
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
        self.plaza.loginStore.login(sdkAppID: 1, userID: userID, userSig: token, completion: self.note("login"))
        var profile = UserProfile(userID: userID)
        profile.nickname = "Nick"
        self.plaza.loginStore.setSelfInfo(userProfile: profile, completion: self.note("setSelfInfo"))
    }

    /// Creates the live, and thereby enters it.
    public func goLive() {
        var info = LiveInfo(seatTemplate: .videoDynamicGrid9Seats)
        info.liveID = self.liveID
        info.liveName = "Live"
        info.categoryList = [NSNumber(value: 3)]
        self.plaza.liveListStore.createLive(info, completion: self.note("createLive"))
    }

    /// Enters the live.
    public func enter() { self.plaza.liveListStore.joinLive(liveID: self.liveID, completion: self.note("joinLive")) }

    /// Reads the list of lives with paging and a category, and changes the live's settings and its product card.
    public func useList() {
        let store = self.plaza.liveListStore
        store.fetchLiveList(cursor: store.state.value.liveListCursor, count: 20, completion: self.note("fetchLiveList"))
        store.fetchLiveList(cursor: "", count: 20, category: 3, completion: self.note("fetchLiveList of a category"))
        store.fetchLiveInfo(liveID: self.liveID, completion: self.note("fetchLiveInfo"))
        var info = LiveInfo()
        info.notice = "New"
        store.updateLiveInfo(info, modifyFlag: [.notice], completion: self.note("updateLiveInfo"))
        store.updateLiveMetaData(["product": "tea"], completion: self.note("updateLiveMetaData"))
        store.queryMetaData(keys: []) { [weak self] (result: Result<[String: String], ErrorInfo>) in
            if case .success(let values) = result { self?.shown.append("product \(values["product"] ?? "")") }
        }
        store.deleteLiveMetaData(keys: ["product"], completion: self.note("deleteLiveMetaData"))
        store.reset()
    }

    /// Reads the audience, and gives a viewer rights and sanctions.
    public func useAudience(of viewer: String) {
        let store = self.plaza.audienceStore(liveID: self.liveID)
        store.fetchAudienceList(completion: self.note("fetchAudienceList"))
        store.setAdministrator(userID: viewer, completion: self.note("setAdministrator"))
        store.revokeAdministrator(userID: viewer, completion: self.note("revokeAdministrator"))
        store.disableSendMessage(userID: viewer, isDisable: true, completion: self.note("disableSendMessage"))
        store.kickUserOutOfRoom(userID: viewer, completion: self.note("kickUserOutOfRoom"))
    }

    /// Sends messages, gifts and likes.
    public func useChat() {
        let barrage = self.plaza.barrageStore(liveID: self.liveID)
        barrage.sendTextMessage(text: "hello", extensionInfo: nil, completion: self.note("sendTextMessage"))
        barrage.sendCustomMessage(businessID: "vote", data: "{}", completion: self.note("sendCustomMessage"))
        var tip = Barrage()
        tip.textContent = "Welcome"
        barrage.appendLocalTip(message: tip)
        let gifts = self.plaza.giftStore(liveID: self.liveID)
        gifts.setLanguage("en")
        gifts.refreshUsableGifts(completion: self.note("refreshUsableGifts"))
        gifts.sendGift(giftID: "rose", count: 1, completion: self.note("sendGift"))
        gifts.sendGift(giftID: "rose", count: 1, receivers: ["host"], completion: self.note("sendGift to receivers"))
        gifts.setGiftEnabled(isEnabled: true, completion: self.note("setGiftEnabled"))
        self.plaza.likeStore(liveID: self.liveID).sendLike(completion: self.note("sendLike"))
    }

    /// Makes all calls about guests and their seats.
    public func useSeats(with user: String) {
        let guests = self.plaza.coGuestStore(liveID: self.liveID)
        guests.applyForSeat(timeout: 30, extraInfo: nil, completion: self.note("applyForSeat"))
        guests.cancelApplication(completion: self.note("cancelApplication"))
        guests.acceptApplication(userID: user, completion: self.note("acceptApplication"))
        guests.rejectApplication(userID: user, completion: self.note("rejectApplication"))
        guests.inviteToSeat(userID: user, timeout: 30, extraInfo: nil, completion: self.note("inviteToSeat"))
        guests.cancelInvitation(inviteeID: user, completion: self.note("cancelInvitation"))
        guests.acceptInvitation(inviterID: user, completion: self.note("acceptInvitation"))
        guests.rejectInvitation(inviterID: user, completion: self.note("rejectInvitation"))
        let seats = self.plaza.seatStore(liveID: self.liveID)
        seats.takeSeat(seatIndex: 2, completion: self.note("takeSeat"))
        seats.lockSeat(seatIndex: 3, completion: self.note("lockSeat"))
        seats.unlockSeat(seatIndex: 3, completion: self.note("unlockSeat"))
        seats.moveUserToSeat(
            userID: user, targetIndex: 4, policy: .abortWhenOccupied, completion: self.note("moveUserToSeat"))
        seats.closeRemoteCamera(userID: user, completion: self.note("closeRemoteCamera"))
        seats.openRemoteCamera(userID: user, policy: .unlockOnly, completion: self.note("openRemoteCamera"))
        seats.closeRemoteMicrophone(userID: user, completion: self.note("closeRemoteMicrophone"))
        seats.openRemoteMicrophone(userID: user, policy: .unlockOnly, completion: self.note("openRemoteMicrophone"))
        seats.muteMicrophone()
        seats.unmuteMicrophone(completion: self.note("unmuteMicrophone"))
        seats.reportCamera(isOn: false, completion: self.note("reportCamera"))
        seats.reportSpeaking(level: 10, completion: self.note("reportSpeaking"))
        seats.reportSuspension(.inBackground, completion: self.note("reportSuspension"))
        seats.kickUserOutOfSeat(userID: user, completion: self.note("kickUserOutOfSeat"))
        seats.leaveSeat(completion: self.note("leaveSeat"))
        guests.disConnect(completion: self.note("disConnect"))
    }

    /// Makes all calls about a connection with another host, and a battle with that host.
    public func useHosts(of live: String, host: String) {
        let hosts = self.plaza.coHostStore(liveID: self.liveID)
        hosts.getCoHostCandidates(cursor: "", completion: self.note("getCoHostCandidates"))
        hosts.requestHostConnection(
            targetHost: live, layoutTemplate: .hostDynamicGrid, timeout: 10,
            completion: self.note("requestHostConnection"))
        hosts.cancelHostConnection(toHostLiveID: live, completion: self.note("cancelHostConnection"))
        hosts.acceptHostConnection(fromHostLiveID: live, completion: self.note("acceptHostConnection"))
        hosts.rejectHostConnection(fromHostLiveID: live, completion: self.note("rejectHostConnection"))
        hosts.muteRemoteHostAudio(liveID: live, isMuted: true, completion: self.note("muteRemoteHostAudio"))
        let battles = self.plaza.battleStore(liveID: self.liveID)
        battles.requestBattle(config: BattleConfig(duration: 30), userIDList: [host], timeout: 10) {
            [weak self] result in
            switch result {
            case .success(let (battle, codes)): self?.shown.append("battle \(battle.battleID) \(codes)")
            case .failure(let error): self?.shown.append("no battle: \(error.message)")
            }
        }
        battles.cancelBattleRequest(battleId: "b", userIdList: [], completion: self.note("cancelBattleRequest"))
        battles.acceptBattle(battleID: "b", completion: self.note("acceptBattle"))
        battles.rejectBattle(battleID: "b", completion: self.note("rejectBattle"))
        battles.exitBattle(battleID: "b", completion: self.note("exitBattle"))
        hosts.exitHostConnection(completion: self.note("exitHostConnection"))
    }

    /// Uses camera, microphone and screen.
    public func useDevices() {
        let devices = self.plaza.deviceStore
        devices.openLocalCamera(isFront: true, completion: self.note("openLocalCamera"))
        devices.openLocalMicrophone(completion: self.note("openLocalMicrophone"))
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
            store.endLive(completion: self.note("endLive"))
        } else {
            store.leaveLive(completion: self.note("leaveLive"))
        }
        self.plaza.loginStore.logout(completion: self.note("logout"))
    }

    /// Opens the stores of the default client, which most apps use; returns whether a live has one chat store only.
    public static func openSharedStores(liveID: String) -> Bool {
        let stores: [AnyObject] = [
            LoginStore.shared, LiveListStore.shared, DeviceStore.shared, LiveAudienceStore.create(liveID: liveID),
            BarrageStore.create(liveID: liveID), LiveSeatStore.create(liveID: liveID),
            CoGuestStore.create(liveID: liveID), CoHostStore.create(liveID: liveID),
            BattleStore.create(liveID: liveID), GiftStore.create(liveID: liveID), LikeStore.create(liveID: liveID),
            LiveSummaryStore.create(liveID: liveID),
        ]
        let firstBarrageStore = stores[4]
        return BarrageStore.create(liveID: liveID) === firstBarrageStore
    }
}
