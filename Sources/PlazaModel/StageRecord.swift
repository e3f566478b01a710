// SPDX-License-Identifier: Apache-2.0
package import CoreKit

/// Someone on a seat (reference 1, SeatUserInfo).
package struct SeatUser: Hashable, Sendable, Codable {
    package var user: UserInfo
    package var role: LiveRole
    package var live: LiveID
    package var isMicrophoneOn: Bool
    package var allowOpenMicrophone: Bool
    package var isCameraOn: Bool
    package var allowOpenCamera: Bool

    package init(
        user: UserInfo, role: LiveRole, live: LiveID, isMicrophoneOn: Bool = false, allowOpenMicrophone: Bool = true,
        isCameraOn: Bool = false, allowOpenCamera: Bool = true
    ) {
        self.user = user
        self.role = role
        self.live = live
        self.isMicrophoneOn = isMicrophoneOn
        self.allowOpenMicrophone = allowOpenMicrophone
        self.isCameraOn = isCameraOn
        self.allowOpenCamera = allowOpenCamera
    }
}

/// One seat of a live; a seat list is complete, empty seats too (reference 7).
package struct Seat: Hashable, Sendable, Codable {
    package var index: Int
    package var isLocked: Bool
    package var occupant: SeatUser?

    package init(index: Int, isLocked: Bool = false, occupant: SeatUser? = nil) {
        self.index = index
        self.isLocked = isLocked
        self.occupant = occupant
    }
}

/// One live of a co-host connection.
package struct ConnectionMember: Hashable, Sendable, Codable {
    package var live: LiveID
    package var host: UserInfo
    package var joinedAt: Timestamp

    package init(live: LiveID, host: UserInfo, joinedAt: Timestamp) {
        self.live = live
        self.host = host
        self.joinedAt = joinedAt
    }
}

/// A co-host connection as each of its lives shows it; members in the order in which they joined (I12).
package struct ConnectionView: Hashable, Sendable, Codable {
    package var id: ConnectionID
    package var members: [ConnectionMember]

    package init(id: ConnectionID, members: [ConnectionMember]) {
        self.id = id
        self.members = members
    }
}

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
    package var startTime: Timestamp
    package var endTime: Timestamp
    package var sides: [BattleSide]
    /// Set when it is over: the scores are the result.
    package var ended: BattleEndReason?

    package init(
        id: BattleID, extensionInfo: String, startTime: Timestamp, endTime: Timestamp, sides: [BattleSide],
        ended: BattleEndReason? = nil
    ) {
        self.id = id
        self.extensionInfo = extensionInfo
        self.startTime = startTime
        self.endTime = endTime
        self.sides = sides
        self.ended = ended
    }
}

/// The record of a live in the topic `stages`: who is on stage, as one revision.
package struct StageRecord: Hashable, Sendable, Codable {
    package var v = 1
    package var app: AppID
    package var live: LiveID
    package var epoch: Int64
    package var revision: Int64
    package var seats: [Seat]
    package var connection: ConnectionView?
    package var battle: BattleView?

    package init(
        app: AppID, live: LiveID, epoch: Int64, revision: Int64, seats: [Seat], connection: ConnectionView? = nil,
        battle: BattleView? = nil
    ) {
        self.app = app
        self.live = live
        self.epoch = epoch
        self.revision = revision
        self.seats = seats
        self.connection = connection
        self.battle = battle
    }

    package var key: LiveKey { LiveKey(self.app, self.live) }
}

/// What happened on a stage, told in the feed beside the new stage.
package enum StageEvent: Hashable, Sendable, Codable {
    case seatTaken(index: Int, user: UserInfo)
    case seatLeft(index: Int, user: UserInfo)
    case userMoved(user: UserInfo, from: Int, to: Int)
    case seatLocked(index: Int)
    case seatUnlocked(index: Int)
    case coHostJoined(member: ConnectionMember)
    case coHostLeft(member: ConnectionMember)
    case battleStarted(battle: BattleID)
    case battleUserExited(battle: BattleID, live: LiveID)
    case battleScored(battle: BattleID)
    case battleEnded(battle: BattleID, reason: BattleEndReason)
}
