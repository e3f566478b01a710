// SPDX-License-Identifier: Apache-2.0
import Foundation
import PlazaWire

@testable import LivePlazaKit

/// The parameters of a step of a conformance case, by their labels.
struct CaseParams {
    let value: JSONValue

    /// The parameter with this label; `defaultText` if it is missing or no text.
    func text(_ label: String, _ defaultText: String = "") -> String {
        if case .text(let text)? = self.value.members[label] { return text }
        return defaultText
    }

    /// The parameter with this label; `defaultNumber` if it is missing or no whole number.
    func number(_ label: String, _ defaultNumber: Int64) -> Int64 {
        if case .integer(let number)? = self.value.members[label] { return number }
        return defaultNumber
    }

    /// Whether the parameter with this label is true; false if it is missing.
    func bool(_ label: String) -> Bool { self.value.members[label] == .bool(true) }

    /// The texts in the array with this label; empty if it is missing.
    func texts(_ label: String) -> [String] { Self.texts(self.value.members[label]) }

    static func texts(_ value: JSONValue?) -> [String] {
        guard case .array(let values)? = value else { return [] }
        return values.compactMap { if case .text(let text) = $0 { text } else { nil } }
    }

    /// All members that are texts, by their keys.
    var textMembers: [String: String] {
        self.value.members.compactMapValues { if case .text(let text) = $0 { text } else { nil } }
    }

    /// The members of the object with this label; none if it is missing.
    func object(_ label: String) -> CaseParams { CaseParams(value: self.value.members[label] ?? .object([:])) }
}

/// Calls the methods of the stores by the names that conformance cases use.
struct StoreMethods {
    /// Receives the outcome of a call.
    typealias Done = @Sendable (Result<JSONValue, ErrorInfo>) -> Void

    let plaza: LivePlaza
    /// The user whose token logs in.
    let userID: String

    /// Calls a method of a store.
    ///
    /// - Returns: false if there is no method of this name here.
    func call(_ store: String, _ method: String, _ params: CaseParams, live: String, _ done: @escaping Done) -> Bool {
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
        case "like":
            // The store has only this method. A case that names another one fails, because false is returned.
            let count = UInt(params.number("count", 1))
            plaza.likeStore(liveID: live).sendLike(count: count, completion: Self.void(done))
            return method == "sendLike"
        default: return false
        }
    }

    private func call(_ store: LoginStore, _ method: String, _ params: CaseParams, _ done: @escaping Done) -> Bool {
        switch method {
        case "login":
            // The case's server does not check the token.
            store.login(sdkAppID: 1, userID: self.userID, userSig: "t.o.ken") { result in
                // The method returns nothing, so the user is read from the state.
                done(result.map { Reflection.json(store.state.value.loginUserInfo as Any) })
            }
        case "logout": store.logout(completion: Self.void(done))
        case "setSelfInfo":
            store.setSelfInfo(
                userProfile: UserProfile(userID: self.userID, nickname: params.text("nickname")),
                completion: Self.void(done))
        default: return false
        }
        return true
    }

    private func call(_ store: LiveListStore, _ method: String, _ params: CaseParams, _ done: @escaping Done) -> Bool {
        switch method {
        case "createLive": store.createLive(Self.info(params), completion: Self.value(done))
        case "joinLive": store.joinLive(liveID: params.text("liveID"), completion: Self.value(done))
        case "leaveLive": store.leaveLive(completion: Self.void(done))
        case "endLive": store.endLive(completion: Self.value(done))
        case "fetchLiveList":
            let count = Int(params.number("count", 20))
            store.fetchLiveList(cursor: params.text("cursor"), count: count, completion: Self.void(done))
        case "queryMetaData": store.queryMetaData(keys: params.texts("keys"), completion: Self.value(done))
        case "updateLiveMetaData": store.updateLiveMetaData(params.textMembers, completion: Self.void(done))
        // Cases change no other field than these two.
        case "updateLiveInfo":
            store.updateLiveInfo(Self.info(params), modifyFlag: [.liveName, .notice], completion: Self.void(done))
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
                userID: user, isDisable: params.bool("isDisable"), completion: Self.void(done))
        case "kickUserOutOfRoom": store.kickUserOutOfRoom(userID: user, completion: Self.void(done))
        case "setAdministrator": store.setAdministrator(userID: user, completion: Self.void(done))
        case "revokeAdministrator": store.revokeAdministrator(userID: user, completion: Self.void(done))
        case "fetchAudienceList": store.fetchAudienceList(completion: Self.void(done))
        default: return false
        }
        return true
    }

    private func call(_ store: BarrageStore, _ method: String, _ params: CaseParams, _ done: @escaping Done) -> Bool {
        switch method {
        case "sendTextMessage":
            store.sendTextMessage(text: params.text("text"), extensionInfo: nil, completion: Self.void(done))
        case "sendCustomMessage":
            store.sendCustomMessage(
                businessID: params.text("businessID"), data: params.text("data"), completion: Self.void(done))
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
        // The seat −1 stands for the lowest free one.
        let (seat, user) = (Int(params.number("seatIndex", -1)), params.text("userID"))
        switch method {
        case "takeSeat": store.takeSeat(seatIndex: seat, completion: Self.void(done))
        case "leaveSeat": store.leaveSeat(completion: Self.void(done))
        case "lockSeat": store.lockSeat(seatIndex: seat, completion: Self.void(done))
        case "unlockSeat": store.unlockSeat(seatIndex: seat, completion: Self.void(done))
        case "kickUserOutOfSeat": store.kickUserOutOfSeat(userID: user, completion: Self.void(done))
        case "moveUserToSeat":
            let policies: [String: MoveSeatPolicy] = [
                "abortWhenOccupied": .abortWhenOccupied, "forceReplace": .forceReplace, "swapPosition": .swapPosition,
            ]
            store.moveUserToSeat(
                userID: user, targetIndex: Int(params.number("targetIndex", 0)),
                policy: policies[params.text("policy")], completion: Self.void(done))
        case "unmuteMicrophone": store.unmuteMicrophone(completion: Self.void(done))
        case "muteMicrophone":
            store.muteMicrophone()
            done(.success(.null))
        case "openRemoteMicrophone":
            store.openRemoteMicrophone(userID: user, policy: .unlockOnly, completion: Self.void(done))
        case "openRemoteCamera":
            store.openRemoteCamera(userID: user, policy: .unlockOnly, completion: Self.void(done))
        case "closeRemoteMicrophone": store.closeRemoteMicrophone(userID: user, completion: Self.void(done))
        case "closeRemoteCamera": store.closeRemoteCamera(userID: user, completion: Self.void(done))
        default: return false
        }
        return true
    }

    private func call(_ store: CoGuestStore, _ method: String, _ params: CaseParams, _ done: @escaping Done) -> Bool {
        let (seat, user) = (Int(params.number("seatIndex", -1)), params.text("userID"))
        // A case that names no timeout expects the default of the SDKs that have one, 30 s.
        let timeout = TimeInterval(params.number("timeout", 30))
        switch method {
        case "applyForSeat":
            store.applyForSeat(
                seatIndex: seat, timeout: timeout, extraInfo: params.text("extraInfo"), completion: Self.void(done))
        case "cancelApplication": store.cancelApplication(completion: Self.void(done))
        case "inviteToSeat":
            store.inviteToSeat(
                userID: user, seatIndex: seat, timeout: timeout, extraInfo: nil, completion: Self.void(done))
        case "cancelInvitation":
            store.cancelInvitation(inviteeID: params.text("inviteeID"), completion: Self.void(done))
        case "acceptApplication": store.acceptApplication(userID: user, completion: Self.void(done))
        case "rejectApplication": store.rejectApplication(userID: user, completion: Self.void(done))
        case "acceptInvitation":
            store.acceptInvitation(inviterID: params.text("inviterID"), completion: Self.void(done))
        case "rejectInvitation":
            store.rejectInvitation(inviterID: params.text("inviterID"), completion: Self.void(done))
        case "disConnect": store.disConnect(completion: Self.void(done))
        default: return false
        }
        return true
    }

    private func call(_ store: CoHostStore, _ method: String, _ params: CaseParams, _ done: @escaping Done) -> Bool {
        switch method {
        case "requestHostConnection":
            // 600 is `hostDynamicGrid`, 601 is `hostDynamic1v6`.
            let isOneHostLarge = params.number("layoutTemplate", 600) == 601
            store.requestHostConnection(
                targetHost: params.text("targetHost"),
                layoutTemplate: isOneHostLarge ? .hostDynamic1v6 : .hostDynamicGrid,
                timeout: TimeInterval(params.number("timeout", 30)), extraInfo: params.text("extraInfo"),
                completion: Self.void(done))
        case "cancelHostConnection":
            store.cancelHostConnection(toHostLiveID: params.text("toHostLiveID"), completion: Self.void(done))
        case "acceptHostConnection":
            store.acceptHostConnection(fromHostLiveID: params.text("fromHostLiveID"), completion: Self.void(done))
        case "rejectHostConnection":
            store.rejectHostConnection(fromHostLiveID: params.text("fromHostLiveID"), completion: Self.void(done))
        case "exitHostConnection": store.exitHostConnection(completion: Self.void(done))
        case "getCoHostCandidates":
            store.getCoHostCandidates(cursor: params.text("cursor"), completion: Self.void(done))
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
                    duration: TimeInterval(config.number("duration", 0)), needResponse: config.bool("needResponse"),
                    extensionInfo: config.text("extensionInfo")),
                userIDList: params.texts("userIDList"), timeout: TimeInterval(params.number("timeout", 10))
            ) { result in
                done(
                    result.map { info, codes in
                        ["battleInfo": Reflection.json(info), "resultMap": Reflection.json(codes)]
                    })
            }
        case "acceptBattle": store.acceptBattle(battleID: battle, completion: Self.void(done))
        case "rejectBattle": store.rejectBattle(battleID: battle, completion: Self.void(done))
        case "exitBattle": store.exitBattle(battleID: battle, completion: Self.void(done))
        default: return false
        }
        return true
    }

    private func call(_ store: GiftStore, _ method: String, _ params: CaseParams, _ done: @escaping Done) -> Bool {
        switch method {
        case "refreshUsableGifts": store.refreshUsableGifts(completion: Self.void(done))
        case "sendGift":
            store.sendGift(
                giftID: params.text("giftID"), count: UInt(params.number("count", 1)), completion: Self.void(done))
        case "setLanguage":
            // This step has no labels: its parameter is the language itself.
            guard case .text(let language) = params.value else { return false }
            store.setLanguage(language)
            done(.success(.null))
        default: return false
        }
        return true
    }

    private static func info(_ params: CaseParams) -> LiveInfo {
        var info = LiveInfo()
        info.liveID = params.text("liveID")
        info.liveName = params.text("liveName")
        info.notice = params.text("notice")
        if params.text("seatMode") == "free" { info.seatMode = .free }
        return info
    }

    /// Makes the completion of a method without a result.
    private static func void(_ done: @escaping Done) -> @Sendable (Result<Void, ErrorInfo>) -> Void {
        { result in done(result.map { .null }) }
    }

    /// Makes the completion of a method with a result.
    private static func value<T>(_ done: @escaping Done) -> @Sendable (Result<T, ErrorInfo>) -> Void {
        { result in done(result.map { Reflection.json($0) }) }
    }
}
