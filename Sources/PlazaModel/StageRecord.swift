// SPDX-License-Identifier: Apache-2.0

/// A device of someone on a seat, as far as the server knows of it.
package enum Device: String, Hashable, Sendable, Codable, CaseIterable {
    case microphone
    case camera
}

/// Why someone on a seat cannot be seen or heard just now (reference 1, SuspendStatus).
package enum SuspendStatus: String, Hashable, Sendable, Codable {
    case none
    case inBackground
    case inCalling
}

/// Someone on a seat (reference 1, SeatUserInfo).
package struct SeatUser: Hashable, Sendable, Codable {
    package var user: UserInfo
    package var role: LiveRole
    package var live: LiveID
    package var isMicrophoneOn: Bool
    /// False while a host has closed the microphone, or the seat's is locked.
    package var allowOpenMicrophone: Bool
    package var isCameraOn: Bool
    /// False while a host has closed the camera, or the seat's is locked.
    package var allowOpenCamera: Bool
    package var suspendStatus: SuspendStatus

    package init(
        user: UserInfo, role: LiveRole, live: LiveID, isMicrophoneOn: Bool = false, allowOpenMicrophone: Bool = true,
        isCameraOn: Bool = false, allowOpenCamera: Bool = true, suspendStatus: SuspendStatus = .none
    ) {
        self.user = user
        self.role = role
        self.live = live
        self.isMicrophoneOn = isMicrophoneOn
        self.allowOpenMicrophone = allowOpenMicrophone
        self.isCameraOn = isCameraOn
        self.allowOpenCamera = allowOpenCamera
        self.suspendStatus = suspendStatus
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.user = try values.decode(UserInfo.self, forKey: .user)
        self.role = try values.decode(LiveRole.self, forKey: .role)
        self.live = try values.decode(LiveID.self, forKey: .live)
        self.isMicrophoneOn = try values.decode(Bool.self, forKey: .isMicrophoneOn)
        self.allowOpenMicrophone = try values.decode(Bool.self, forKey: .allowOpenMicrophone)
        self.isCameraOn = try values.decode(Bool.self, forKey: .isCameraOn)
        self.allowOpenCamera = try values.decode(Bool.self, forKey: .allowOpenCamera)
        self.suspendStatus = try values.decodeIfPresent(SuspendStatus.self, forKey: .suspendStatus) ?? .none
    }
}

/// One seat of a live; a seat list is complete, empty seats too (reference 7).
package struct Seat: Hashable, Sendable, Codable {
    package var index: Int
    /// Nobody can take it.
    package var isLocked: Bool
    /// Whoever sits here cannot open the microphone.
    package var isMicrophoneLocked: Bool
    /// Whoever sits here cannot open the camera.
    package var isCameraLocked: Bool
    package var occupant: SeatUser?

    package init(
        index: Int, isLocked: Bool = false, isMicrophoneLocked: Bool = false, isCameraLocked: Bool = false,
        occupant: SeatUser? = nil
    ) {
        self.index = index
        self.isLocked = isLocked
        self.isMicrophoneLocked = isMicrophoneLocked
        self.isCameraLocked = isCameraLocked
        self.occupant = occupant
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.index = try values.decode(Int.self, forKey: .index)
        self.isLocked = try values.decode(Bool.self, forKey: .isLocked)
        self.isMicrophoneLocked = try values.decodeIfPresent(Bool.self, forKey: .isMicrophoneLocked) ?? false
        self.isCameraLocked = try values.decodeIfPresent(Bool.self, forKey: .isCameraLocked) ?? false
        self.occupant = try values.decodeIfPresent(SeatUser.self, forKey: .occupant)
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
    /// The other battles that run in the connection, or whose results its lives still show, in the order in which they
    /// began; nil: there is none.
    package var otherBattles: [BattleView]?
    /// Where everybody on stage is shown, those of connected lives too.
    package var layout: StageLayout

    package init(
        app: AppID, live: LiveID, epoch: Int64, revision: Int64, seats: [Seat], connection: ConnectionView? = nil,
        battle: BattleView? = nil, otherBattles: [BattleView]? = nil, layout: StageLayout = .none
    ) {
        self.app = app
        self.live = live
        self.epoch = epoch
        self.revision = revision
        self.seats = seats
        self.connection = connection
        self.battle = battle
        self.otherBattles = otherBattles
        self.layout = layout
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.v = try values.decode(Int.self, forKey: .v)
        self.app = try values.decode(AppID.self, forKey: .app)
        self.live = try values.decode(LiveID.self, forKey: .live)
        self.epoch = try values.decode(Int64.self, forKey: .epoch)
        self.revision = try values.decode(Int64.self, forKey: .revision)
        self.seats = try values.decode([Seat].self, forKey: .seats)
        self.connection = try values.decodeIfPresent(ConnectionView.self, forKey: .connection)
        self.battle = try values.decodeIfPresent(BattleView.self, forKey: .battle)
        self.otherBattles = try values.decodeIfPresent([BattleView].self, forKey: .otherBattles)
        self.layout = try values.decodeIfPresent(StageLayout.self, forKey: .layout) ?? .none
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
