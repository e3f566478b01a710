// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

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
        // The member's fields are used here, as for a host who is on no seat.
        (self.userName, self.avatarURL) = (member.host.userName, member.host.avatarURL)
        (self.role, self.liveID) = (.owner, member.live.text)
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
