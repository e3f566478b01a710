// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// A seated user turns its microphone and camera on and off (R1.11, R1.12, R7.8, R7.9).
///
/// Two kinds of lock keep a device off: a host's lock on the user (`closedDevices`), and a lock on the seat, which
/// applies to any occupant.
extension SeatStep {
    /// Sets the caller's microphone, camera and suspend status; nil leaves a value as it is.
    ///
    /// Either all changes apply or none.
    mutating func setDevices(
        microphone: Bool?, camera: Bool?, suspend: SuspendStatus?, _ caller: Caller
    ) throws(ReplyError) -> SeatOutcome.Result {
        guard caller.role == .user, let index = self.stage.seatIndex(of: caller.userID) else {
            throw ReplyError(.notOnSeat, "you sit on no seat")
        }
        if microphone == true { try self.requireUnlocked(.microphone, at: index) }
        if camera == true { try self.requireUnlocked(.camera, at: index) }
        self.stage.changeOccupant(index) { occupant in
            occupant.isMicrophoneOn = microphone ?? occupant.isMicrophoneOn
            occupant.isCameraOn = camera ?? occupant.isCameraOn
            occupant.suspendStatus = suspend ?? occupant.suspendStatus
        }
        return .done
    }

    /// Rejects turning on a device that is locked for the user on seat `index`.
    private func requireUnlocked(_ device: Device, at index: Int) throws(ReplyError) {
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
