// SPDX-License-Identifier: Apache-2.0

/// The settings of devices that the app has made; nil for those that it has left to the media engine.
struct DeviceSettings: Sendable {
    var isFrontCamera: Bool?
    var mirror: MirrorType?
    var videoQuality: VideoQuality?
    var audioRoute: AudioRoute?
    var captureVolume: Int?
    var outputVolume: Int?

    /// Makes these settings at a media engine.
    func apply(to media: any MediaEngine) {
        if let isFrontCamera { media.switchCamera(isFront: isFrontCamera) }
        if let mirror { media.setMirror(mirror) }
        if let videoQuality { media.setVideoQuality(videoQuality) }
        if let audioRoute { media.setAudioRoute(audioRoute) }
        if let captureVolume { media.setCaptureVolume(captureVolume) }
        if let outputVolume { media.setOutputVolume(outputVolume) }
    }
}
