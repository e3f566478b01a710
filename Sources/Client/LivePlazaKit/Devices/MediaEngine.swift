// SPDX-License-Identifier: Apache-2.0

/// What captures and plays for an app: LivePlaza carries no media.
///
/// An app brings its own, such as one that wraps WebRTC.
///
/// Its methods are called on the delivery queue, in the order of the app's calls.
public protocol MediaEngine: AnyObject, Sendable {
    /// Opens the camera; `completion` may be called on any thread, once.
    func openCamera(isFront: Bool, completion: @escaping @Sendable (DeviceError) -> Void)
    /// Closes the camera.
    func closeCamera()
    /// Opens the microphone; `completion` may be called on any thread, once.
    func openMicrophone(completion: @escaping @Sendable (DeviceError) -> Void)
    /// Closes the microphone.
    func closeMicrophone()
    /// Uses the other camera.
    func switchCamera(isFront: Bool)
    /// Shows the own picture mirrored, or not.
    func setMirror(_ mirror: MirrorType)
    /// Captures in this quality.
    func setVideoQuality(_ quality: VideoQuality)
    /// Plays through this.
    func setAudioRoute(_ route: AudioRoute)
    /// Sets the volume of what is captured, 0 to 100.
    func setCaptureVolume(_ volume: Int)
    /// Sets the volume of what is played, 0 to 100.
    func setOutputVolume(_ volume: Int)
    /// Begins to share the screen.
    ///
    /// - Parameter appGroup: the group of the app's broadcast extension.
    func startScreenShare(appGroup: String)
    /// Ends it.
    func stopScreenShare()
    /// Plays a live before the user enters it.
    ///
    /// - Parameters:
    ///   - liveID: the live.
    ///   - isMuted: without sound.
    ///   - tell: may be called on any thread, any number of times.
    func startPreview(liveID: String, isMuted: Bool, tell: @escaping @Sendable (PreviewEvent) -> Void)
    /// Ends it.
    func stopPreview(liveID: String)
}

/// What a preview of a live does.
public enum PreviewEvent: Sendable, Hashable {
    /// The user's picture is shown.
    case playing(userID: String)
    /// The user's picture is awaited.
    case loading(userID: String)
    /// The user's picture cannot be shown.
    case failed(userID: String, ErrorInfo)
}
