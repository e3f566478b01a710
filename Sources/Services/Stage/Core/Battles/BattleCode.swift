// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// The result code for each live that a battle request names (R10.1).
///
/// Codes -1 (unknown) and 5 (internal error) are not used: when an internal error occurs, the whole request fails.
enum BattleCode: Int {
    case sent = 0
    case noSuchLive = 1
    /// The request has named the live before, or the live is the inviter.
    case alreadyInvited = 2
    /// The live is in a battle, or has an open battle request.
    case inAnotherBattle = 3
    /// The live is not in the inviter's connection.
    case hasLeft = 4
}

extension LiveCode {
    /// The code of a battle request for one live.
    static func battle(_ live: LiveID, _ code: BattleCode, _ reason: ReplyCode? = nil) -> LiveCode {
        LiveCode(live: live, code: code.rawValue, reason: reason)
    }
}
