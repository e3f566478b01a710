// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

extension Device {
    /// Where a `DeviceState` holds the status of this device.
    var status: WritableKeyPath<DeviceState, DeviceStatus> {
        self == .camera ? \.cameraStatus : \.microphoneStatus
    }

    /// Where a `DeviceState` holds the last error of this device.
    var lastError: WritableKeyPath<DeviceState, DeviceError> {
        self == .camera ? \.cameraLastError : \.microphoneLastError
    }

    /// The public error code for a device that does not start.
    ///
    /// The three codes below it stand, in this order, for a missing permission, a device in use, and a missing device.
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

    /// The error of a call whose device the media engine has not opened in time.
    var noAnswerError: ErrorInfo {
        ErrorInfo(
            code: self.firstErrorCode,
            message: "the \(self) cannot be opened: no answer of the media engine within \(DeviceOpening.limit)")
    }
}
