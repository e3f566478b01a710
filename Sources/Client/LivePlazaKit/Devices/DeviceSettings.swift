// SPDX-License-Identifier: Apache-2.0

/// The app's settings for its devices; a setting is nil if the app has left it to the media engine.
struct DeviceSettings: Sendable {
    var isFrontCamera: Bool?
    var mirror: MirrorType?
    var videoQuality: VideoQuality?
    var audioRoute: AudioRoute?
    var captureVolume: Int?
    var outputVolume: Int?

    /// Passes the settings that the app has made to a media engine.
    func apply(to media: any MediaEngine) {
        if let isFrontCamera { media.switchCamera(isFront: isFrontCamera) }
        if let mirror { media.setMirror(mirror) }
        if let videoQuality { media.setVideoQuality(videoQuality) }
        if let audioRoute { media.setAudioRoute(audioRoute) }
        if let captureVolume { media.setCaptureVolume(captureVolume) }
        if let outputVolume { media.setOutputVolume(outputVolume) }
    }
}
