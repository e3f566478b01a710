// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

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
