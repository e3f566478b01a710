// SPDX-License-Identifier: Apache-2.0
@testable import LivePlazaKit

/// A media engine that captures nothing, and opens its camera when the test says so; its microphone opens at once.
final class TestMedia: MediaEngine {
    private struct State {
        var isCameraOn = false
        var isMuted = false
        var settings: [String] = []
        /// The completions of the camera's openings, in the order of the openings.
        var completions: [@Sendable (DeviceError) -> Void] = []
    }

    private let state = Locked(State())

    /// Whether the camera captures.
    var isCameraOn: Bool { self.state.withLock { $0.isCameraOn } }
    /// The settings that this engine has got, in order.
    var settings: [String] { self.state.withLock { $0.settings } }
    /// Whether the microphone is muted.
    var isMuted: Bool { self.state.withLock { $0.isMuted } }

    /// Ends an opening of the camera, and turns the camera on unless there is an error; the first opening has number 1.
    func answerOpening(_ number: Int, _ fault: DeviceError) {
        let completion = self.state.withLock { state in
            if fault == .noError { state.isCameraOn = true }
            return state.completions[number - 1]
        }
        completion(fault)
    }

    func openCamera(isFront: Bool, completion: @escaping @Sendable (DeviceError) -> Void) {
        self.state.withLock { $0.completions.append(completion) }
    }
    func closeCamera() { self.state.withLock { $0.isCameraOn = false } }
    func openMicrophone(completion: @escaping @Sendable (DeviceError) -> Void) { completion(.noError) }
    func closeMicrophone() {}
    func setMicrophoneMuted(_ isMuted: Bool) { self.state.withLock { $0.isMuted = isMuted } }
    func startScreenShare(appGroup: String) {}
    func stopScreenShare() {}
    func switchCamera(isFront: Bool) { self.record("front \(isFront)") }
    func setMirror(_ mirror: MirrorType) { self.record("mirror \(mirror)") }
    func setVideoQuality(_ quality: VideoQuality) { self.record("quality \(quality)") }
    func setAudioRoute(_ route: AudioRoute) { self.record("route \(route)") }
    func setCaptureVolume(_ volume: Int) { self.record("capture \(volume)") }
    func setOutputVolume(_ volume: Int) { self.record("output \(volume)") }
    private func record(_ setting: String) { self.state.withLock { $0.settings.append(setting) } }
    func startPreview(liveID: String, isMuted: Bool, onEvent: @escaping @Sendable (PreviewEvent) -> Void) {}
    func stopPreview(liveID: String) {}
}
