// SPDX-License-Identifier: Apache-2.0
import LivePlazaCombine
import LivePlazaKit
import LivePlazaTesting
import Synchronization
import Testing

/// The devices of a user in a live, with and without a seat, on a simulated cluster.
///
/// In all tests the host runs the live `eve`, and Carol is a viewer in it until `giveSeat` makes her a guest on a seat.
struct DeviceStoreTests {
    @Test func `devices that are open when the user takes a seat are reported to the seat`() async throws {
        let (cluster, host, carol) = try await Self.makeLive()
        try await carol.plaza.deviceStore.openLocalCamera(isFront: true)
        try await carol.plaza.deviceStore.openLocalMicrophone()
        try await Self.giveSeat(to: carol, from: host, on: cluster)
        let seat = try #require(Self.seat(of: carol, at: host))
        #expect(seat.cameraStatus == .on && seat.microphoneStatus == .on)
    }

    @Test func `when a host locks a guest's device, the guest's media engine closes this device`() async throws {
        let (cluster, host, carol) = try await Self.makeLive()
        try await Self.giveSeat(to: carol, from: host, on: cluster)
        try await carol.plaza.deviceStore.openLocalMicrophone()
        try await carol.plaza.deviceStore.openLocalCamera(isFront: true)
        cluster.settle()
        let media = try #require(carol.media)
        #expect(media.openDevices == ["camera", "microphone"])
        // The methods `closeRemote…` lock the device: the guest cannot open it until a host unlocks it.
        let seats = host.plaza.seatStore(liveID: "eve")
        try await seats.closeRemoteMicrophone(userID: "carol")
        cluster.advance(by: .seconds(1))
        #expect(media.openDevices == ["camera"])
        #expect(carol.plaza.deviceStore.state.value.microphoneStatus == .off)
        #expect(carol.plaza.deviceStore.state.value.cameraStatus == .on)
        try await seats.closeRemoteCamera(userID: "carol")
        cluster.advance(by: .seconds(1))
        #expect(media.openDevices == [])
        #expect(carol.plaza.deviceStore.state.value.cameraStatus == .off)
        let rejection = await #expect(throws: ErrorInfo.self) {
            try await carol.plaza.deviceStore.openLocalMicrophone()
        }
        #expect(rejection?.name == .microphoneNeedsHost)
        #expect(media.openDevices == [])
    }

    @Test(arguments: [
        "kicked off the seat", "leaves the seat", "kicked out of the live", "leaves the live", "live ends",
    ])
    func `all devices of a guest are closed when the guest loses the seat or is out of the live`(
        reason: String
    ) async throws {
        let (cluster, host, carol) = try await Self.makeLive()
        try await Self.giveSeat(to: carol, from: host, on: cluster)
        try await carol.plaza.deviceStore.openLocalMicrophone()
        try await carol.plaza.deviceStore.openLocalCamera(isFront: true)
        carol.plaza.deviceStore.startScreenShare(appGroup: "group")
        cluster.settle()
        let media = try #require(carol.media)
        #expect(media.openDevices == ["camera", "microphone", "screen"])
        switch reason {
        case "kicked off the seat": try await host.plaza.seatStore(liveID: "eve").kickUserOutOfSeat(userID: "carol")
        case "leaves the seat": try await carol.plaza.seatStore(liveID: "eve").leaveSeat()
        case "kicked out of the live":
            try await host.plaza.audienceStore(liveID: "eve").kickUserOutOfRoom(userID: "carol")
        case "leaves the live": try await carol.plaza.liveListStore.leaveLive()
        case "live ends": _ = try await host.plaza.liveListStore.endLive()
        default: Issue.record("unknown reason \(reason)")
        }
        cluster.advance(by: .seconds(1))
        #expect(media.openDevices == [])
        let state = carol.plaza.deviceStore.state.value
        #expect(state.cameraStatus == .off && state.microphoneStatus == .off && state.screenStatus == .off)
    }

    @Test func `all devices of a viewer are closed when the viewer leaves, even a device that is still opening`()
        async throws
    {
        let (cluster, _, carol) = try await Self.makeLive()
        let media = try #require(carol.media)
        try await carol.plaza.deviceStore.openLocalMicrophone()
        media.defersOpening = true
        carol.plaza.deviceStore.openLocalCamera(isFront: true, completion: nil)
        cluster.settle()
        // The camera is still opening when Carol leaves, and opens after that.
        try await carol.plaza.liveListStore.leaveLive()
        media.finishOpening()
        cluster.settle()
        #expect(media.openDevices == [])
        #expect(carol.plaza.deviceStore.state.value.microphoneStatus == .off)
        #expect(carol.plaza.deviceStore.state.value.cameraStatus == .off)
    }

    @Test func `a client that is released closes its devices`() async throws {
        let cluster = SimulatedCluster(seed: 12)
        let media = FakeMedia()
        var plaza: LivePlaza? = cluster.client("carol")
        plaza?.deviceStore.mediaEngine = media
        try await plaza?.deviceStore.openLocalMicrophone()
        #expect(media.openDevices == ["microphone"])
        plaza = nil
        cluster.settle()
        #expect(media.openDevices == [])
    }

    /// Rules: R7.19.
    @Test func `a guest's own mute reaches the media engine, and the microphone stays open`() async throws {
        let (cluster, host, carol) = try await Self.makeLive()
        try await Self.giveSeat(to: carol, from: host, on: cluster)
        try await carol.plaza.deviceStore.openLocalMicrophone()
        let media = try #require(carol.media)
        let seats = carol.plaza.seatStore(liveID: "eve")
        seats.muteMicrophone()
        cluster.advance(by: .seconds(1))
        #expect(media.isMuted && media.openDevices == ["microphone"])
        #expect(Self.seat(of: carol, at: host)?.microphoneStatus == .off)
        try await seats.unmuteMicrophone()
        cluster.advance(by: .seconds(1))
        #expect(!media.isMuted && media.openDevices == ["microphone"])
        #expect(Self.seat(of: carol, at: host)?.microphoneStatus == .on)
    }

    /// Rules: R7.19.
    @Test func `a microphone that was muted while it opened is reported as off until it is unmuted`() async throws {
        let (cluster, host, carol) = try await Self.makeLive()
        try await Self.giveSeat(to: carol, from: host, on: cluster)
        let media = try #require(carol.media)
        let seats = carol.plaza.seatStore(liveID: "eve")
        media.defersOpening = true
        carol.plaza.deviceStore.openLocalMicrophone(completion: nil)
        cluster.settle()
        seats.muteMicrophone()
        cluster.settle()
        media.finishOpening()
        cluster.advance(by: .seconds(1))
        #expect(media.isMuted && media.openDevices == ["microphone"])
        #expect(carol.plaza.deviceStore.state.value.microphoneStatus == .on)
        #expect(Self.seat(of: carol, at: host)?.microphoneStatus == .off)
        try await seats.unmuteMicrophone()
        cluster.advance(by: .seconds(1))
        #expect(!media.isMuted)
        #expect(Self.seat(of: carol, at: host)?.microphoneStatus == .on)
    }

    @Test func `a camera that is closed while it opens stays closed`() async throws {
        let (cluster, _, carol) = try await Self.makeLive()
        let media = try #require(carol.media)
        media.defersOpening = true
        let result = Mutex<Result<Void, ErrorInfo>?>(nil)
        carol.plaza.deviceStore.openLocalCamera(isFront: true) { outcome in result.withLock { $0 = outcome } }
        cluster.settle()
        carol.plaza.deviceStore.closeLocalCamera()
        cluster.settle()
        media.finishOpening()
        cluster.settle()
        guard case .failure? = result.withLock({ $0 }) else {
            Issue.record("expected that opening fails, because the camera was closed meanwhile")
            return
        }
        #expect(media.openDevices == [])
        #expect(carol.plaza.deviceStore.state.value.cameraStatus == .off)
    }

    /// Rules: R7.19.
    @Test func `a device whose media engine never answers fails after a minute, and can be opened later`() async throws
    {
        let (cluster, _, carol) = try await Self.makeLive()
        let (devices, media) = (carol.plaza.deviceStore, try #require(carol.media))
        media.defersOpening = true
        let codes = Mutex<[Int]>([])
        let recordFailure: @Sendable (Result<Void, ErrorInfo>) -> Void = { result in
            if case .failure(let error) = result { codes.withLock { $0.append(error.code) } }
        }
        devices.openLocalCamera(isFront: true) { recordFailure($0) }
        devices.openLocalMicrophone { recordFailure($0) }
        cluster.advance(by: .seconds(59))
        #expect(codes.withLock { $0 } == [])
        cluster.advance(by: .seconds(2))
        // The codes of an unknown error of the camera, and of the microphone.
        #expect(codes.withLock { $0 } == [-1100, -1104])
        #expect(devices.state.value.cameraLastError == .unknownError)
        #expect(devices.state.value.microphoneLastError == .unknownError)
        #expect(devices.state.value.cameraStatus == .off && devices.state.value.microphoneStatus == .off)
        // The media engine opens the devices too late, and closes them again.
        media.finishOpening()
        cluster.settle()
        #expect(media.openDevices == [])
        media.defersOpening = false
        try await devices.openLocalCamera(isFront: true)
        #expect(media.openDevices == ["camera"] && devices.state.value.cameraStatus == .on)
    }

    @Test func `a device that is opened again while its media engine does not answer stays open`() async throws {
        let (cluster, _, carol) = try await Self.makeLive()
        let (devices, media) = (carol.plaza.deviceStore, try #require(carol.media))
        media.defersOpening = true
        devices.openLocalCamera(isFront: true, completion: nil)
        cluster.advance(by: .seconds(30))
        devices.openLocalCamera(isFront: true, completion: nil)
        // The limit of the first call passes, but not the limit of the second call.
        cluster.advance(by: .seconds(31))
        media.finishOpening()
        cluster.settle()
        #expect(media.openDevices == ["camera"])
        #expect(devices.state.value.cameraStatus == .on)
    }

    /// Rules: R7.19.
    @Test func `a guest's camera is off for all if the media engine does not answer when it opens again`() async throws
    {
        let (cluster, host, carol) = try await Self.makeLive()
        try await Self.giveSeat(to: carol, from: host, on: cluster)
        let (devices, media) = (carol.plaza.deviceStore, try #require(carol.media))
        try await devices.openLocalCamera(isFront: true)
        cluster.advance(by: .seconds(1))
        #expect(Self.seat(of: carol, at: host)?.cameraStatus == .on)
        media.defersOpening = true
        devices.openLocalCamera(isFront: false, completion: nil)
        // The limit is a minute.
        cluster.advance(by: .seconds(62))
        #expect(media.openDevices == [] && devices.state.value.cameraStatus == .off)
        #expect(Self.seat(of: carol, at: host)?.cameraStatus == .off)
    }

    /// The arguments: an error of the media engine, its code for the camera, and its code for the microphone.
    @Test(arguments: [
        (DeviceError.unknownError, -1100, -1104), (.noSystemPermission, -1101, -1105), (.occupiedError, -1102, -1106),
        (.noDeviceDetected, -1103, -1107),
    ])
    func `a camera or microphone that does not open fails with the code of its error`(
        fault: DeviceError, cameraCode: Int, microphoneCode: Int
    ) async throws {
        let (_, _, carol) = try await Self.makeLive()
        carol.media?.fault = fault
        let devices = carol.plaza.deviceStore
        let cameraError = await #expect(throws: ErrorInfo.self) { try await devices.openLocalCamera(isFront: true) }
        let microphoneError = await #expect(throws: ErrorInfo.self) { try await devices.openLocalMicrophone() }
        #expect(cameraError?.code == cameraCode && microphoneError?.code == microphoneCode)
        #expect(devices.state.value.cameraLastError == fault && devices.state.value.microphoneLastError == fault)
        #expect(devices.state.value.cameraStatus == .off && devices.state.value.microphoneStatus == .off)
    }

    @Test func `a reset closes all devices and restores the initial state`() async throws {
        let (cluster, _, carol) = try await Self.makeLive()
        let devices = carol.plaza.deviceStore
        try await devices.openLocalCamera(isFront: false)
        try await devices.openLocalMicrophone()
        // Any value other than the default, so that the reset changes it.
        devices.setOutputVolume(7)
        devices.startScreenShare(appGroup: "group")
        cluster.settle()
        devices.reset()
        cluster.settle()
        #expect(carol.media?.openDevices == [])
        #expect(devices.state.value == DeviceState())
    }

    /// Rules: R7.19.
    @Test func `volumes that the media engine reports are limited to 0 to 100 and published in order`() async throws {
        let (cluster, _, carol) = try await Self.makeLive()
        let devices = carol.plaza.deviceStore
        let reports = try #require(carol.media?.reports)
        let volumes = Mutex<[Int]>([])
        let subscription = devices.state.subscribe(StatePublisherSelector(keyPath: \DeviceState.currentMicVolume))
            .sink { volume in volumes.withLock { $0.append(volume) } }
        // The microphone is closed, so this report is ignored.
        reports.microphoneVolumeChanged(5)
        cluster.settle()
        try await devices.openLocalMicrophone()
        for volume in [10, 120, -5, 30] { reports.microphoneVolumeChanged(volume) }
        // The closed microphone has the volume 0, and the next report is ignored.
        devices.closeLocalMicrophone()
        reports.microphoneVolumeChanged(20)
        cluster.settle()
        // The initial 0, the four reports of the open microphone, and the 0 of the closed one.
        let publishedVolumes = volumes.withLock { $0 }
        #expect(publishedVolumes == [0, 10, 100, 0, 30, 0])
        subscription.cancel()
    }

    /// Rules: R7.19.
    @Test func `the stores show the network info and statistics that the media engine reports`() async throws {
        let (cluster, _, carol) = try await Self.makeLive()
        let reports = try #require(carol.media?.reports)
        let network = NetworkInfo(userID: "carol", quality: .poor, upLoss: 3, downLoss: 4, delay: 80)
        let statistics = [AVStatistics(userID: "host", frameRate: 30), AVStatistics(userID: "carol", audioBitrate: 48)]
        reports.networkInfoChanged(network)
        reports.statisticsChanged(statistics)
        cluster.settle()
        #expect(carol.plaza.deviceStore.state.value.networkInfo == network)
        let seats = carol.plaza.seatStore(liveID: "eve")
        #expect(seats.state.value.avStatistics == statistics)
        // The statistics belong to a live: after the leave, reports of statistics are ignored.
        try await carol.plaza.liveListStore.leaveLive()
        reports.statisticsChanged(statistics)
        cluster.settle()
        #expect(seats.state.value.avStatistics == [])
    }

    @Test func `a media engine that was replaced cannot report any more`() async throws {
        let (cluster, _, carol) = try await Self.makeLive()
        let devices = carol.plaza.deviceStore
        let media = try #require(carol.media)
        let nextMedia = FakeMedia()
        let reportsOfReplaced = try #require(media.reports)
        devices.mediaEngine = nextMedia
        reportsOfReplaced.networkInfoChanged(NetworkInfo(quality: .down))
        cluster.settle()
        #expect(devices.state.value.networkInfo == NetworkInfo())
        #expect(media.reports == nil)
        try #require(nextMedia.reports).networkInfoChanged(NetworkInfo(quality: .bad))
        cluster.settle()
        #expect(devices.state.value.networkInfo.quality == .bad)
    }

    // MARK: Set-up

    /// A user whose media engine is a `FakeMedia`.
    private struct UserWithMedia {
        let user: AppUser
        var plaza: LivePlaza { self.user.plaza }
        var media: FakeMedia? { self.plaza.deviceStore.mediaEngine as? FakeMedia }
    }

    /// Makes the live `eve` with its host, and the viewer Carol with a fake media engine.
    private static func makeLive() async throws -> (cluster: SimulatedCluster, host: AppUser, carol: UserWithMedia) {
        let cluster = SimulatedCluster(seed: 11)
        let host = AppUser("host", on: cluster, live: "eve")
        let carol = UserWithMedia(user: AppUser("carol", on: cluster, live: "eve"))
        carol.plaza.deviceStore.mediaEngine = FakeMedia()
        try await host.login()
        try await carol.user.login()
        try await host.createLive("eve")
        try await carol.user.joinLive("eve")
        return (cluster, host, carol)
    }

    /// Makes Carol a guest on a seat: she applies, and the host accepts.
    private static func giveSeat(
        to carol: UserWithMedia, from host: AppUser, on cluster: SimulatedCluster
    ) async throws {
        try await carol.plaza.coGuestStore(liveID: "eve").applyForSeat(timeout: 30)
        cluster.settle()
        try await host.plaza.coGuestStore(liveID: "eve").acceptApplication(userID: "carol")
        cluster.advance(by: .seconds(1))
    }

    /// Carol's seat, as the host's store shows it; nil if she has none.
    private static func seat(of carol: UserWithMedia, at host: AppUser) -> SeatUserInfo? {
        host.plaza.seatStore(liveID: "eve").state.value.seatList.first { $0.userInfo.userID == carol.user.id }?.userInfo
    }
}
