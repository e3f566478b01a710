// SPDX-License-Identifier: Apache-2.0
package import CoreKit

/// One live's side of a battle.
package struct BattleSide: Hashable, Sendable, Codable {
    package var live: LiveID
    package var host: UserInfo
    package var score: Int64
    /// Left before the end.
    package var hasLeft: Bool

    package init(live: LiveID, host: UserInfo, score: Int64 = 0, hasLeft: Bool = false) {
        self.live = live
        self.host = host
        self.score = score
        self.hasLeft = hasLeft
    }
}

/// How a battle ended (reference 10).
package enum BattleEndReason: String, Hashable, Sendable, Codable {
    case timeOver
    case allMemberExit
}

/// A battle as each of its lives shows it; kept with its result until the next one starts.
package struct BattleView: Hashable, Sendable, Codable {
    package var id: BattleID
    package var extensionInfo: String
    /// How long it was to last, in seconds.
    package var durationSeconds: Int64
    /// Whether those who were asked had to accept.
    package var needResponse: Bool
    package var startTime: Timestamp
    /// When it ends or, once `ended` is set, when it ended.
    package var endTime: Timestamp
    /// The inviter's first, then those who took part in the order of asking.
    package var sides: [BattleSide]
    /// Set when it is over: the scores are the result.
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
        self.durationSeconds =
            try values.decodeIfPresent(Int64.self, forKey: .durationSeconds)
            ?? (self.endTime - self.startTime).count / 1000
        self.needResponse = try values.decodeIfPresent(Bool.self, forKey: .needResponse) ?? false
        self.sides = try values.decode([BattleSide].self, forKey: .sides)
        self.ended = try values.decodeIfPresent(BattleEndReason.self, forKey: .ended)
    }
}

/// All that is known of a battle, also while it is being agreed on: for an app's server (reference 13.3).
package struct BattleDetails: Hashable, Sendable, Codable {
    /// A live that was asked and has not declined.
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
    /// While it is being agreed on: when those who have not answered count as declining.
    package var expiresAt: Timestamp?
    /// Empty from the start on.
    package var invitees: [Invitee]
    /// From the start on: sides, times, scores and, once it is over, why.
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
