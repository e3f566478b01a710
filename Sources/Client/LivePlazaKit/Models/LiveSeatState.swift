// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import PlazaModel

/// What `LiveSeatStore` shows.
public struct LiveSeatState: Sendable, Hashable {
    /// All seats of the live, empty ones too, then those of connected lives.
    public var seatList: [SeatInfo] = []
    /// The surface on which the seats' regions lie.
    public var canvas = LiveCanvas()
    /// How loud each speaks, 1 to 100, by user id.
    public var speakingUsers: [String: Int] = [:]
    /// What the app's media engine measures.
    public var avStatistics: [AVStatistics] = []

    /// The state at the beginning.
    public init() {}
}

/// What hosts do with this user's devices.
public enum LiveSeatEvent: Sendable, Hashable {
    /// A host closed the microphone, and keeps it closed.
    case onLocalMicrophoneClosedByAdmin
    /// The user may open the microphone again.
    case onLocalMicrophoneOpenedByAdmin(policy: DeviceControlPolicy)
    /// A host closed the camera, and keeps it closed.
    case onLocalCameraClosedByAdmin
    /// The user may open the camera again.
    case onLocalCameraOpenedByAdmin(policy: DeviceControlPolicy)
}

/// A seat.
public struct SeatInfo: Sendable, Hashable {
    /// From 0.
    public var index: Int
    /// Nobody can take it.
    public var isLocked: Bool
    /// Its microphone is locked.
    public var isMicrophoneLocked = false
    /// Its camera is locked.
    public var isCameraLocked = false
    /// Who sits on it; without an id if nobody does.
    public var userInfo: SeatUserInfo
    /// Where it is on the canvas.
    public var region: RegionInfo

    /// Makes a seat.
    public init(
        index: Int = 0, isLocked: Bool = false, userInfo: SeatUserInfo = .init(), region: RegionInfo = .init()
    ) {
        self.index = index
        self.isLocked = isLocked
        self.userInfo = userInfo
        self.region = region
    }

    init(_ seat: Seat, live: LiveID, region: RegionInfo) {
        self.init(
            index: seat.index, isLocked: seat.isLocked,
            userInfo: seat.occupant.map { SeatUserInfo($0) } ?? SeatUserInfo(), region: region)
        self.isMicrophoneLocked = seat.isMicrophoneLocked
        self.isCameraLocked = seat.isCameraLocked
        self.userInfo.liveID = live.text
    }
}

/// A user on a seat.
public struct SeatUserInfo: Sendable, Hashable {
    /// The id; empty: nobody.
    public var userID: String
    /// The name.
    public var userName: String
    /// The picture.
    public var avatarURL: String
    /// What the user may do.
    public var role: Role
    /// The live whose seat it is.
    public var liveID: String
    /// Whether the microphone is open.
    public var microphoneStatus: DeviceStatus
    /// No host keeps it closed.
    public var allowOpenMicrophone: Bool
    /// Whether the camera is open.
    public var cameraStatus: DeviceStatus
    /// No host keeps it closed.
    public var allowOpenCamera: Bool
    /// Whether the user is away.
    public var userSuspendStatus: SuspendStatus

    /// Makes a user.
    public init(
        userID: String = "", userName: String = "", avatarURL: String = "", role: Role = .generalUser,
        liveID: String = "", microphoneStatus: DeviceStatus = .off, allowOpenMicrophone: Bool = true,
        cameraStatus: DeviceStatus = .off, allowOpenCamera: Bool = true, userSuspendStatus: SuspendStatus = .none
    ) {
        self.userID = userID
        self.userName = userName
        self.avatarURL = avatarURL
        self.role = role
        self.liveID = liveID
        self.microphoneStatus = microphoneStatus
        self.allowOpenMicrophone = allowOpenMicrophone
        self.cameraStatus = cameraStatus
        self.allowOpenCamera = allowOpenCamera
        self.userSuspendStatus = userSuspendStatus
    }

    init(_ occupant: SeatUser) {
        self.init(
            userID: occupant.user.userID.text, userName: occupant.user.userName, avatarURL: occupant.user.avatarURL,
            role: Role(occupant.role), liveID: occupant.live.text,
            microphoneStatus: occupant.isMicrophoneOn ? .on : .off, allowOpenMicrophone: occupant.allowOpenMicrophone,
            cameraStatus: occupant.isCameraOn ? .on : .off, allowOpenCamera: occupant.allowOpenCamera,
            userSuspendStatus: SuspendStatus(occupant.suspendStatus))
    }

    /// The host of a live.
    init(host: UserInfo, live: LiveID) {
        self.init(
            userID: host.userID.text, userName: host.userName, avatarURL: host.avatarURL, role: .owner,
            liveID: live.text)
    }

    /// The host of a live of a connection, with its devices if it sits.
    init(_ member: ConnectionMember) {
        self.init(host: member.host, live: member.live)
        let seat = member.seats?.first { $0.occupant?.user.userID == member.host.userID }
        guard let occupant = seat?.occupant else { return }
        self = SeatUserInfo(occupant)
        (self.userName, self.avatarURL) = (member.host.userName, member.host.avatarURL)
        (self.role, self.liveID) = (.owner, member.live.text)
    }
}

/// Where a seat is on the canvas, in the canvas' pixels.
public struct RegionInfo: Sendable, Hashable {
    /// From the left.
    public var x: CGFloat
    /// From the top.
    public var y: CGFloat
    /// The width; 0: the user is heard, not seen.
    public var w: CGFloat
    /// The height.
    public var h: CGFloat
    /// Higher ones are drawn above lower ones.
    public var zorder: Int

    /// Makes a region.
    public init(x: CGFloat = 0, y: CGFloat = 0, w: CGFloat = 0, h: CGFloat = 0, zorder: Int = 0) {
        self.x = x
        self.y = y
        self.w = w
        self.h = h
        self.zorder = zorder
    }

    init(_ region: StageLayout.Region) {
        self.init(
            x: CGFloat(region.x), y: CGFloat(region.y), w: CGFloat(region.width), h: CGFloat(region.height),
            zorder: region.zorder)
    }
}

/// The surface on which seats lie; an app scales it to its view.
public struct LiveCanvas: Sendable, Hashable {
    /// The template that arranges the seats.
    public var templateID: UInt
    /// The width in pixels.
    public var w: CGFloat
    /// The height in pixels.
    public var h: CGFloat

    /// Makes a canvas.
    public init(templateID: UInt = 600, w: CGFloat = 0, h: CGFloat = 0) {
        self.templateID = templateID
        self.w = w
        self.h = h
    }
}

/// Whether a device is open.
public enum DeviceStatus: Int, Sendable, Hashable {
    /// Closed.
    case off
    /// Open.
    case on
}

/// Whether a user on a seat is away.
public enum SuspendStatus: Int, Sendable, Hashable {
    /// No.
    case none
    /// In another app.
    case inBackground
    /// In a call.
    case inCalling

    init(_ status: PlazaModel.SuspendStatus) {
        switch status {
        case .none: self = .none
        case .inBackground: self = .inBackground
        case .inCalling: self = .inCalling
        }
    }

    /// The name in the protocol.
    var wireName: String {
        switch self {
        case .none: "none"
        case .inBackground: "inBackground"
        case .inCalling: "inCalling"
        }
    }
}

/// How a host opens a device of another user.
public enum DeviceControlPolicy: Int, Sendable, Hashable {
    /// The host unlocks it, the user opens it.
    case unlockOnly
}

/// What happens if a user is moved to a seat that is taken.
public enum MoveSeatPolicy: Int, Sendable, Hashable {
    /// Nothing.
    case abortWhenOccupied
    /// Its user loses the seat.
    case forceReplace
    /// They change places.
    case swapPosition
}

/// What a media engine measures of a user.
public struct AVStatistics: Sendable, Hashable {
    /// The user.
    public var userID: String
    /// In kbit/s.
    public var videoBitrate: UInt
    /// In pixels.
    public var videoWidth: CGFloat
    /// In pixels.
    public var videoHeight: CGFloat
    /// Pictures a second.
    public var frameRate: UInt
    /// In Hz.
    public var audioSampleRate: UInt
    /// In kbit/s.
    public var audioBitrate: UInt

    /// Makes figures.
    public init(
        userID: String = "", videoBitrate: UInt = 0, videoWidth: CGFloat = 0, videoHeight: CGFloat = 0,
        frameRate: UInt = 0, audioSampleRate: UInt = 0, audioBitrate: UInt = 0
    ) {
        self.userID = userID
        self.videoBitrate = videoBitrate
        self.videoWidth = videoWidth
        self.videoHeight = videoHeight
        self.frameRate = frameRate
        self.audioSampleRate = audioSampleRate
        self.audioBitrate = audioBitrate
    }
}
