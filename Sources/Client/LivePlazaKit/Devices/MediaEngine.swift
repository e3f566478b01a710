// SPDX-License-Identifier: Apache-2.0

/// Captures and plays media for an app, because LivePlaza itself carries none.
///
/// An app provides its own engine, for example one that wraps WebRTC.
///
/// Its methods are called on the delivery queue, in the order of the app's calls.
///
/// If an engine has not called the `completion` of an opening after 60 s, the SDK closes the device, and the app's call
/// fails. If the engine opens the device after that, the SDK closes it once more. The SDK also closes a device that was
/// off and that the engine has failed to open, because the engine may have opened the device for an earlier call.
public protocol MediaEngine: AnyObject, Sendable {
    /// Opens the camera; `completion` may be called on any thread, once.
    func openCamera(isFront: Bool, completion: @escaping @Sendable (DeviceError) -> Void)
    /// Closes the camera.
    func closeCamera()
    /// Opens the microphone; `completion` may be called on any thread, once.
    func openMicrophone(completion: @escaping @Sendable (DeviceError) -> Void)
    /// Closes the microphone.
    func closeMicrophone()
    /// Mutes or unmutes the microphone, which is open or is being opened: while it is muted, others hear silence.
    func setMicrophoneMuted(_ isMuted: Bool)
    /// Switches to the camera on the side of the screen, or to the other one.
    func switchCamera(isFront: Bool)
    /// Sets whether the user's own picture is mirrored.
    func setMirror(_ mirror: MirrorType)
    /// Sets the quality of the captured video.
    func setVideoQuality(_ quality: VideoQuality)
    /// Sets where sound is played.
    func setAudioRoute(_ route: AudioRoute)
    /// Sets the volume of the microphone, 0 to 100.
    func setCaptureVolume(_ volume: Int)
    /// Sets the volume of playback, 0 to 100.
    func setOutputVolume(_ volume: Int)
    /// Begins to share the screen.
    ///
    /// - Parameter appGroup: the group of the app's broadcast extension.
    func startScreenShare(appGroup: String)
    /// Ends the sharing of the screen.
    func stopScreenShare()
    /// Plays a live before the user enters it.
    ///
    /// - Parameters:
    ///   - liveID: the live.
    ///   - isMuted: whether to play without sound.
    ///   - onEvent: receives the preview's events; may be called on any thread, any number of times.
    func startPreview(liveID: String, isMuted: Bool, onEvent: @escaping @Sendable (PreviewEvent) -> Void)
    /// Ends the preview of a live.
    func stopPreview(liveID: String)
    /// Hands over the object by which this engine reports what it measures; nil after the app has replaced this engine.
    ///
    /// An engine that measures nothing need not implement this method.
    func setReports(_ reports: MediaEngineReports?)
}

extension MediaEngine {
    /// Does nothing, for an engine that reports nothing.
    public func setReports(_ reports: MediaEngineReports?) {}
}

/// An event of a live's preview.
public enum PreviewEvent: Sendable, Hashable {
    /// The user's picture is shown.
    case playing(userID: String)
    /// The user's picture is being loaded.
    case loading(userID: String)
    /// The user's picture cannot be shown.
    case failed(userID: String, ErrorInfo)
}
