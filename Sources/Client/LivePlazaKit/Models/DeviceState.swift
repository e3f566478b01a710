// SPDX-License-Identifier: Apache-2.0

/// What `DeviceStore` shows.
public struct DeviceState: Sendable, Hashable {
    /// Whether the camera is open.
    public var cameraStatus = DeviceStatus.off
    /// What kept the camera closed.
    public var cameraLastError = DeviceError.noError
    /// The camera on the side of the screen is used.
    public var isFrontCamera = true
    /// Whether the own picture is mirrored.
    public var localMirrorType = MirrorType.auto
    /// The quality of the own picture.
    public var localVideoQuality = VideoQuality.quality720P
    /// Whether the microphone is open.
    public var microphoneStatus = DeviceStatus.off
    /// What kept the microphone closed.
    public var microphoneLastError = DeviceError.noError
    /// How loud the user speaks, 0 to 100.
    public var currentMicVolume = 0
    /// The volume of what is captured, 0 to 100.
    public var captureVolume = 100
    /// The volume of what is played, 0 to 100.
    public var outputVolume = 100
    /// Where sound comes out.
    public var currentAudioRoute = AudioRoute.speakerphone
    /// Whether the screen is shared.
    public var screenStatus = DeviceStatus.off
    /// The network, as the media engine measures it.
    public var networkInfo = NetworkInfo()

    /// The state at the beginning.
    public init() {}
}

/// The network of a user.
public struct NetworkInfo: Sendable, Hashable {
    /// The user.
    public var userID: String
    /// In a word.
    public var quality: NetworkQuality
    /// Lost on the way up, in percent.
    public var upLoss: UInt32
    /// Lost on the way down, in percent.
    public var downLoss: UInt32
    /// In milliseconds.
    public var delay: UInt32

    /// Makes figures.
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

/// What keeps a device closed.
public enum DeviceError: Int, Sendable, Hashable {
    /// Nothing.
    case noError
    /// There is none.
    case noDeviceDetected
    /// The system does not let the app.
    case noSystemPermission
    /// It cannot capture.
    case notSupportCapture
    /// Another app has it.
    case occupiedError
    /// Something else.
    case unknownError
}

/// A network in a word.
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
    /// There is none.
    case down
}

/// The height of the own picture.
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

/// Whether the own picture is mirrored.
public enum MirrorType: UInt, Sendable, Hashable {
    /// The front camera's is.
    case auto
    /// Yes.
    case enable
    /// No.
    case disable
}

/// Where sound comes out.
public enum AudioRoute: Int, Sendable, Hashable {
    /// The loudspeaker.
    case speakerphone
    /// The earpiece.
    case earpiece
}
