// SPDX-License-Identifier: Apache-2.0

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
