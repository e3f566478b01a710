// SPDX-License-Identifier: Apache-2.0
internal import Foundation
package import LivePlazaKit
package import PlazaWire

/// Calls the methods of a client's stores by the names that conformance cases use, and reads the stores' states.
///
/// Each private `call` has the methods of one store; it returns false if the store has no method of the name.
package struct StoreMethods {
    /// The outcome of a call; the result of a method without a result is null.
    package typealias Outcome = Result<JSONValue, ErrorInfo>
    /// Receives the outcome of a call.
    package typealias Done = (Outcome) -> Void

    private let plaza: LivePlaza
    /// The user that logs in, and its token.
    private let (userID, token): (String, String)

    /// Gives access to the methods of a client's stores.
    ///
    /// - Parameters:
    ///   - plaza: the client.
    ///   - userID: the user that logs in.
    ///   - token: the user's token.
    package init(plaza: LivePlaza, userID: String, token: String) {
        self.plaza = plaza
        (self.userID, self.token) = (userID, token)
    }

    /// Calls a method of a store; `live` is the live of this store, if it is a store of one live.
    ///
    /// - Returns: false if this type knows no store or no method of this name.
    package func call(
        _ store: String, _ method: String, _ params: CaseParams, live: String, _ done: @escaping Done
    ) -> Bool {
        let plaza = self.plaza
        switch store {
        case "login": return self.call(plaza.loginStore, method, params, done)
        case "liveList": return self.call(plaza.liveListStore, method, params, done)
        case "audience": return self.call(plaza.audienceStore(liveID: live), method, params, done)
        case "barrage": return self.call(plaza.barrageStore(liveID: live), method, params, done)
        case "seat": return self.call(plaza.seatStore(liveID: live), method, params, done)
        case "coGuest": return self.call(plaza.coGuestStore(liveID: live), method, params, done)
        case "coHost": return self.call(plaza.coHostStore(liveID: live), method, params, done)
        case "battle": return self.call(plaza.battleStore(liveID: live), method, params, done)
        case "gift": return self.call(plaza.giftStore(liveID: live), method, params, done)
        case "like": return self.call(plaza.likeStore(liveID: live), method, params, done)
        default: return false
        }
    }

    /// The state of a store as JSON; null if there is no store of this name.
    package func state(of store: String, live: String) -> JSONValue {
        let plaza = self.plaza
        return switch store {
        case "login": Reflection.json(plaza.loginStore.state.value)
        case "liveList": Reflection.json(plaza.liveListStore.state.value)
        case "audience": Reflection.json(plaza.audienceStore(liveID: live).state.value)
        case "barrage": Reflection.json(plaza.barrageStore(liveID: live).state.value)
        case "seat": Reflection.json(plaza.seatStore(liveID: live).state.value)
        case "coGuest": Reflection.json(plaza.coGuestStore(liveID: live).state.value)
        case "coHost": Reflection.json(plaza.coHostStore(liveID: live).state.value)
        case "battle": Reflection.json(plaza.battleStore(liveID: live).state.value)
        case "gift": Reflection.json(plaza.giftStore(liveID: live).state.value)
        case "like": Reflection.json(plaza.likeStore(liveID: live).state.value)
        case "summary": Reflection.json(plaza.summaryStore(liveID: live).state.value)
        default: .null
        }
    }

    private func call(_ store: LoginStore, _ method: String, _ params: CaseParams, _ done: @escaping Done) -> Bool {
        switch method {
        case "login":
            store.login(sdkAppID: 1, userID: self.userID, userSig: self.token) { result in
                // `login` has no result, but conformance cases expect the user, which the state has.
                done(result.map { Reflection.json(store.state.value.loginUserInfo as Any) })
            }
        case "logout": store.logout(completion: Self.noValue(done))
        case "setSelfInfo":
            store.setSelfInfo(
                userProfile: UserProfile(userID: self.userID, nickname: params.text("nickname")),
                completion: Self.noValue(done))
        default: return false
        }
        return true
    }

    private func call(_ store: LiveListStore, _ method: String, _ params: CaseParams, _ done: @escaping Done) -> Bool {
        switch method {
        case "createLive": store.createLive(Self.liveInfo(params), completion: Self.withValue(done))
        case "joinLive": store.joinLive(liveID: params.text("liveID"), completion: Self.withValue(done))
        case "leaveLive": store.leaveLive(completion: Self.noValue(done))
        case "endLive": store.endLive(completion: Self.withValue(done))
        case "fetchLiveInfo": store.fetchLiveInfo(liveID: params.text("liveID"), completion: Self.withValue(done))
        case "fetchLiveList":
            let (cursor, count) = (params.text("cursor"), Int(params.number("count", default: 20)))
            if params.has("category") {
                store.fetchLiveList(
                    cursor: cursor, count: count, category: Int(params.number("category", default: 0)),
                    completion: Self.noValue(done))
            } else {
                store.fetchLiveList(cursor: cursor, count: count, completion: Self.noValue(done))
            }
        case "queryMetaData": store.queryMetaData(keys: params.texts("keys"), completion: Self.withValue(done))
        case "updateLiveMetaData": store.updateLiveMetaData(params.textMembers, completion: Self.noValue(done))
        case "deleteLiveMetaData":
            store.deleteLiveMetaData(keys: params.texts("keys"), completion: Self.noValue(done))
        case "updateLiveInfo":
            // Conformance cases change no other fields than the name and the notice.
            var fields: LiveInfo.ModifyFlag = []
            if params.has("liveName") { fields.insert(.liveName) }
            if params.has("notice") { fields.insert(.notice) }
            store.updateLiveInfo(Self.liveInfo(params), modifyFlag: fields, completion: Self.noValue(done))
        case "reset":
            store.reset()
            done(.success(.null))
        default: return false
        }
        return true
    }

    private func call(
        _ store: LiveAudienceStore, _ method: String, _ params: CaseParams, _ done: @escaping Done
    ) -> Bool {
        let user = params.text("userID")
        switch method {
        case "disableSendMessage":
            store.disableSendMessage(
                userID: user, isDisable: params.bool("isDisable"), completion: Self.noValue(done))
        case "kickUserOutOfRoom": store.kickUserOutOfRoom(userID: user, completion: Self.noValue(done))
        case "setAdministrator": store.setAdministrator(userID: user, completion: Self.noValue(done))
        case "revokeAdministrator": store.revokeAdministrator(userID: user, completion: Self.noValue(done))
        case "fetchAudienceList": store.fetchAudienceList(completion: Self.noValue(done))
        default: return false
        }
        return true
    }

    private func call(_ store: BarrageStore, _ method: String, _ params: CaseParams, _ done: @escaping Done) -> Bool {
        switch method {
        case "sendTextMessage":
            store.sendTextMessage(text: params.text("text"), extensionInfo: nil, completion: Self.noValue(done))
        case "sendCustomMessage":
            store.sendCustomMessage(
                businessID: params.text("businessID"), data: params.text("data"), completion: Self.noValue(done))
        case "appendLocalTip":
            var tip = Barrage()
            tip.textContent = params.text("textContent")
            store.appendLocalTip(message: tip)
            done(.success(.null))
        default: return false
        }
        return true
    }

    private func call(_ store: LiveSeatStore, _ method: String, _ params: CaseParams, _ done: @escaping Done) -> Bool {
        let (seat, user) = (Self.seatIndex(params), params.text("userID"))
        switch method {
        case "takeSeat": store.takeSeat(seatIndex: seat, completion: Self.noValue(done))
        case "leaveSeat": store.leaveSeat(completion: Self.noValue(done))
        case "lockSeat": store.lockSeat(seatIndex: seat, completion: Self.noValue(done))
        case "unlockSeat": store.unlockSeat(seatIndex: seat, completion: Self.noValue(done))
        case "kickUserOutOfSeat": store.kickUserOutOfSeat(userID: user, completion: Self.noValue(done))
        case "moveUserToSeat":
            let policies: [String: MoveSeatPolicy] = [
                "abortWhenOccupied": .abortWhenOccupied, "forceReplace": .forceReplace, "swapPosition": .swapPosition,
            ]
            store.moveUserToSeat(
                userID: user, targetIndex: Int(params.number("targetIndex", default: 0)),
                policy: policies[params.text("policy")], completion: Self.noValue(done))
        case "unmuteMicrophone": store.unmuteMicrophone(completion: Self.noValue(done))
        case "muteMicrophone":
            store.muteMicrophone()
            done(.success(.null))
        case "reportCamera": store.reportCamera(isOn: params.bool("isOn"), completion: Self.noValue(done))
        case "reportSpeaking":
            store.reportSpeaking(level: Int(params.number("level", default: 0)), completion: Self.noValue(done))
        case "reportSuspension":
            // The parameters of `reportSuspension` are not an object, but the status itself.
            let statuses: [JSONValue: SuspendStatus] = [
                "none": .none, "inBackground": .inBackground, "inCalling": .inCalling,
            ]
            guard let status = statuses[params.value] else { return false }
            store.reportSuspension(status, completion: Self.noValue(done))
        case "openRemoteMicrophone":
            store.openRemoteMicrophone(userID: user, policy: .unlockOnly, completion: Self.noValue(done))
        case "openRemoteCamera":
            store.openRemoteCamera(userID: user, policy: .unlockOnly, completion: Self.noValue(done))
        case "closeRemoteMicrophone": store.closeRemoteMicrophone(userID: user, completion: Self.noValue(done))
        case "closeRemoteCamera": store.closeRemoteCamera(userID: user, completion: Self.noValue(done))
        default: return false
        }
        return true
    }

    private func call(_ store: CoGuestStore, _ method: String, _ params: CaseParams, _ done: @escaping Done) -> Bool {
        let (seat, user) = (Self.seatIndex(params), params.text("userID"))
        let timeout = Self.timeout(params, default: 30)
        switch method {
        case "applyForSeat":
            store.applyForSeat(
                seatIndex: seat, timeout: timeout, extraInfo: params.optionalText("extraInfo"),
                completion: Self.noValue(done))
        case "cancelApplication": store.cancelApplication(completion: Self.noValue(done))
        case "inviteToSeat":
            store.inviteToSeat(
                userID: user, seatIndex: seat, timeout: timeout, extraInfo: params.optionalText("extraInfo"),
                completion: Self.noValue(done))
        case "cancelInvitation":
            store.cancelInvitation(inviteeID: params.text("inviteeID"), completion: Self.noValue(done))
        case "acceptApplication": store.acceptApplication(userID: user, completion: Self.noValue(done))
        case "rejectApplication": store.rejectApplication(userID: user, completion: Self.noValue(done))
        case "acceptInvitation":
            store.acceptInvitation(inviterID: params.text("inviterID"), completion: Self.noValue(done))
        case "rejectInvitation":
            store.rejectInvitation(inviterID: params.text("inviterID"), completion: Self.noValue(done))
        case "disConnect": store.disConnect(completion: Self.noValue(done))
        default: return false
        }
        return true
    }

    private func call(_ store: CoHostStore, _ method: String, _ params: CaseParams, _ done: @escaping Done) -> Bool {
        switch method {
        case "requestHostConnection":
            // The layouts by their numbers: 600 is `hostDynamicGrid`, 601 is `hostDynamic1v6`.
            let layoutNumber = params.number("layoutTemplate", default: 600)
            store.requestHostConnection(
                targetHost: params.text("targetHost"),
                layoutTemplate: layoutNumber == 601 ? .hostDynamic1v6 : .hostDynamicGrid,
                timeout: Self.timeout(params, default: 30), extraInfo: params.text("extraInfo"),
                completion: Self.noValue(done))
        case "cancelHostConnection":
            store.cancelHostConnection(toHostLiveID: params.text("toHostLiveID"), completion: Self.noValue(done))
        case "acceptHostConnection":
            store.acceptHostConnection(fromHostLiveID: params.text("fromHostLiveID"), completion: Self.noValue(done))
        case "rejectHostConnection":
            store.rejectHostConnection(fromHostLiveID: params.text("fromHostLiveID"), completion: Self.noValue(done))
        case "muteRemoteHostAudio":
            store.muteRemoteHostAudio(
                liveID: params.text("liveID"), isMuted: params.bool("isMuted"), completion: Self.noValue(done))
        case "exitHostConnection": store.exitHostConnection(completion: Self.noValue(done))
        case "getCoHostCandidates":
            store.getCoHostCandidates(cursor: params.text("cursor"), completion: Self.noValue(done))
        default: return false
        }
        return true
    }

    private func call(_ store: BattleStore, _ method: String, _ params: CaseParams, _ done: @escaping Done) -> Bool {
        let battle = params.text("battleID")
        switch method {
        case "requestBattle":
            let config = params.object("config")
            store.requestBattle(
                config: BattleConfig(
                    duration: TimeInterval(config.number("duration", default: 0)),
                    needResponse: config.bool("needResponse"), extensionInfo: config.text("extensionInfo")),
                userIDList: params.texts("userIDList"), timeout: Self.timeout(params, default: 10)
            ) { result in
                done(
                    result.map { info, codes in
                        ["battleInfo": Reflection.json(info), "resultMap": Reflection.json(codes)]
                    })
            }
        case "cancelBattleRequest":
            store.cancelBattleRequest(
                battleId: params.text("battleId"), userIdList: params.texts("userIdList"),
                completion: Self.noValue(done))
        case "acceptBattle": store.acceptBattle(battleID: battle, completion: Self.noValue(done))
        case "rejectBattle": store.rejectBattle(battleID: battle, completion: Self.noValue(done))
        case "exitBattle": store.exitBattle(battleID: battle, completion: Self.noValue(done))
        default: return false
        }
        return true
    }

    private func call(_ store: GiftStore, _ method: String, _ params: CaseParams, _ done: @escaping Done) -> Bool {
        switch method {
        case "refreshUsableGifts": store.refreshUsableGifts(completion: Self.noValue(done))
        case "setGiftEnabled":
            store.setGiftEnabled(isEnabled: params.bool("isEnabled"), completion: Self.noValue(done))
        case "sendGift":
            let (gift, count) = (params.text("giftID"), UInt(params.number("count", default: 1)))
            if params.has("receivers") {
                store.sendGift(
                    giftID: gift, count: count, receivers: params.texts("receivers"), completion: Self.noValue(done))
            } else {
                store.sendGift(giftID: gift, count: count, completion: Self.noValue(done))
            }
        case "setLanguage":
            // The parameters of `setLanguage` are not an object, but the language itself.
            guard case .text(let language) = params.value else { return false }
            store.setLanguage(language)
            done(.success(.null))
        default: return false
        }
        return true
    }

    private func call(_ store: LikeStore, _ method: String, _ params: CaseParams, _ done: @escaping Done) -> Bool {
        guard method == "sendLike" else { return false }
        store.sendLike(count: UInt(params.number("count", default: 1)), completion: Self.noValue(done))
        return true
    }

    /// The parameter `seatIndex`; −1 stands for the lowest free seat.
    private static func seatIndex(_ params: CaseParams) -> Int { Int(params.number("seatIndex", default: -1)) }

    /// The parameter `timeout`; cases may leave it to the server, but Swift's methods require one.
    private static func timeout(_ params: CaseParams, default seconds: Int64) -> TimeInterval {
        TimeInterval(params.number("timeout", default: seconds))
    }

    /// The info of a live with the fields that conformance cases set.
    private static func liveInfo(_ params: CaseParams) -> LiveInfo {
        var info = LiveInfo()
        info.liveID = params.text("liveID")
        info.liveName = params.text("liveName")
        info.notice = params.text("notice")
        if params.text("seatMode") == "free" { info.seatMode = .free }
        return info
    }

    /// Makes the completion of a method without a result.
    private static func noValue(_ done: @escaping Done) -> (Result<Void, ErrorInfo>) -> Void {
        { result in done(result.map { .null }) }
    }

    /// Makes the completion of a method with a result.
    private static func withValue<T>(_ done: @escaping Done) -> (Result<T, ErrorInfo>) -> Void {
        { result in done(result.map { Reflection.json($0) }) }
    }
}
