// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The store of this user's camera, microphone and screen.
///
/// The app's `MediaEngine` captures and plays. The store keeps the state of the devices and reports it to the user's
/// seat, so that others see at once that a guest's camera is on. If a device is open before the user sits down, the
/// store reports it when the user sits down. The store closes a device when a host closes or locks it, and all devices
/// when the user loses the seat or leaves the live. The media engine reports what it measures by a
/// `MediaEngineReports`. Without a media engine, opening a device always succeeds, so that an app can be tried without
/// media.
public final class DeviceStore: Sendable {
    /// The client's engine, which makes the calls; not the media engine.
    let engine: PlazaEngine
    private let media = Locked(Media())
    /// The seat and the last calls, which are used on the delivery queue only.
    ///
    /// The lock is there only because the class must be `Sendable`.
    let progress = Locked(Progress())

    /// The app's media engine, and the object by which it reports; both nil if the app has none.
    private struct Media {
        var engine: (any MediaEngine)?
        var reports: MediaEngineReports?
    }

    /// What the store must know besides `state`, which apps see.
    struct Progress {
        /// The user's seat; nil if the user sits on none.
        var seat: OwnSeat?
        /// Whether the user has muted the microphone, which stays open meanwhile.
        var isMuted = false
        /// How often the user has muted the microphone.
        var muteCount = 0
        /// The last calls that opened or closed a device.
        var calls = DeviceCalls()
        /// The last calls that began or ended a test of the camera.
        var cameraTests = DeviceCalls()
        /// The settings of the app, which each new media engine gets.
        var settings = DeviceSettings()
    }

    /// The state of the devices.
    public let state = StatePublisher(initialState: DeviceState())

    init(engine: PlazaEngine) { self.engine = engine }

    /// The store of the default client.
    public static var shared: DeviceStore { LivePlaza.shared.deviceStore }

    /// The app's engine that captures and plays media; nil if the app has none.
    ///
    /// A new engine gets the settings that the app has made before: camera side, mirroring, video quality, audio route
    /// and volumes. It does not get the devices that are open; the app opens them again.
    public var mediaEngine: (any MediaEngine)? {
        get { self.media.withLock { $0.engine } }
        set { self.replaceMediaEngine(by: newValue) }
    }

    /// Opens the camera, and reports it to the seat if the user sits on one.
    ///
    /// - Parameters:
    ///   - isFront: whether to use the front camera, which is on the side of the screen.
    ///   - completion: errors: −1100 (the camera does not start, or the media engine has not answered within 60 s),
    ///     −1101 (no permission), −1102 (in use), −1103 (there is none); `failed` if the camera was closed meanwhile;
    ///     `seatCameraLocked` or `cameraNeedsHost`, after which the camera is closed again.
    public func openLocalCamera(isFront: Bool, completion: CompletionClosure?) {
        self.engine.start(completion, self.openOperation(.camera, isFront: isFront))
    }

    /// Opens the camera; see the method with a completion.
    public func openLocalCamera(isFront: Bool) async throws(ErrorInfo) {
        try await self.openOperation(.camera, isFront: isFront)(self.engine)
    }

    /// Closes the camera, and reports it to the seat if the user sits on one.
    public func closeLocalCamera() {
        self.runInOrder { engine, _ in
            self.closeNow(.camera)
            try? await engine.reportDevice(.camera, isOn: false)
        }
    }

    /// Opens the microphone, and reports it to the seat if the user sits on one.
    ///
    /// - Parameter completion: errors: −1104 (the microphone does not start, or the media engine has not answered
    ///   within 60 s), −1105 (no permission), −1106 (in use), −1107 (there is none); `failed` if it was closed
    ///   meanwhile; `seatMicrophoneLocked` or `microphoneNeedsHost`, after which the microphone is closed again.
    public func openLocalMicrophone(completion: CompletionClosure?) {
        self.engine.start(completion, self.openOperation(.microphone))
    }

    /// Opens the microphone; see the method with a completion.
    public func openLocalMicrophone() async throws(ErrorInfo) { try await self.openOperation(.microphone)(self.engine) }

    /// Closes the microphone, and reports it to the seat if the user sits on one.
    public func closeLocalMicrophone() {
        self.runInOrder { engine, _ in
            self.closeNow(.microphone)
            try? await engine.reportDevice(.microphone, isOn: false)
        }
    }

    /// Switches to the front camera, which is on the side of the screen, or to the back camera.
    public func switchCamera(isFront: Bool) {
        self.runInOrder { _, media in
            media?.switchCamera(isFront: isFront)
            self.progress.withLock { $0.settings.isFrontCamera = isFront }
            self.changeState { $0.isFrontCamera = isFront }
        }
    }

    /// Sets whether the user's own picture is mirrored.
    public func switchMirror(mirrorType: MirrorType) {
        self.runInOrder { _, media in
            media?.setMirror(mirrorType)
            self.progress.withLock { $0.settings.mirror = mirrorType }
            self.changeState { $0.localMirrorType = mirrorType }
        }
    }

    /// Sets the quality of the captured video.
    public func updateVideoQuality(_ quality: VideoQuality) {
        self.runInOrder { _, media in
            media?.setVideoQuality(quality)
            self.progress.withLock { $0.settings.videoQuality = quality }
            self.changeState { $0.localVideoQuality = quality }
        }
    }

    /// Sets where sound is played.
    public func setAudioRoute(_ route: AudioRoute) {
        self.runInOrder { _, media in
            media?.setAudioRoute(route)
            self.progress.withLock { $0.settings.audioRoute = route }
            self.changeState { $0.currentAudioRoute = route }
        }
    }

    /// Sets the volume of the microphone.
    ///
    /// - Parameter volume: 0 to 100; a value outside is replaced by the nearest bound.
    public func setCaptureVolume(volume: Int) {
        let volume = min(max(volume, 0), 100)
        self.runInOrder { _, media in
            media?.setCaptureVolume(volume)
            self.progress.withLock { $0.settings.captureVolume = volume }
            self.changeState { $0.captureVolume = volume }
        }
    }

    /// Sets the volume of playback.
    ///
    /// - Parameter volume: 0 to 100; a value outside is replaced by the nearest bound.
    public func setOutputVolume(_ volume: Int) {
        let volume = min(max(volume, 0), 100)
        self.runInOrder { _, media in
            media?.setOutputVolume(volume)
            self.progress.withLock { $0.settings.outputVolume = volume }
            self.changeState { $0.outputVolume = volume }
        }
    }

    /// Begins to share the screen.
    ///
    /// - Parameter appGroup: the id of the App Group that the app shares with its broadcast extension.
    public func startScreenShare(appGroup: String) {
        self.runInOrder { _, media in
            media?.startScreenShare(appGroup: appGroup)
            self.changeState { $0.screenStatus = .on }
        }
    }

    /// Ends the sharing of the screen.
    public func stopScreenShare() {
        self.runInOrder { _, media in
            media?.stopScreenShare()
            self.changeState { $0.screenStatus = .off }
        }
    }

    /// Closes all devices and returns `state` to the defaults.
    public func reset() {
        self.closeLocalCamera()
        self.closeLocalMicrophone()
        self.stopScreenShare()
        self.runInOrder { _, _ in
            self.progress.withLock { $0.settings = DeviceSettings() }
            self.changeState { $0 = DeviceState() }
        }
    }
}

extension DeviceStore {
    /// Runs `body` on the delivery queue, in the order of the calls; `body` also gets the media engine.
    func runInOrder(_ body: @escaping @Sendable (isolated PlazaEngine, (any MediaEngine)?) async -> Void) {
        self.engine.start(nil) { engine async throws(ErrorInfo) in await body(engine, self.mediaEngine) }
    }

    private func replaceMediaEngine(by newEngine: (any MediaEngine)?) {
        let reports = newEngine == nil ? nil : MediaEngineReports(self)
        let formerEngine = self.media.withLock { media in
            let formerEngine = media.engine
            media = Media(engine: newEngine, reports: reports)
            return formerEngine
        }
        self.runInOrder { _, _ in
            formerEngine?.setReports(nil)
            newEngine?.setReports(reports)
            // If the app has replaced the engine again in the meantime, the engine needs no settings.
            guard let newEngine, let reports, self.isCurrent(reports) else { return }
            self.progress.withLock { $0.settings }.apply(to: newEngine)
        }
    }

    /// Changes the state by a report of the media engine.
    func change(by reports: MediaEngineReports, _ body: @escaping @Sendable (inout DeviceState) -> Void) {
        self.runInOrder { _, _ in
            if self.isCurrent(reports) { self.changeState(body) }
        }
    }

    /// Shows statistics that the media engine has reported in the live that the client is in.
    func showStatistics(_ statistics: [AVStatistics], by reports: MediaEngineReports) {
        self.runInOrder { engine, _ in
            if self.isCurrent(reports) {
                engine.applyLocalChange(.mediaMeasured(statistics), in: engine.currentLiveID)
            }
        }
    }

    /// Whether the media engine that got this object is still the app's media engine.
    private func isCurrent(_ reports: MediaEngineReports) -> Bool { self.media.withLock { $0.reports === reports } }

    /// Changes `state` by `body`; publishes nothing if `body` changes nothing.
    func changeState(_ body: (inout DeviceState) -> Void) {
        var state = self.state.value
        body(&state)
        if state != self.state.value { self.state.value = state }
    }
}
