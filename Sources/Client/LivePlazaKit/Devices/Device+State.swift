// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

extension Device {
    var status: WritableKeyPath<DeviceState, DeviceStatus> {
        self == .camera ? \.cameraStatus : \.microphoneStatus
    }

    var lastError: WritableKeyPath<DeviceState, DeviceError> {
        self == .camera ? \.cameraLastError : \.microphoneLastError
    }

    /// The code of a failed start; the codes for a missing permission, for a device that is in use and for a missing
    /// device follow it downwards.
    private var firstErrorCode: Int { self == .camera ? -1100 : -1104 }

    /// The error of a call that could not open the device.
    func error(_ fault: DeviceError) -> ErrorInfo {
        let code =
            switch fault {
            case .noError, .notSupportCapture, .unknownError: self.firstErrorCode
            case .noSystemPermission: self.firstErrorCode - 1
            case .occupiedError: self.firstErrorCode - 2
            case .noDeviceDetected: self.firstErrorCode - 3
            }
        return ErrorInfo(code: code, message: "the \(self) cannot be opened: \(fault)")
    }
}
