// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// The result code for each live that a co-host request names (R8.1).
///
/// Only co-host requests use these codes. `LiveCode.reason` adds the reply code with which other calls report the same
/// reason (R8.3).
///
/// Code 5 (internal error) is not used: when an internal error occurs, the whole request fails.
enum CoHostCode: Int {
    /// The request names the live that sends it.
    case isInviter = -1
    /// The request was sent to the live.
    case sent = 0
    case noSuchLive = 1
    /// The live is connected with the inviter, or has an open request from any live.
    case alreadyInvited = 2
    case connectedElsewhere = 3
    /// The inviter's connection or list of open requests is full, or the live is a voice live with too many occupied
    /// seats.
    case full = 4
    /// One of the lives is a voice live, and the other is a video live.
    case kindsDiffer = 6
}

extension LiveCode {
    /// The code of a co-host request for one live.
    static func coHost(_ live: LiveID, _ code: CoHostCode, _ reason: ReplyCode? = nil) -> LiveCode {
        LiveCode(live: live, code: code.rawValue, reason: reason)
    }
}
