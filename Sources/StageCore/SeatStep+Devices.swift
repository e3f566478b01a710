// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// Microphones and cameras of those who sit (reference 7): what they say of their own, and what hosts forbid.
///
/// Two locks keep a device off: the host's on the person, who must ask for it, and the seat's on whoever sits there.
extension SeatStep {
    /// What the caller says of its own devices; all of it or nothing.
    mutating func setDevices(
        microphone: Bool?, camera: Bool?, suspend: SuspendStatus?, _ caller: Caller
    ) throws(ReplyError) -> SeatFate.Result {
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

    /// Refuses to turn on what is locked on the seat at `index`.
    private func requireOpen(_ device: Device, at index: Int) throws(ReplyError) {
        let seat = self.stage.seats[index]
        if seat.isLocked(device) {
            let code: ReplyCode = device == .microphone ? .seatMicrophoneLocked : .seatCameraLocked
            throw ReplyError(code, "the \(device.rawValue) of seat \(index) is locked")
        }
        if seat.occupant?.allows(device) == false {
            let code: ReplyCode = device == .microphone ? .microphoneNeedsHost : .cameraNeedsHost
            throw ReplyError(code, "a host has closed your \(device.rawValue); ask to open it")
        }
    }

    /// A host closes someone's device, forced off and locked, or lifts all that keeps it closed; the user opens it itself.
    mutating func lockDevice(
        of user: UserID, _ device: Device, isLocked: Bool, _ caller: Caller
    ) throws(ReplyError) -> SeatFate.Result {
        try self.requireHost(caller)
        guard let index = self.stage.seatIndex(of: user) else {
            throw ReplyError(.failed, "user not found: \(user) sits on no seat")
        }
        try self.requirePower(over: user, caller)
        let before = self.stage.seats[index].occupant?.allows(device)
        self.stage.setClosed(user, device, isLocked)
        if !isLocked { self.stage.seats[index].setLocked(device, false) }
        self.stage.applyLocks(at: index)
        self.tellDevice(device, of: user, at: index, wasAllowed: before, caller)
        return .done
    }

    /// Locks or unlocks the devices of a seat, whoever sits there.
    mutating func lockDevices(of index: Int, microphone: Bool?, camera: Bool?, _ caller: Caller) {
        for (device, isLocked) in [(Device.microphone, microphone), (.camera, camera)] {
            guard let isLocked, self.stage.seats[index].isLocked(device) != isLocked else { continue }
            let user = self.stage.seats[index].occupant?.user.userID
            let before = self.stage.seats[index].occupant?.allows(device)
            self.stage.seats[index].setLocked(device, isLocked)
            // Who may use the seat's device again may use it: no older lock stays behind unseen.
            if let user, !isLocked { self.stage.setClosed(user, device, false) }
            self.stage.applyLocks(at: index)
            if let user { self.tellDevice(device, of: user, at: index, wasAllowed: before, caller) }
        }
    }

    /// Tells someone who came from another seat which devices open or close with the one at `index`.
    mutating func tellDevices(at index: Int, before: SeatUser, _ caller: Caller) {
        for device in Device.allCases {
            self.tellDevice(device, of: before.user.userID, at: index, wasAllowed: before.allows(device), caller)
        }
    }

    /// Tells the one concerned when what it may do has changed.
    private mutating func tellDevice(
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
    /// Whether the seat keeps the device off.
    func isLocked(_ device: Device) -> Bool {
        switch device {
        case .microphone: self.isMicrophoneLocked
        case .camera: self.isCameraLocked
        }
    }

    mutating func setLocked(_ device: Device, _ isLocked: Bool) {
        switch device {
        case .microphone: self.isMicrophoneLocked = isLocked
        case .camera: self.isCameraLocked = isLocked
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

    /// Says whether the user may turn the device on; what it may not is off.
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

/// Devices that hosts have closed to people on stage; those who go are forgotten.
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
