// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// Camera, microphone and screen of this user.
///
/// The app's `MediaEngine` captures and plays. The store keeps the state of the devices and reports it to the user's
/// seat, so that others see at once that a guest's camera is on. A device that is open when the user sits down is
/// reported then. The store closes a device when a host closes or locks it, and all devices when the user loses its seat
/// or leaves the live. Without an engine, opening a device always succeeds, so that an app can be tried without media.
public final class DeviceStore: Sendable {
    private let engine: PlazaEngine
    private let media = Locked<(any MediaEngine)?>(nil)
    private let progress = Locked(Progress())

    /// What the store must know besides the state that it shows; used on the delivery queue only.
    private struct Progress {
        /// The user's seat; nil if the user sits on none.
        var seat: OwnSeat?
        var isMuted = false
        /// The last call that opened or closed each device.
        var lastCalls: [Device: LastCall] = [:]
    }

    /// A call that opened or closed a device.
    private struct LastCall {
        var number: Int
        var opens: Bool
    }

    /// The state of the devices.
    public let state = StatePublisher(initialState: DeviceState())

    init(engine: PlazaEngine) { self.engine = engine }

    /// The store of the default client.
    public static var shared: DeviceStore { LivePlaza.shared.deviceStore }

    /// The engine that captures and plays; nil if the app has none.
    public var mediaEngine: (any MediaEngine)? {
        get { self.media.withLock { $0 } }
        set { self.media.withLock { $0 = newValue } }
    }

    /// Opens the camera, and reports it to the seat if the user sits on one.
    ///
    /// - Parameters:
    ///   - isFront: whether to use the camera on the side of the screen.
    ///   - completion: errors: −1100 (it does not start) to −1103 (there is none); `failed` if it was closed meanwhile;
    ///     `seatCameraLocked` or `cameraNeedsHost`, after which the camera is closed again.
    public func openLocalCamera(isFront: Bool, completion: CompletionClosure?) {
        self.engine.start(completion, self.openOperation(.camera, isFront: isFront))
    }

    /// Opens the camera, as the method with a completion.
    public func openLocalCamera(isFront: Bool) async throws(ErrorInfo) {
        try await self.openOperation(.camera, isFront: isFront)(self.engine)
    }

    /// Closes the camera.
    public func closeLocalCamera() {
        self.run { engine, _ in
            self.closeNow(.camera)
            try? await engine.report(.camera, isOn: false)
        }
    }

    /// Opens the microphone, and reports it to the seat if the user sits on one.
    ///
    /// - Parameter completion: errors: −1104 (it does not start) to −1107 (there is none); `failed` if it was closed
    ///   meanwhile; `seatMicrophoneLocked` or `microphoneNeedsHost`, after which the microphone is closed again.
    public func openLocalMicrophone(completion: CompletionClosure?) {
        self.engine.start(completion, self.openOperation(.microphone))
    }

    /// Opens the microphone, as the method with a completion.
    public func openLocalMicrophone() async throws(ErrorInfo) { try await self.openOperation(.microphone)(self.engine) }

    /// Closes the microphone.
    public func closeLocalMicrophone() {
        self.run { engine, _ in
            self.closeNow(.microphone)
            try? await engine.report(.microphone, isOn: false)
        }
    }

    /// Switches to the camera on the side of the screen, or to the other one.
    public func switchCamera(isFront: Bool) {
        self.run { _, media in
            media?.switchCamera(isFront: isFront)
            self.changeState { $0.isFrontCamera = isFront }
        }
    }

    /// Sets whether the user's own picture is mirrored.
    public func switchMirror(mirrorType: MirrorType) {
        self.run { _, media in
            media?.setMirror(mirrorType)
            self.changeState { $0.localMirrorType = mirrorType }
        }
    }

    /// Sets the quality of the captured video.
    public func updateVideoQuality(_ quality: VideoQuality) {
        self.run { _, media in
            media?.setVideoQuality(quality)
            self.changeState { $0.localVideoQuality = quality }
        }
    }

    /// Sets where sound is played.
    public func setAudioRoute(_ route: AudioRoute) {
        self.run { _, media in
            media?.setAudioRoute(route)
            self.changeState { $0.currentAudioRoute = route }
        }
    }

    /// Sets the volume of the microphone.
    ///
    /// - Parameter volume: 0 to 100; a value outside is replaced by the nearest bound.
    public func setCaptureVolume(volume: Int) {
        let volume = min(max(volume, 0), 100)
        self.run { _, media in
            media?.setCaptureVolume(volume)
            self.changeState { $0.captureVolume = volume }
        }
    }

    /// Sets the volume of playback.
    ///
    /// - Parameter volume: 0 to 100; a value outside is replaced by the nearest bound.
    public func setOutputVolume(_ volume: Int) {
        let volume = min(max(volume, 0), 100)
        self.run { _, media in
            media?.setOutputVolume(volume)
            self.changeState { $0.outputVolume = volume }
        }
    }

    /// Begins to share the screen.
    ///
    /// - Parameter appGroup: the group of the app's broadcast extension.
    public func startScreenShare(appGroup: String) {
        self.run { _, media in
            media?.startScreenShare(appGroup: appGroup)
            self.changeState { $0.screenStatus = .on }
        }
    }

    /// Ends the sharing of the screen.
    public func stopScreenShare() {
        self.run { _, media in
            media?.stopScreenShare()
            self.changeState { $0.screenStatus = .off }
        }
    }

    /// Closes all devices and returns to the defaults.
    public func reset() {
        self.closeLocalCamera()
        self.closeLocalMicrophone()
        self.stopScreenShare()
        self.run { _, _ in self.changeState { $0 = DeviceState() } }
    }
}

extension DeviceStore {
    /// Runs `body` on the delivery queue, in the order of the calls.
    private func run(_ body: @escaping @Sendable (isolated PlazaEngine, (any MediaEngine)?) async -> Void) {
        self.engine.start(nil) { engine async throws(ErrorInfo) in await body(engine, self.mediaEngine) }
    }

    private func changeState(_ body: (inout DeviceState) -> Void) {
        var state = self.state.value
        body(&state)
        if state != self.state.value { self.state.value = state }
    }

    /// Opens a device, and reports it to the seat; `isFront` is the camera's side.
    private func openOperation(_ device: Device, isFront: Bool = true) -> StoreOperation<Void> {
        return { engine async throws(ErrorInfo) in
            let media = self.mediaEngine
            let call = self.beginCall(opens: true, device)
            let fault = await Self.waitForCompletion { completion in
                switch (media, device) {
                case (let media?, .camera): media.openCamera(isFront: isFront, completion: completion)
                case (let media?, .microphone): media.openMicrophone(completion: completion)
                case (nil, _): completion(.noError)
                }
            }
            self.changeState { state in
                state[keyPath: device.lastError] = fault
                if device == .camera { state.isFrontCamera = isFront }
            }
            if fault != .noError { throw Self.error(fault, of: device) }
            do throws(ErrorInfo) {
                try self.throwIfReplaced(call, device)
                try await engine.report(device, isOn: true)
                try self.throwIfReplaced(call, device)
            } catch {
                if self.mustClose(after: call, device) { self.closeNow(device) }
                throw error
            }
            if device == .microphone { self.setMicrophoneMuted(false) }
            self.changeState { $0[keyPath: device.status] = .on }
        }
    }

    /// Begins a call that opens or closes a device, and returns its number.
    @discardableResult
    private func beginCall(opens: Bool, _ device: Device) -> Int {
        self.progress.withLock { progress in
            let number = (progress.lastCalls[device]?.number ?? 0) + 1
            progress.lastCalls[device] = LastCall(number: number, opens: opens)
            return number
        }
    }

    /// Throws if a later call has opened or closed the device.
    private func throwIfReplaced(_ call: Int, _ device: Device) throws(ErrorInfo) {
        guard self.progress.withLock({ $0.lastCalls[device]?.number }) != call else { return }
        throw ErrorInfo(code: ReplyCode.failed.code, message: "the device was closed while it was being opened")
    }

    /// Whether a call that failed to open a device must close it: not if a later call opens it again.
    private func mustClose(after call: Int, _ device: Device) -> Bool {
        self.progress.withLock { progress in
            progress.lastCalls[device].map { $0.number == call || !$0.opens } ?? true
        }
    }

    private func closeNow(_ device: Device) {
        self.beginCall(opens: false, device)
        switch device {
        case .camera: self.mediaEngine?.closeCamera()
        case .microphone: self.mediaEngine?.closeMicrophone()
        }
        self.changeState { $0[keyPath: device.status] = .off }
    }

    private func stopScreenShareNow() {
        guard self.state.value.screenStatus == .on else { return }
        self.mediaEngine?.stopScreenShare()
        self.changeState { $0.screenStatus = .off }
    }

    /// Reports an open device to the seat, and closes it if the server refuses.
    private func reportOrClose(_ device: Device) {
        guard self.state.value[keyPath: device.status] == .on,
            let call = self.progress.withLock({ $0.lastCalls[device]?.number })
        else { return }
        self.run { engine, _ in
            do throws(ErrorInfo) { try await engine.report(device, isOn: true) } catch {
                // The user may have closed and opened the device meanwhile.
                if self.mustClose(after: call, device) { self.closeNow(device) }
            }
        }
    }

    /// Calls `open`, and waits until it calls the closure that it gets.
    private static func waitForCompletion(
        of open: (@escaping @Sendable (DeviceError) -> Void) -> Void
    ) async -> DeviceError {
        await withCheckedContinuation { continuation in open { continuation.resume(returning: $0) } }
    }

    private static func error(_ fault: DeviceError, of device: Device) -> ErrorInfo {
        let code =
            switch fault {
            case .noError, .notSupportCapture, .unknownError: device.firstErrorCode
            case .noSystemPermission: device.firstErrorCode - 1
            case .occupiedError: device.firstErrorCode - 2
            case .noDeviceDetected: device.firstErrorCode - 3
            }
        return ErrorInfo(code: code, message: "the \(device) cannot be opened: \(fault)")
    }
}

extension DeviceStore: DeviceSink {
    func ownSeatChanged(to seat: OwnSeat?, reporting: Set<Device>) {
        let isScreenShared = self.state.value.screenStatus == .on
        let change = self.progress.withLock { progress in
            // A device that is still being opened must not begin to capture either.
            let devices = OpenDevices(
                camera: progress.lastCalls[.camera]?.opens ?? false,
                microphone: progress.lastCalls[.microphone]?.opens ?? false, screen: isScreenShared,
                isMuted: progress.isMuted, reporting: reporting)
            defer { progress.seat = seat }
            return SeatDeviceChange(from: progress.seat, to: seat, devices)
        }
        if change.closesCamera { self.closeNow(.camera) }
        if change.closesMicrophone { self.closeNow(.microphone) }
        if change.closesScreen { self.stopScreenShareNow() }
        if change.reportsCamera { self.reportOrClose(.camera) }
        if change.reportsMicrophone { self.reportOrClose(.microphone) }
    }

    func closedByHost(_ device: Device) {
        if self.progress.withLock({ $0.lastCalls[device]?.opens ?? false }) { self.closeNow(device) }
    }

    func closeAll() {
        let opened = self.progress.withLock { progress in
            progress.seat = nil
            return [Device.camera, .microphone].filter { progress.lastCalls[$0]?.opens ?? false }
        }
        for device in opened { self.closeNow(device) }
        self.stopScreenShareNow()
    }

    func setMicrophoneMuted(_ isMuted: Bool) {
        let isChanged = self.progress.withLock { progress in
            defer { progress.isMuted = isMuted }
            return progress.isMuted != isMuted
        }
        if isChanged { self.mediaEngine?.setMicrophoneMuted(isMuted) }
    }
}

/// A device that takes time to open, and that the user's seat shows.
extension Device {
    fileprivate var status: WritableKeyPath<DeviceState, DeviceStatus> {
        self == .camera ? \.cameraStatus : \.microphoneStatus
    }

    fileprivate var lastError: WritableKeyPath<DeviceState, DeviceError> {
        self == .camera ? \.cameraLastError : \.microphoneLastError
    }

    /// The code of a failed start; the codes for a missing permission, for a device that is in use and for a missing
    /// device follow it downwards.
    fileprivate var firstErrorCode: Int { self == .camera ? -1100 : -1104 }
}
