// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The devices of this user's seat, as the server shows them to everybody.
struct OwnSeat: Equatable, Sendable {
    var isCameraOn: Bool
    var isMicrophoneOn: Bool
    /// Whether no host has locked the camera.
    var allowsCamera: Bool
    /// Whether no host has locked the microphone.
    var allowsMicrophone: Bool

    /// The user's seat in a live; nil if the user sits on none.
    init?(of userID: String, in seats: [SeatInfo], liveID: String) {
        // In a connection the list also has the seats of other lives.
        let seat = seats.first { $0.userInfo.userID == userID && $0.userInfo.liveID == liveID }
        guard let user = seat?.userInfo, !userID.isEmpty else { return nil }
        self.isCameraOn = user.cameraStatus == .on
        self.isMicrophoneOn = user.microphoneStatus == .on
        self.allowsCamera = user.allowOpenCamera
        self.allowsMicrophone = user.allowOpenMicrophone
    }

    /// Whether the seat shows a device as on.
    func isOn(_ device: Device) -> Bool { device == .camera ? self.isCameraOn : self.isMicrophoneOn }
}

/// The user's devices that capture, or that are being opened.
struct OpenDevices: Equatable, Sendable {
    var isCameraOpen = false
    var isMicrophoneOpen = false
    var isScreenShared = false
    /// Whether the user has muted the microphone, which stays open.
    var isMuted = false
    /// The devices that this client has reported to the seat, without a reply yet.
    var reporting: Set<Device> = []
}

/// What must happen to the user's devices after the user's seat has changed.
///
/// A device must not capture after a host has closed it, nor after the user has lost its seat. A device that the user
/// opened before it sat down must be reported to the seat, so that others see it.
struct SeatDeviceChange: Equatable, Sendable {
    var closesCamera = false
    var closesMicrophone = false
    var closesScreen = false
    var reportsCamera = false
    var reportsMicrophone = false

    init(from old: OwnSeat?, to new: OwnSeat?, _ devices: OpenDevices) {
        switch (old, new) {
        case (nil, nil): break
        case (.some, nil):
            self.closesCamera = devices.isCameraOpen
            self.closesMicrophone = devices.isMicrophoneOpen
            self.closesScreen = devices.isScreenShared
        case (nil, let new?):
            self.closesCamera = devices.isCameraOpen && !new.allowsCamera
            self.closesMicrophone = devices.isMicrophoneOpen && !new.allowsMicrophone
            self.reportsCamera = devices.isCameraOpen && new.allowsCamera && !new.isCameraOn
            self.reportsMicrophone =
                devices.isMicrophoneOpen && !devices.isMuted && new.allowsMicrophone && !new.isMicrophoneOn
        case (let old?, let new?):
            let isCameraLocked = old.allowsCamera && !new.allowsCamera
            let isMicrophoneLocked = old.allowsMicrophone && !new.allowsMicrophone
            // If the seat showed a device as on and now shows it as off, a host has closed it, and it must be
            // closed here. In two cases the device stays open. While a report of this client has no reply, the "off"
            // may come from an earlier report, and the user has opened the device again since. And a microphone that
            // the user has muted is shown as off, too.
            let isCameraOff = old.isCameraOn && !new.isCameraOn && !devices.reporting.contains(.camera)
            let isMicrophoneOff =
                old.isMicrophoneOn && !new.isMicrophoneOn && !devices.isMuted
                && !devices.reporting.contains(.microphone)
            self.closesCamera = devices.isCameraOpen && (isCameraLocked || isCameraOff)
            self.closesMicrophone = devices.isMicrophoneOpen && (isMicrophoneLocked || isMicrophoneOff)
        }
    }
}
