// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import MachineKit
internal import PlazaModel

/// The state of `BattleStore`.
public struct BattleState: Sendable, Hashable {
    /// The running battle; nil if there is none.
    public var currentBattleInfo: BattleInfo?
    /// The hosts in the battle.
    public var battleUsers: [SeatUserInfo] = []
    /// The scores by user id; they remain after the battle, so that an app can show the result.
    public var battleScore: [String: UInt] = [:]

    /// Creates the initial state.
    public init() {}
}

/// An event of a battle.
public enum BattleEvent: Sendable, Hashable {
    /// The battle has begun.
    case onBattleStarted(battleInfo: BattleInfo, inviter: SeatUserInfo, invitees: [SeatUserInfo])
    /// The battle has ended.
    case onBattleEnded(battleInfo: BattleInfo, reason: BattleEndedReason)
    /// A host has joined the battle.
    case onUserJoinBattle(battleID: String, battleUser: SeatUserInfo)
    /// A host has left the battle.
    case onUserExitBattle(battleID: String, battleUser: SeatUserInfo)
    /// A host asks for a battle.
    case onBattleRequestReceived(battleID: String, inviter: SeatUserInfo, invitee: SeatUserInfo)
    /// A host has withdrawn its request for a battle.
    case onBattleRequestCancelled(battleID: String, inviter: SeatUserInfo, invitee: SeatUserInfo)
    /// A request for a battle has timed out.
    case onBattleRequestTimeout(battleID: String, inviter: SeatUserInfo, invitee: SeatUserInfo)
    /// A host has accepted a request.
    case onBattleRequestAccept(battleID: String, inviter: SeatUserInfo, invitee: SeatUserInfo)
    /// A host has declined a request.
    case onBattleRequestReject(battleID: String, inviter: SeatUserInfo, invitee: SeatUserInfo)
}

/// The settings of a battle.
public struct BattleConfig: Sendable, Hashable {
    /// The duration in seconds; 0 for the app's maximum.
    public var duration: TimeInterval
    /// Whether the battle waits until all invited hosts have answered and one has accepted, or begins at once.
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
    /// The settings.
    public var config: BattleConfig
    /// When the battle began, in seconds since 1970 by the server's clock; 0 before that.
    public var startTime: UInt
    /// When the battle ends, in seconds since 1970 by the server's clock (`LivePlaza.serverTime`); 0 before it began.
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
            startTime: UInt(clamping: battle.startTime.seconds), endTime: UInt(clamping: battle.endTime.seconds))
    }
}

/// How a battle ended.
public enum BattleEndedReason: Int, Sendable, Hashable {
    /// Its time is over.
    case timeOver
    /// All hosts have left it.
    case allMemberExit

    init(_ reason: BattleEndReason) { self = reason == .timeOver ? .timeOver : .allMemberExit }
}
