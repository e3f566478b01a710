// SPDX-License-Identifier: Apache-2.0

/// The state of `LiveSeatStore`.
public struct LiveSeatState: Sendable, Hashable {
    /// All seats of the live, including empty ones, then the seats of connected lives.
    public var seatList: [SeatInfo] = []
    /// The surface on which the seats' regions lie.
    public var canvas = LiveCanvas()
    /// The speaking level of each user who speaks, 1 to 100, by user id.
    public var speakingUsers: [String: Int] = [:]
    /// The measurements that the app's media engine has last reported in this live.
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
