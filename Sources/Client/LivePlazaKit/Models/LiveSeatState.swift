// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import PlazaModel

/// The state of `LiveSeatStore`.
public struct LiveSeatState: Sendable, Hashable {
    /// All seats of the live, including empty ones, then the seats of connected lives.
    public var seatList: [SeatInfo] = []
    /// The surface on which the seats' regions lie.
    public var canvas = LiveCanvas()
    /// The speaking level of each user who speaks, 1 to 100, by user id.
    public var speakingUsers: [String: Int] = [:]
    /// The measurements of the app's media engine.
    public var avStatistics: [AVStatistics] = []

    /// Creates the initial state.
    public init() {}
}

/// An action of a host on this user's devices.
public enum LiveSeatEvent: Sendable, Hashable {
    /// A host has closed and locked the microphone.
    case onLocalMicrophoneClosedByAdmin
    /// The user may open the microphone again.
    case onLocalMicrophoneOpenedByAdmin(policy: DeviceControlPolicy)
    /// A host has closed and locked the camera.
    case onLocalCameraClosedByAdmin
    /// The user may open the camera again.
    case onLocalCameraOpenedByAdmin(policy: DeviceControlPolicy)
}

/// A seat.
public struct SeatInfo: Sendable, Hashable {
    /// The seat's number, from 0.
    public var index: Int
    /// Whether nobody can take the seat.
    public var isLocked: Bool
    /// Whether the microphone of the seat is locked.
    public var isMicrophoneLocked = false
    /// Whether the camera of the seat is locked.
    public var isCameraLocked = false
    /// The user on the seat; without an id if the seat is empty.
    public var userInfo: SeatUserInfo
    /// The seat's region on the canvas.
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
    /// The id; empty if the seat is empty.
    public var userID: String
    /// The name.
    public var userName: String
    /// The picture.
    public var avatarURL: String
    /// The user's role in the live.
    public var role: Role
    /// The live to which the seat belongs.
    public var liveID: String
    /// Whether the microphone is open.
    public var microphoneStatus: DeviceStatus
    /// Whether the user may open the microphone, because no host has locked it.
    public var allowOpenMicrophone: Bool
    /// Whether the camera is open.
    public var cameraStatus: DeviceStatus
    /// Whether the user may open the camera, because no host has locked it.
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

    /// Makes the host of a live.
    init(host: UserInfo, live: LiveID) {
        self.init(
            userID: host.userID.text, userName: host.userName, avatarURL: host.avatarURL, role: .owner,
            liveID: live.text)
    }

    /// Makes the host of a connected live, with the state of the devices if the host is on a seat.
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
    /// The distance from the left edge.
    public var x: CGFloat
    /// The distance from the top edge.
    public var y: CGFloat
    /// The width; 0 if the user is heard but not seen.
    public var w: CGFloat
    /// The height.
    public var h: CGFloat
    /// Regions with a higher value are drawn above those with a lower one.
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
    /// The host only unlocks the device; the user must open it.
    case unlockOnly
}

/// How a move to an occupied seat is handled.
public enum MoveSeatPolicy: Int, Sendable, Hashable {
    /// The move fails.
    case abortWhenOccupied
    /// The occupant loses the seat.
    case forceReplace
    /// The two users swap their seats.
    case swapPosition
}

/// The measurements of a media engine for one user.
public struct AVStatistics: Sendable, Hashable {
    /// The user.
    public var userID: String
    /// The bit rate of the video in kbit/s.
    public var videoBitrate: UInt
    /// The width of the video in pixels.
    public var videoWidth: CGFloat
    /// The height of the video in pixels.
    public var videoHeight: CGFloat
    /// The number of frames per second.
    public var frameRate: UInt
    /// The sample rate of the sound in Hz.
    public var audioSampleRate: UInt
    /// The bit rate of the sound in kbit/s.
    public var audioBitrate: UInt

    /// Makes the measurements of a user.
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
