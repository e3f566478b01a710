// SPDX-License-Identifier: Apache-2.0

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
    /// This live's mix alone leaves the other's sound out, or has it again.
    case coHostMuted(live: LiveID, isMuted: Bool)
    case battleStarted(battle: BattleID)
    case battleUserJoined(battle: BattleID, live: LiveID)
    case battleUserExited(battle: BattleID, live: LiveID)
    case battleScored(battle: BattleID)
    case battleEnded(battle: BattleID, reason: BattleEndReason)
}
