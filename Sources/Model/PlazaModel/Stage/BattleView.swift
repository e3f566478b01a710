// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// One live's side of a battle.
package struct BattleSide: Hashable, Sendable, Codable {
    package var live: LiveID
    package var host: UserInfo
    package var score: Int64
    /// Whether the live left the battle before its end.
    package var hasLeft: Bool

    package init(live: LiveID, host: UserInfo, score: Int64 = 0, hasLeft: Bool = false) {
        self.live = live
        self.host = host
        self.score = score
        self.hasLeft = hasLeft
    }
}

/// How a battle ended (R10.5, R10.15).
package enum BattleEndReason: String, Hashable, Sendable, Codable {
    case timeOver
    case allMemberExit
}

/// A battle that has started, as each of its lives displays it.
///
/// An ended battle is displayed with its result until the next battle starts.
package struct BattleView: Hashable, Sendable, Codable {
    package var id: BattleID
    package var extensionInfo: String
    /// The agreed duration in seconds.
    package var durationSeconds: Int64
    /// Whether the invited lives had to accept.
    package var needResponse: Bool
    package var startTime: Timestamp
    /// The planned end time; once `ended` is set, the actual end time.
    package var endTime: Timestamp
    /// The inviter's side first, then the invited lives' sides in the order of invitation.
    package var sides: [BattleSide]
    /// How the battle ended, which makes the scores final; nil while it runs.
    package var ended: BattleEndReason?

    package init(
        id: BattleID, extensionInfo: String, durationSeconds: Int64, needResponse: Bool = false, startTime: Timestamp,
        endTime: Timestamp, sides: [BattleSide], ended: BattleEndReason? = nil
    ) {
        self.id = id
        self.extensionInfo = extensionInfo
        self.durationSeconds = durationSeconds
        self.needResponse = needResponse
        self.startTime = startTime
        self.endTime = endTime
        self.sides = sides
        self.ended = ended
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.id = try values.decode(BattleID.self, forKey: .id)
        self.extensionInfo = try values.decode(String.self, forKey: .extensionInfo)
        self.startTime = try values.decode(Timestamp.self, forKey: .startTime)
        self.endTime = try values.decode(Timestamp.self, forKey: .endTime)
        // Records of earlier versions have no duration.
        self.durationSeconds =
            try values.decodeIfPresent(Int64.self, forKey: .durationSeconds)
            ?? (self.endTime - self.startTime).count / 1000
        self.needResponse = try values.decodeIfPresent(Bool.self, forKey: .needResponse) ?? false
        self.sides = try values.decode([BattleSide].self, forKey: .sides)
        self.ended = try values.decodeIfPresent(BattleEndReason.self, forKey: .ended)
    }
}

/// All details of a battle, from the first invitation on; for an app's server (R13.25).
package struct BattleDetails: Hashable, Sendable, Codable {
    /// A live that was invited and has not declined.
    package struct Invitee: Hashable, Sendable, Codable {
        package var live: LiveID
        package var hasAccepted: Bool

        package init(live: LiveID, hasAccepted: Bool) {
            self.live = live
            self.hasAccepted = hasAccepted
        }
    }

    package var id: BattleID
    package var inviter: LiveID
    package var createTime: Timestamp
    package var durationSeconds: Int64
    package var needResponse: Bool
    package var extensionInfo: String
    /// When the open invitations expire; nil if no invitation is open.
    package var expiresAt: Timestamp?
    /// The invited lives; empty once the battle has started.
    package var invitees: [Invitee]
    /// The started battle: sides, times, scores and end reason; nil before the start.
    package var battle: BattleView?

    package init(
        id: BattleID, inviter: LiveID, createTime: Timestamp, durationSeconds: Int64, needResponse: Bool,
        extensionInfo: String, expiresAt: Timestamp? = nil, invitees: [Invitee] = [], battle: BattleView? = nil
    ) {
        self.id = id
        self.inviter = inviter
        self.createTime = createTime
        self.durationSeconds = durationSeconds
        self.needResponse = needResponse
        self.extensionInfo = extensionInfo
        self.expiresAt = expiresAt
        self.invitees = invitees
        self.battle = battle
    }
}
