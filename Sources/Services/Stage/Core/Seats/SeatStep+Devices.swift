// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// Microphones and cameras of seated users (R7.9, R7.8): users turn them on and off, hosts lock them.
///
/// Two kinds of lock keep a device off: a host's lock on the user (`closedDevices`), and a lock on the seat, which
/// applies to any occupant.
extension SeatStep {
    /// Sets the caller's devices; either all changes apply or none.
    mutating func setDevices(
        microphone: Bool?, camera: Bool?, suspend: SuspendStatus?, _ caller: Caller
    ) throws(ReplyError) -> SeatOutcome.Result {
        guard caller.role == .user, let index = self.stage.seatIndex(of: caller.userID) else {
            throw ReplyError(.notOnSeat, "you sit on no seat")
        }
        if microphone == true { try self.requireOpen(.microphone, at: index) }
        if camera == true { try self.requireOpen(.camera, at: index) }
        self.stage.changeOccupant(index) { occupant in
            occupant.isMicrophoneOn = microphone ?? occupant.isMicrophoneOn
            occupant.isCameraOn = camera ?? occupant.isCameraOn
            occupant.suspendStatus = suspend ?? occupant.suspendStatus
        }
        return .done
    }

    /// Rejects turning on a device that is locked for the user on seat `index`.
    private func requireOpen(_ device: Device, at index: Int) throws(ReplyError) {
        let seat = self.stage.seats[index]
        if seat.isLocked(device) {
            let code: ReplyCode = device == .microphone ? .seatMicrophoneLocked : .seatCameraLocked
            throw ReplyError(code, "the \(device.rawValue) of seat \(index) is locked")
        }
        if seat.occupant?.allows(device) == false {
            let code: ReplyCode = device == .microphone ? .microphoneNeedsHost : .cameraNeedsHost
            throw ReplyError(code, "a host has closed your \(device.rawValue); ask a host to open it")
        }
    }

    /// Turns a user's device off and locks it at a host's call, or removes both kinds of lock, so that the user can
    /// turn the device on.
    mutating func lockDevice(
        of user: UserID, _ device: Device, isLocked: Bool, _ caller: Caller
    ) throws(ReplyError) -> SeatOutcome.Result {
        try self.requireHost(caller)
        guard let index = self.stage.seatIndex(of: user) else {
            throw ReplyError(.failed, "user not found: \(user) sits on no seat")
        }
        try self.requireAuthority(over: user, caller)
        let wasAllowed = self.stage.seats[index].occupant?.allows(device)
        self.stage.setClosed(user, device, isLocked)
        if !isLocked { self.stage.seats[index].setLocked(device, false) }
        self.stage.applyLocks(at: index)
        self.notifyDeviceChange(device, of: user, at: index, wasAllowed: wasAllowed, caller)
        return .done
    }

    /// Locks or unlocks the devices of a seat for any occupant.
    mutating func lockDevices(of index: Int, microphone: Bool?, camera: Bool?, _ caller: Caller) {
        for (device, isLocked) in [(Device.microphone, microphone), (.camera, camera)] {
            guard let isLocked, self.stage.seats[index].isLocked(device) != isLocked else { continue }
            let user = self.stage.seats[index].occupant?.user.userID
            let wasAllowed = self.stage.seats[index].occupant?.allows(device)
            self.stage.seats[index].setLocked(device, isLocked)
            // Unlocking the seat's device also removes a lock on the user. Otherwise hosts could not see why the device
            // stays off.
            if let user, !isLocked { self.stage.setClosed(user, device, false) }
            self.stage.applyLocks(at: index)
            if let user { self.notifyDeviceChange(device, of: user, at: index, wasAllowed: wasAllowed, caller) }
        }
    }

    /// Notifies a user who moved to seat `index` of the devices that the locks there allow or forbid.
    mutating func notifyDeviceChanges(at index: Int, before: SeatUser, _ caller: Caller) {
        for device in Device.allCases {
            self.notifyDeviceChange(
                device, of: before.user.userID, at: index, wasAllowed: before.allows(device), caller)
        }
    }

    /// Notifies the user when the permission to use the device has changed.
    private mutating func notifyDeviceChange(
        _ device: Device, of user: UserID, at index: Int, wasAllowed: Bool?, _ caller: Caller
    ) {
        let isAllowed = self.stage.seats[index].occupant?.allows(device)
        guard user != caller.userID, isAllowed != wasAllowed else { return }
        self.notify(
            user,
            isAllowed == true
                ? .deviceOpenedByAdmin(device: device, policy: .unlockOnly, by: caller.user)
                : .deviceClosedByAdmin(device: device, by: caller.user))
    }
}

extension Seat {
    /// Whether the device is locked on the seat.
    func isLocked(_ device: Device) -> Bool { self[keyPath: Self.lock(of: device)] }

    mutating func setLocked(_ device: Device, _ isLocked: Bool) { self[keyPath: Self.lock(of: device)] = isLocked }

    private static func lock(of device: Device) -> WritableKeyPath<Seat, Bool> {
        switch device {
        case .microphone: \.isMicrophoneLocked
        case .camera: \.isCameraLocked
        }
    }
}

extension SeatUser {
    /// Whether the user may turn the device on.
    func allows(_ device: Device) -> Bool {
        switch device {
        case .microphone: self.allowOpenMicrophone
        case .camera: self.allowOpenCamera
        }
    }

    /// Whether the device is on.
    func isOn(_ device: Device) -> Bool {
        switch device {
        case .microphone: self.isMicrophoneOn
        case .camera: self.isCameraOn
        }
    }

    /// Sets whether the user may turn the device on; a forbidden device is turned off.
    mutating func setAllowed(_ device: Device, _ isAllowed: Bool) {
        switch device {
        case .microphone:
            self.allowOpenMicrophone = isAllowed
            if !isAllowed { self.isMicrophoneOn = false }
        case .camera:
            self.allowOpenCamera = isAllowed
            if !isAllowed { self.isCameraOn = false }
        }
    }
}

/// The seated users whose devices hosts have locked; a user who leaves its seat is removed.
package struct ClosedDevices: Equatable, Sendable, Codable {
    package var microphones: [UserID] = []
    package var cameras: [UserID] = []

    func contains(_ user: UserID, _ device: Device) -> Bool {
        switch device {
        case .microphone: self.microphones.contains(user)
        case .camera: self.cameras.contains(user)
        }
    }

    mutating func set(_ user: UserID, _ device: Device, _ isClosed: Bool) {
        switch device {
        case .microphone: Self.set(user, isClosed, in: &self.microphones)
        case .camera: Self.set(user, isClosed, in: &self.cameras)
        }
    }

    private static func set(_ user: UserID, _ isClosed: Bool, in users: inout [UserID]) {
        if let index = users.firstIndex(of: user) {
            if !isClosed { users.remove(at: index) }
        } else if isClosed {
            users.append(user)
        }
    }
}
