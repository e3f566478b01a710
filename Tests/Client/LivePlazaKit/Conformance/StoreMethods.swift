// SPDX-License-Identifier: Apache-2.0
import Foundation
import PlazaWire
import Testing

@testable import LivePlazaKit

/// The parameters of a step of a conformance case: usually an object, whose keys are the labels of the parameters.
struct CaseParams {
    let value: JSONValue

    /// The parameter with this label; `defaultText` if it is missing.
    func text(_ label: String, default defaultText: String = "") -> String {
        self.read(label) { Self.text($0) } ?? defaultText
    }

    /// The parameter with this label, a whole number; `defaultNumber` if it is missing.
    func number(_ label: String, default defaultNumber: Int64) -> Int64 {
        self.read(label) { if case .integer(let number) = $0 { number } else { nil } } ?? defaultNumber
    }

    /// Whether the parameter with this label is true; false if it is missing.
    func bool(_ label: String) -> Bool {
        self.read(label) { if case .bool(let isTrue) = $0 { isTrue } else { nil } } ?? false
    }

    /// The texts in the array with this label; empty if it is missing.
    func texts(_ label: String) -> [String] {
        let values: [JSONValue] = self.read(label) { if case .array(let values) = $0 { values } else { nil } } ?? []
        return values.compactMap { value in
            let text = Self.text(value)
            if text == nil { Issue.record("\(label) has an entry that is no text: \(value)") }
            return text
        }
    }

    /// All parameters, which are texts, by their labels.
    var textMembers: [String: String] {
        Dictionary(uniqueKeysWithValues: self.value.members.keys.map { ($0, self.text($0)) })
    }

    private static func text(_ value: JSONValue) -> String? { if case .text(let text) = value { text } else { nil } }

    /// The parameter with this label in the form that `read` expects; nil if it is missing.
    ///
    /// A parameter of another form is an issue of the test: with a default in its place, the case would test something
    /// else than it says.
    private func read<Value>(_ label: String, _ read: (JSONValue) -> Value?) -> Value? {
        guard let value = self.value.members[label] else { return nil }
        let result = read(value)
        if result == nil { Issue.record("\(label) has another form: \(value)") }
        return result
    }

    /// The parameters in the object with this label; none if the object is missing.
    func object(_ label: String) -> CaseParams { CaseParams(value: self.value.members[label] ?? .object([:])) }
}

/// Calls the methods of the stores by the names that conformance cases use.
///
/// Each private `call` has the methods of one store; it returns false if the store has no method of the name.
struct StoreMethods {
    /// Receives the outcome of a call; the result of a method without a result is null.
    typealias Done = @Sendable (Result<JSONValue, ErrorInfo>) -> Void

    let plaza: LivePlaza
    /// The user that logs in.
    let userID: String

    /// Calls a method of a store; `live` is the live of this store, if it is a store of one live.
    ///
    /// - Returns: false if there is no store or no method of this name here.
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
        case "like": return self.call(plaza.likeStore(liveID: live), method, params, done)
        default: return false
        }
    }

    private func call(_ store: LoginStore, _ method: String, _ params: CaseParams, _ done: @escaping Done) -> Bool {
        switch method {
        case "login":
            // The server of a conformance case does not check the token.
            store.login(sdkAppID: 1, userID: self.userID, userSig: "t.o.ken") { result in
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
        case "fetchLiveList":
            let count = Int(params.number("count", default: 20))
            store.fetchLiveList(cursor: params.text("cursor"), count: count, completion: Self.noValue(done))
        case "queryMetaData": store.queryMetaData(keys: params.texts("keys"), completion: Self.withValue(done))
        case "updateLiveMetaData": store.updateLiveMetaData(params.textMembers, completion: Self.noValue(done))
        // Conformance cases change no other fields than the name and the notice.
        case "updateLiveInfo":
            let info = Self.liveInfo(params)
            store.updateLiveInfo(info, modifyFlag: [.liveName, .notice], completion: Self.noValue(done))
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
                seatIndex: seat, timeout: timeout, extraInfo: params.text("extraInfo"), completion: Self.noValue(done))
        case "cancelApplication": store.cancelApplication(completion: Self.noValue(done))
        case "inviteToSeat":
            store.inviteToSeat(
                userID: user, seatIndex: seat, timeout: timeout, extraInfo: nil, completion: Self.noValue(done))
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
        case "sendGift":
            store.sendGift(
                giftID: params.text("giftID"), count: UInt(params.number("count", default: 1)),
                completion: Self.noValue(done))
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
    private static func noValue(_ done: @escaping Done) -> @Sendable (Result<Void, ErrorInfo>) -> Void {
        { result in done(result.map { .null }) }
    }

    /// Makes the completion of a method with a result.
    private static func withValue<T>(_ done: @escaping Done) -> @Sendable (Result<T, ErrorInfo>) -> Void {
        { result in done(result.map { Reflection.json($0) }) }
    }
}
