// SPDX-License-Identifier: Apache-2.0

/// The state of `DeviceStore`.
public struct DeviceState: Sendable, Hashable {
    /// Whether the camera is open.
    public var cameraStatus = DeviceStatus.off
    /// Why the last attempt to open the camera failed; `noError` if it succeeded.
    public var cameraLastError = DeviceError.noError
    /// Whether the camera on the side of the screen is used.
    public var isFrontCamera = true
    /// Whether the user's own picture is mirrored.
    public var localMirrorType = MirrorType.auto
    /// The quality of the captured video.
    public var localVideoQuality = VideoQuality.quality720P
    /// Whether the microphone is open.
    public var microphoneStatus = DeviceStatus.off
    /// Why the last attempt to open the microphone failed; `noError` if it succeeded.
    public var microphoneLastError = DeviceError.noError
    /// How loud the user speaks now, 0 to 100, as the app's media engine reports it; 0 while the microphone is closed.
    public var currentMicVolume = 0
    /// The volume that is set for the microphone, 0 to 100.
    public var captureVolume = 100
    /// The volume that is set for playback, 0 to 100.
    public var outputVolume = 100
    /// Where sound is played.
    public var currentAudioRoute = AudioRoute.speakerphone
    /// Whether the screen is shared.
    public var screenStatus = DeviceStatus.off
    /// The quality of the network, as the app's media engine has last reported it.
    public var networkInfo = NetworkInfo()

    /// Creates the initial state.
    public init() {}
}

/// The quality of a user's network.
public struct NetworkInfo: Sendable, Hashable {
    /// The user.
    public var userID: String
    /// The overall quality.
    public var quality: NetworkQuality
    /// The packet loss of the upload, in percent.
    public var upLoss: UInt32
    /// The packet loss of the download, in percent.
    public var downLoss: UInt32
    /// The delay in milliseconds.
    public var delay: UInt32

    /// Makes the measurements of a network.
    public init(
        userID: String = "", quality: NetworkQuality = .excellent, upLoss: UInt32 = 0, downLoss: UInt32 = 0,
        delay: UInt32 = 0
    ) {
        self.userID = userID
        self.quality = quality
        self.upLoss = upLoss
        self.downLoss = downLoss
        self.delay = delay
    }
}

/// Why a device cannot be opened.
public enum DeviceError: Int, Sendable, Hashable {
    /// No error.
    case noError
    /// The system has no such device.
    case noDeviceDetected
    /// The system does not permit the app to use the device.
    case noSystemPermission
    /// The device cannot capture.
    case notSupportCapture
    /// Another app uses the device.
    case occupiedError
    /// Any other error.
    case unknownError
}

/// The overall quality of a network.
public enum NetworkQuality: UInt, Sendable, Hashable {
    /// Not known.
    case unknown
    /// Excellent.
    case excellent
    /// Good.
    case good
    /// Poor.
    case poor
    /// Bad.
    case bad
    /// Very bad.
    case veryBad
    /// There is no network.
    case down
}

/// The quality of the captured video, by its height.
public enum VideoQuality: UInt, Sendable, Hashable {
    /// 360 lines.
    case quality360P
    /// 540 lines.
    case quality540P
    /// 720 lines.
    case quality720P
    /// 1080 lines.
    case quality1080P
}

/// Whether the user's own picture is mirrored.
public enum MirrorType: UInt, Sendable, Hashable {
    /// Only the picture of the front camera is mirrored.
    case auto
    /// Always.
    case enable
    /// Never.
    case disable
}

/// Where sound is played.
public enum AudioRoute: Int, Sendable, Hashable {
    /// The loudspeaker.
    case speakerphone
    /// The earpiece.
    case earpiece
}
