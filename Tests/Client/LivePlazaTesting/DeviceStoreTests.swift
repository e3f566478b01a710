// SPDX-License-Identifier: Apache-2.0
import LivePlazaCombine
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

    /// Rules: R7.19.
    @Test func `the volumes that the media engine reports are published in their order, from 0 to 100`() async throws {
        let (cluster, _, guest) = try await Self.makeLive()
        let devices = guest.plaza.deviceStore
        let reports = try #require(guest.media?.reports)
        let volumes = Mutex<[Int]>([])
        let subscription = devices.state.subscribe(StatePublisherSelector(keyPath: \DeviceState.currentMicVolume))
            .sink { volume in volumes.withLock { $0.append(volume) } }
        reports.microphoneVolumeChanged(5)
        cluster.settle()
        try await devices.openLocalMicrophone()
        for volume in [10, 120, -5, 30] { reports.microphoneVolumeChanged(volume) }
        devices.closeLocalMicrophone()
        reports.microphoneVolumeChanged(20)
        cluster.settle()
        // The first and the last report came while the microphone was closed.
        let publishedVolumes = volumes.withLock { $0 }
        #expect(publishedVolumes == [0, 10, 100, 0, 30, 0])
        subscription.cancel()
    }

    /// Rules: R7.19.
    @Test func `the network and the statistics that the media engine reports are shown`() async throws {
        let (cluster, _, guest) = try await Self.makeLive()
        let reports = try #require(guest.media?.reports)
        let network = NetworkInfo(userID: "guest", quality: .poor, upLoss: 3, downLoss: 4, delay: 80)
        let statistics = [AVStatistics(userID: "host", frameRate: 30), AVStatistics(userID: "guest", audioBitrate: 48)]
        reports.networkInfoChanged(network)
        reports.statisticsChanged(statistics)
        cluster.settle()
        #expect(guest.plaza.deviceStore.state.value.networkInfo == network)
        let seats = guest.plaza.seatStore(liveID: "eve")
        #expect(seats.state.value.avStatistics == statistics)
        // The statistics are of the live, and outside a live there are none.
        try await guest.plaza.liveListStore.leaveLive()
        reports.statisticsChanged(statistics)
        cluster.settle()
        #expect(seats.state.value.avStatistics == [])
    }

    @Test func `a media engine that was replaced cannot report any more`() async throws {
        let (cluster, _, guest) = try await Self.makeLive()
        let devices = guest.plaza.deviceStore
        let media = try #require(guest.media)
        let nextMedia = FakeMedia()
        let formerReports = try #require(media.reports)
        devices.mediaEngine = nextMedia
        formerReports.networkInfoChanged(NetworkInfo(quality: .down))
        cluster.settle()
        #expect(devices.state.value.networkInfo == NetworkInfo())
        #expect(media.reports == nil)
        try #require(nextMedia.reports).networkInfoChanged(NetworkInfo(quality: .bad))
        cluster.settle()
        #expect(devices.state.value.networkInfo.quality == .bad)
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
