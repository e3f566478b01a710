// SPDX-License-Identifier: Apache-2.0
import LivePlazaKit
import Synchronization

/// A media engine that captures nothing, and records which devices are open.
final class FakeMedia: MediaEngine {
    private struct State {
        var openDevices: Set<String> = []
        var isMuted = false
        var fault = DeviceError.noError
        var defersOpening = false
        var reports: MediaEngineReports?
        /// The deferred openings, which `finishOpening` completes.
        var pendingOpenings: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    /// The devices that capture.
    var openDevices: Set<String> { self.state.withLock { $0.openDevices } }
    var isMuted: Bool { self.state.withLock { $0.isMuted } }
    /// The object by which this engine reports; nil unless it is the `mediaEngine` of a client.
    var reports: MediaEngineReports? { self.state.withLock { $0.reports } }
    /// The error that opening a device reports; `noError` if devices open.
    var fault: DeviceError {
        get { self.state.withLock { $0.fault } }
        set { self.state.withLock { $0.fault = newValue } }
    }
    /// Whether devices open only when the test calls `finishOpening()`.
    var defersOpening: Bool {
        get { self.state.withLock { $0.defersOpening } }
        set { self.state.withLock { $0.defersOpening = newValue } }
    }

    /// Opens all devices whose opening was deferred.
    func finishOpening() {
        let openings = self.state.withLock { state in
            defer { state.pendingOpenings = [] }
            return state.pendingOpenings
        }
        for finish in openings { finish() }
    }

    /// Opens a device now or, if openings are deferred, at `finishOpening()`.
    private func openDevice(_ name: String, _ completion: @escaping @Sendable (DeviceError) -> Void) {
        let finish: @Sendable () -> Void = {
            let fault = self.state.withLock { state in
                if state.fault == .noError { state.openDevices.insert(name) }
                return state.fault
            }
            completion(fault)
        }
        let isDeferred = self.state.withLock { state in
            if state.defersOpening { state.pendingOpenings.append(finish) }
            return state.defersOpening
        }
        if !isDeferred { finish() }
    }

    private func closeDevice(_ name: String) { self.state.withLock { _ = $0.openDevices.remove(name) } }

    func openCamera(isFront: Bool, completion: @escaping @Sendable (DeviceError) -> Void) {
        self.openDevice("camera", completion)
    }
    func closeCamera() { self.closeDevice("camera") }
    func openMicrophone(completion: @escaping @Sendable (DeviceError) -> Void) {
        self.openDevice("microphone", completion)
    }
    func closeMicrophone() { self.closeDevice("microphone") }
    func setMicrophoneMuted(_ isMuted: Bool) { self.state.withLock { $0.isMuted = isMuted } }
    func startScreenShare(appGroup: String) { self.state.withLock { _ = $0.openDevices.insert("screen") } }
    func stopScreenShare() { self.closeDevice("screen") }
    func switchCamera(isFront: Bool) {}
    func setMirror(_ mirror: MirrorType) {}
    func setVideoQuality(_ quality: VideoQuality) {}
    func setAudioRoute(_ route: AudioRoute) {}
    func setCaptureVolume(_ volume: Int) {}
    func setOutputVolume(_ volume: Int) {}
    func startPreview(liveID: String, isMuted: Bool, onEvent: @escaping @Sendable (PreviewEvent) -> Void) {}
    func stopPreview(liveID: String) {}
    func setReports(_ reports: MediaEngineReports?) { self.state.withLock { $0.reports = reports } }
}
