// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// The code for each live that a co-host request names (reference 8, TUIConnectionCode), and the code of section 16
/// behind it.
///
/// 5 (internal) is never given to a single live: a request that fails inside fails as a whole.
enum ConnectionCode: Int {
    /// Oneself.
    case unknown = -1
    case sent = 0
    case noSuchLive = 1
    /// Connected with the inviter, or somebody's request is open.
    case alreadyInvited = 2
    case connectedElsewhere = 3
    /// The connection or the inviter's list of open requests is full, or the voice live has too many on its seats.
    case full = 4
    case kindsDiffer = 6
}

/// The code for each live that a battle request names (reference 10, TUIBattleCode).
///
/// -1 and 5 are never given: a request that fails inside fails as a whole.
enum BattleCode: Int {
    case sent = 0
    case noSuchLive = 1
    /// Named twice, or the inviter itself.
    case alreadyInvited = 2
    /// In a battle, or one is being agreed on with it.
    case inAnotherBattle = 3
    /// Not in the inviter's connection.
    case hasLeft = 4
}

extension LiveCode {
    static func coHost(_ live: LiveID, _ code: ConnectionCode, _ reason: ReplyCode? = nil) -> LiveCode {
        LiveCode(live: live, code: code.rawValue, reason: reason)
    }

    static func battle(_ live: LiveID, _ code: BattleCode, _ reason: ReplyCode? = nil) -> LiveCode {
        LiveCode(live: live, code: code.rawValue, reason: reason)
    }
}
