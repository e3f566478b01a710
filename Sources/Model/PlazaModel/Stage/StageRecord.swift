// SPDX-License-Identifier: Apache-2.0

/// A device of a user on a seat.
package enum Device: String, Hashable, Sendable, Codable, CaseIterable {
    case microphone
    case camera
}

/// Why a user on a seat is temporarily not visible or audible (R1.12).
package enum SuspendStatus: String, Hashable, Sendable, Codable {
    case none
    /// The user's app is in the background.
    case inBackground
    /// The user is in a call of another app.
    case inCalling
}

/// The occupant of a seat (R1.8).
package struct SeatUser: Hashable, Sendable, Codable {
    package var user: UserInfo
    package var role: LiveRole
    /// The live to which the seat belongs.
    package var live: LiveID
    package var isMicrophoneOn: Bool
    /// False while a host has locked the user's microphone or the seat's microphone.
    package var allowOpenMicrophone: Bool
    package var isCameraOn: Bool
    /// False while a host has locked the user's camera or the seat's camera.
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

/// One seat of a live; seat lists also contain the empty seats (R1.9, R7.1).
package struct Seat: Hashable, Sendable, Codable {
    /// The number of the seat in its live, from 0.
    package var index: Int
    /// Whether nobody can take the seat.
    package var isLocked: Bool
    /// Whether the occupant cannot open the microphone.
    package var isMicrophoneLocked: Bool
    /// Whether the occupant cannot open the camera.
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

/// The record of a live in the topic `stages`: its seats, connection, battles and layout.
package struct StageRecord: Hashable, Sendable, Codable {
    /// The version of the record's format.
    package var v = 1
    package var app: AppID
    package var live: LiveID
    /// The live's feed epoch.
    package var epoch: Int64
    /// Grows with every change of the stage.
    package var revision: Int64
    /// This live's seats, including the empty seats; the seats of connected lives are in `connection`.
    package var seats: [Seat]
    /// The connection of lives to which this live belongs; nil if it belongs to none.
    package var connection: ConnectionView?
    /// The battle that this live shows: its own battle, or, if it is in none, the newest battle of its connection.
    ///
    /// The battle is running, or its result is still displayed.
    package var battle: BattleView?
    /// The connection's further battles that are running or whose results are still displayed, in the order of their
    /// start; nil if there are none.
    package var otherBattles: [BattleView]?
    /// The layout of the users on stage, including those of connected lives.
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

/// What has changed on a stage; a feed item contains such events together with the new stage.
package enum StageEvent: Hashable, Sendable, Codable {
    case seatTaken(index: Int, user: UserInfo)
    case seatLeft(index: Int, user: UserInfo)
    case userMoved(user: UserInfo, from: Int, to: Int)
    case seatLocked(index: Int)
    case seatUnlocked(index: Int)
    case coHostJoined(member: ConnectionMember)
    case coHostLeft(member: ConnectionMember)
    /// Another live was muted or unmuted for the viewers of this live only.
    case coHostMuted(live: LiveID, isMuted: Bool)
    case battleStarted(battle: BattleID)
    case battleUserJoined(battle: BattleID, live: LiveID)
    case battleUserExited(battle: BattleID, live: LiveID)
    case battleScored(battle: BattleID)
    case battleEnded(battle: BattleID, reason: BattleEndReason)
}
