// SPDX-License-Identifier: Apache-2.0
import LivePlazaKit
import LivePlazaTesting
import Synchronization
import Testing

/// The devices of a guest while a host or the guest changes the guest's seat, on a simulated cluster.
struct DeviceStoreTests {
    @Test func `devices that are open when the user takes a seat are reported to the seat`() async throws {
        let (cluster, host, guest) = try await Self.makeLive()
        try await guest.plaza.deviceStore.openLocalCamera(isFront: true)
        try await guest.plaza.deviceStore.openLocalMicrophone()
        try await Self.giveSeat(to: guest, from: host, on: cluster)
        let seat = try #require(Self.seat(of: guest, at: host))
        #expect(seat.cameraStatus == .on && seat.microphoneStatus == .on)
    }

    @Test func `a host who closes a device stops its capture at the guest`() async throws {
        let (cluster, host, guest) = try await Self.makeLive()
        try await Self.giveSeat(to: guest, from: host, on: cluster)
        try await guest.plaza.deviceStore.openLocalMicrophone()
        try await guest.plaza.deviceStore.openLocalCamera(isFront: true)
        cluster.settle()
        let media = try #require(guest.media)
        #expect(media.openDevices == ["camera", "microphone"])
        let seats = host.plaza.seatStore(liveID: "eve")
        try await seats.closeRemoteMicrophone(userID: "guest")
        cluster.advance(by: .seconds(1))
        #expect(media.openDevices == ["camera"])
        #expect(guest.plaza.deviceStore.state.value.microphoneStatus == .off)
        #expect(guest.plaza.deviceStore.state.value.cameraStatus == .on)
        try await seats.closeRemoteCamera(userID: "guest")
        cluster.advance(by: .seconds(1))
        #expect(media.openDevices == [])
        #expect(guest.plaza.deviceStore.state.value.cameraStatus == .off)
        // A guest cannot open a device that a host has locked.
        let refusal = await #expect(throws: ErrorInfo.self) {
            try await guest.plaza.deviceStore.openLocalMicrophone()
        }
        #expect(refusal?.name == .microphoneNeedsHost)
        #expect(media.openDevices == [])
    }

    @Test(arguments: [
        "kicked off the seat", "leaves the seat", "kicked out of the live", "leaves the live", "live ends",
    ])
    func `a guest who loses the seat or is out of the live has all devices closed`(reason: String) async throws {
        let (cluster, host, guest) = try await Self.makeLive()
        try await Self.giveSeat(to: guest, from: host, on: cluster)
        try await guest.plaza.deviceStore.openLocalMicrophone()
        try await guest.plaza.deviceStore.openLocalCamera(isFront: true)
        guest.plaza.deviceStore.startScreenShare(appGroup: "group")
        cluster.settle()
        let media = try #require(guest.media)
        #expect(media.openDevices == ["camera", "microphone", "screen"])
        switch reason {
        case "kicked off the seat": try await host.plaza.seatStore(liveID: "eve").kickUserOutOfSeat(userID: "guest")
        case "leaves the seat": try await guest.plaza.seatStore(liveID: "eve").leaveSeat()
        case "kicked out of the live":
            try await host.plaza.audienceStore(liveID: "eve").kickUserOutOfRoom(userID: "guest")
        case "leaves the live": try await guest.plaza.liveListStore.leaveLive()
        // "live ends".
        default: _ = try await host.plaza.liveListStore.endLive()
        }
        cluster.advance(by: .seconds(1))
        #expect(media.openDevices == [])
        let state = guest.plaza.deviceStore.state.value
        #expect(state.cameraStatus == .off && state.microphoneStatus == .off && state.screenStatus == .off)
    }

    @Test func `a viewer without a seat who leaves has all devices closed, even one that is still opening`()
        async throws
    {
        let (cluster, _, guest) = try await Self.makeLive()
        let media = try #require(guest.media)
        try await guest.plaza.deviceStore.openLocalMicrophone()
        media.defersOpening = true
        guest.plaza.deviceStore.openLocalCamera(isFront: true, completion: nil)
        cluster.settle()
        try await guest.plaza.liveListStore.leaveLive()
        media.finishOpening()
        cluster.settle()
        #expect(media.openDevices == [])
        #expect(guest.plaza.deviceStore.state.value.microphoneStatus == .off)
        #expect(guest.plaza.deviceStore.state.value.cameraStatus == .off)
    }

    @Test func `a client that is released closes its devices`() async throws {
        let cluster = SimulatedCluster(seed: 12)
        let media = FakeMedia()
        var plaza: LivePlaza? = cluster.client("guest")
        plaza?.deviceStore.mediaEngine = media
        try await plaza?.deviceStore.openLocalMicrophone()
        #expect(media.openDevices == ["microphone"])
        plaza = nil
        cluster.settle()
        #expect(media.openDevices == [])
    }

    /// Rules: R7.19.
    @Test func `muting the own microphone reaches the media engine, and the device stays open`() async throws {
        let (cluster, host, guest) = try await Self.makeLive()
        try await Self.giveSeat(to: guest, from: host, on: cluster)
        try await guest.plaza.deviceStore.openLocalMicrophone()
        let media = try #require(guest.media)
        let seats = guest.plaza.seatStore(liveID: "eve")
        seats.muteMicrophone()
        cluster.advance(by: .seconds(1))
        #expect(media.isMuted && media.openDevices == ["microphone"])
        #expect(Self.seat(of: guest, at: host)?.microphoneStatus == .off)
        try await seats.unmuteMicrophone()
        cluster.advance(by: .seconds(1))
        #expect(!media.isMuted && media.openDevices == ["microphone"])
        #expect(Self.seat(of: guest, at: host)?.microphoneStatus == .on)
    }

    @Test func `a camera that is closed while it opens stays closed`() async throws {
        let (cluster, _, guest) = try await Self.makeLive()
        let media = try #require(guest.media)
        media.defersOpening = true
        let result = Mutex<Result<Void, ErrorInfo>?>(nil)
        guest.plaza.deviceStore.openLocalCamera(isFront: true) { outcome in result.withLock { $0 = outcome } }
        cluster.settle()
        guest.plaza.deviceStore.closeLocalCamera()
        cluster.settle()
        media.finishOpening()
        cluster.settle()
        guard case .failure? = result.withLock({ $0 }) else {
            Issue.record("the camera was opened")
            return
        }
        #expect(media.openDevices == [])
        #expect(guest.plaza.deviceStore.state.value.cameraStatus == .off)
    }

    /// The arguments are an error of the media engine, and its codes for the camera and for the microphone.
    @Test(arguments: [
        (DeviceError.unknownError, -1100, -1104), (.noSystemPermission, -1101, -1105), (.occupiedError, -1102, -1106),
        (.noDeviceDetected, -1103, -1107),
    ])
    func `a camera or microphone that does not open fails with the code of its error`(
        fault: DeviceError, cameraCode: Int, microphoneCode: Int
    ) async throws {
        let (_, _, guest) = try await Self.makeLive()
        guest.media?.fault = fault
        let devices = guest.plaza.deviceStore
        let cameraError = await #expect(throws: ErrorInfo.self) { try await devices.openLocalCamera(isFront: true) }
        let microphoneError = await #expect(throws: ErrorInfo.self) { try await devices.openLocalMicrophone() }
        #expect(cameraError?.code == cameraCode && microphoneError?.code == microphoneCode)
        #expect(devices.state.value.cameraLastError == fault && devices.state.value.microphoneLastError == fault)
        #expect(devices.state.value.cameraStatus == .off && devices.state.value.microphoneStatus == .off)
    }

    @Test func `a reset closes all devices and restores the initial state`() async throws {
        let (cluster, _, guest) = try await Self.makeLive()
        let devices = guest.plaza.deviceStore
        try await devices.openLocalCamera(isFront: false)
        try await devices.openLocalMicrophone()
        devices.setOutputVolume(7)
        devices.startScreenShare(appGroup: "group")
        cluster.settle()
        devices.reset()
        cluster.settle()
        #expect(guest.media?.openDevices == [])
        #expect(devices.state.value == DeviceState())
    }

    // MARK: Set-up

    /// A user with its media engine.
    private struct Guest {
        let user: AppUser
        var plaza: LivePlaza { self.user.plaza }
        var media: FakeMedia? { self.plaza.deviceStore.mediaEngine as? FakeMedia }
    }

    /// Makes a live `eve` with its host, and a guest without a seat whose media engine is a `FakeMedia`.
    private static func makeLive() async throws -> (cluster: SimulatedCluster, host: AppUser, guest: Guest) {
        let cluster = SimulatedCluster(seed: 11)
        let host = AppUser("host", on: cluster, live: "eve")
        let guest = Guest(user: AppUser("guest", on: cluster, live: "eve"))
        guest.plaza.deviceStore.mediaEngine = FakeMedia()
        try await host.login()
        try await guest.user.login()
        try await host.createLive("eve")
        try await guest.user.joinLive("eve")
        return (cluster, host, guest)
    }

    /// Lets the guest apply for a seat, and the host accept.
    private static func giveSeat(to guest: Guest, from host: AppUser, on cluster: SimulatedCluster) async throws {
        try await guest.plaza.coGuestStore(liveID: "eve").applyForSeat(timeout: 30)
        cluster.settle()
        try await host.plaza.coGuestStore(liveID: "eve").acceptApplication(userID: "guest")
        cluster.advance(by: .seconds(1))
    }

    /// The guest's seat, as the host's store shows it.
    private static func seat(of guest: Guest, at host: AppUser) -> SeatUserInfo? {
        host.plaza.seatStore(liveID: "eve").state.value.seatList.first { $0.userInfo.userID == guest.user.id }?.userInfo
    }
}

/// A media engine that captures nothing, and records which devices are open.
private final class FakeMedia: MediaEngine {
    private struct State {
        var openDevices: Set<String> = []
        var isMuted = false
        var fault = DeviceError.noError
        var defersOpening = false
        /// The openings that `finishOpening` completes.
        var pendingOpenings: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    /// The devices that capture.
    var openDevices: Set<String> { self.state.withLock { $0.openDevices } }
    var isMuted: Bool { self.state.withLock { $0.isMuted } }
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
    func startPreview(liveID: String, isMuted: Bool, tell: @escaping @Sendable (PreviewEvent) -> Void) {}
    func stopPreview(liveID: String) {}
}
