// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// Hosts lock a user's device, or the devices of a seat, and the user is notified (R7.8 to R7.11).
extension SeatStep {
    /// Locks or unlocks a user's device; the caller must be a host.
    ///
    /// A locked device is turned off. Unlocking a device removes both the lock on the user and the lock on the seat, so
    /// that the user can turn the device on.
    mutating func lockDevice(
        of user: UserID, _ device: Device, isLocked: Bool, _ caller: Caller
    ) throws(ReplyError) -> SeatOutcome.Result {
        try self.requireHost(caller)
        guard let index = self.stage.seatIndex(of: user) else {
            throw ReplyError(.failed, "user not found: \(user) sits on no seat")
        }
        try self.requireAuthority(over: user, caller)
        let wasAllowed = self.stage.seats[index].occupant?.allows(device)
        self.stage.setUserLock(on: device, of: user, isLocked: isLocked)
        if !isLocked { self.stage.seats[index].setLocked(device, false) }
        self.stage.applyLocks(at: index)
        self.notifyDeviceChange(device, of: user, at: index, wasAllowed: wasAllowed, caller)
        return .done
    }

    /// Locks or unlocks the devices of a seat for any occupant; nil leaves a lock as it is.
    mutating func lockDevices(of index: Int, microphone: Bool?, camera: Bool?, _ caller: Caller) {
        for (device, isLocked) in [(Device.microphone, microphone), (.camera, camera)] {
            guard let isLocked, self.stage.seats[index].isLocked(device) != isLocked else { continue }
            let user = self.stage.seats[index].occupant?.user.userID
            let wasAllowed = self.stage.seats[index].occupant?.allows(device)
            self.stage.seats[index].setLocked(device, isLocked)
            // Unlocking the seat's device also removes the lock on the user. Otherwise hosts could not see why the
            // device stays off.
            if let user, !isLocked { self.stage.setUserLock(on: device, of: user, isLocked: false) }
            self.stage.applyLocks(at: index)
            if let user { self.notifyDeviceChange(device, of: user, at: index, wasAllowed: wasAllowed, caller) }
        }
    }

    /// Notifies a user who has moved to seat `index` of the devices whose permission differs on the new seat.
    ///
    /// `before` is the user as it was on the old seat.
    mutating func notifyDeviceChanges(at index: Int, before: SeatUser, _ caller: Caller) {
        for device in Device.allCases {
            self.notifyDeviceChange(
                device, of: before.user.userID, at: index, wasAllowed: before.allows(device), caller)
        }
    }

    /// Notifies the user if the permission to use the device has changed and the user is not the caller.
    ///
    /// `wasAllowed` is the permission before the change.
    private mutating func notifyDeviceChange(
        _ device: Device, of user: UserID, at index: Int, wasAllowed: Bool?, _ caller: Caller
    ) {
        let isAllowed = self.stage.seats[index].occupant?.allows(device)
        guard user != caller.userID, isAllowed != wasAllowed else { return }
        // `unlockOnly`: the user may turn the device on again, but it stays off.
        self.notify(
            user,
            isAllowed == true
                ? .deviceOpenedByAdmin(device: device, policy: .unlockOnly, by: caller.user)
                : .deviceClosedByAdmin(device: device, by: caller.user))
    }
}
