// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import MachineKit
internal import PlazaModel

/// What `BattleStore` shows.
public struct BattleState: Sendable, Hashable {
    /// The battle that runs; nil if none does.
    public var currentBattleInfo: BattleInfo?
    /// The hosts who fight.
    public var battleUsers: [SeatUserInfo] = []
    /// The scores by user id; they stay after the end, for a screen with the result.
    public var battleScore: [String: UInt] = [:]

    /// The state at the beginning.
    public init() {}
}

/// What happens in battles.
public enum BattleEvent: Sendable, Hashable {
    /// The battle has begun.
    case onBattleStarted(battleInfo: BattleInfo, inviter: SeatUserInfo, invitees: [SeatUserInfo])
    /// The battle has ended.
    case onBattleEnded(battleInfo: BattleInfo, reason: BattleEndedReason)
    /// A host came into the battle.
    case onUserJoinBattle(battleID: String, battleUser: SeatUserInfo)
    /// A host left the battle.
    case onUserExitBattle(battleID: String, battleUser: SeatUserInfo)
    /// A host asks for a battle.
    case onBattleRequestReceived(battleID: String, inviter: SeatUserInfo, invitee: SeatUserInfo)
    /// The host took it back.
    case onBattleRequestCancelled(battleID: String, inviter: SeatUserInfo, invitee: SeatUserInfo)
    /// A request's time is over.
    case onBattleRequestTimeout(battleID: String, inviter: SeatUserInfo, invitee: SeatUserInfo)
    /// A host accepted.
    case onBattleRequestAccept(battleID: String, inviter: SeatUserInfo, invitee: SeatUserInfo)
    /// A host declined.
    case onBattleRequestReject(battleID: String, inviter: SeatUserInfo, invitee: SeatUserInfo)
}

/// How a battle is fought.
public struct BattleConfig: Sendable, Hashable {
    /// In seconds; 0: the app's longest.
    public var duration: TimeInterval
    /// The hosts must accept.
    public var needResponse: Bool
    /// The app's own text.
    public var extensionInfo: String

    /// Makes a configuration.
    public init(duration: TimeInterval = 0, needResponse: Bool = false, extensionInfo: String = "") {
        self.duration = duration
        self.needResponse = needResponse
        self.extensionInfo = extensionInfo
    }
}

/// A battle.
public struct BattleInfo: Sendable, Hashable {
    /// The id.
    public var battleID: String
    /// How it is fought.
    public var config: BattleConfig
    /// In milliseconds since 1970, by the server's clock; 0 before its begin.
    public var startTime: UInt
    /// In milliseconds since 1970, by the server's clock; 0 before its begin.
    public var endTime: UInt

    /// Makes a battle.
    public init(battleID: String = "", config: BattleConfig = .init(), startTime: UInt = 0, endTime: UInt = 0) {
        self.battleID = battleID
        self.config = config
        self.startTime = startTime
        self.endTime = endTime
    }

    init(_ battle: BattleView) {
        self.init(
            battleID: battle.id.text,
            config: BattleConfig(
                duration: TimeInterval(battle.durationSeconds), needResponse: battle.needResponse,
                extensionInfo: battle.extensionInfo),
            startTime: UInt(clamping: battle.startTime.milliseconds),
            endTime: UInt(clamping: battle.endTime.milliseconds))
    }
}

/// How a battle ended.
public enum BattleEndedReason: Int, Sendable, Hashable {
    /// Its time is over.
    case timeOver
    /// All have left it.
    case allMemberExit

    init(_ reason: BattleEndReason) { self = reason == .timeOver ? .timeOver : .allMemberExit }
}
