// SPDX-License-Identifier: Apache-2.0
import LivePlazaTesting
import MachineKit
import PlazaModel
import Testing

@testable import LivePlazaKit

/// Openings of the camera that the media engine answers late, never, with an error, or after the next opening.
@Suite struct DeviceOpeningTests {
    private let harness = StoreHarness()
    private let plaza: LivePlaza
    private let media = TestMedia()
    private var devices: DeviceStore { self.plaza.deviceStore }

    /// Makes a client that has logged in nowhere, so that no report of a device is sent.
    init() {
        self.plaza = self.harness.makeClient()
        self.plaza.deviceStore.mediaEngine = self.media
        self.harness.queue.drain()
    }

    private func openCamera(isFront: Bool = true) {
        self.devices.openLocalCamera(isFront: isFront, completion: nil)
        self.harness.queue.drain()
    }

    private func answer(_ number: Int, _ fault: DeviceError) {
        self.media.answerOpening(number, fault)
        self.harness.queue.drain()
    }

    private func advance(seconds: Int64) {
        self.harness.clock.advance(by: .seconds(seconds), self.harness.queue)
    }

    // MARK: The camera and its state

    /// The arguments: whether the limit of the first opening passes before the second opening begins, and whether the
    /// second opening is rejected before the first opening succeeds.
    @Test(arguments: [false, true], [false, true])
    func `a camera is off after an opening was rejected, although an earlier one succeeds`(
        isLate: Bool, isRejectedFirst: Bool
    ) {
        self.openCamera()
        if isLate { self.advance(seconds: 60) }
        self.openCamera()
        if isRejectedFirst {
            self.answer(2, .occupiedError)
            self.answer(1, .noError)
        } else {
            self.answer(1, .noError)
            self.answer(2, .occupiedError)
        }
        #expect(!self.media.isCameraOn)
        #expect(self.devices.state.value.cameraStatus == .off)
        // The camera can be opened after that.
        self.openCamera()
        self.answer(3, .noError)
        #expect(self.media.isCameraOn && self.devices.state.value.cameraStatus == .on)
    }

    @Test func `a camera that is on stays on when it cannot be opened once more, and a host can close it`() {
        self.openCamera()
        self.answer(1, .noError)
        self.openCamera()
        self.answer(2, .occupiedError)
        #expect(self.media.isCameraOn)
        #expect(self.devices.state.value.cameraStatus == .on)
        #expect(self.devices.state.value.cameraLastError == .occupiedError)
        self.harness.queue.async { [devices] in devices.closedByHost(.camera) }
        self.harness.queue.drain()
        #expect(!self.media.isCameraOn)
        #expect(self.devices.state.value.cameraStatus == .off)
    }

    /// The arguments: the answer to the first opening; nil if there is none within the limit.
    @Test(arguments: [nil, .noError, .occupiedError] as [DeviceError?])
    func `the end of an opening does not change the state that a later opening has shown`(lastAnswer: DeviceError?) {
        self.openCamera(isFront: true)
        self.advance(seconds: 30)
        self.openCamera(isFront: false)
        self.answer(2, .noError)
        let state = self.devices.state.value
        #expect(state.cameraStatus == .on && state.cameraLastError == .noError && !state.isFrontCamera)
        if let lastAnswer {
            self.answer(1, lastAnswer)
        } else {
            self.advance(seconds: 30)
        }
        #expect(self.devices.state.value == state)
        #expect(self.media.isCameraOn)
    }

    @Test func `a camera that opens after the client was released is closed on the delivery queue`() {
        let media = TestMedia()
        var plaza: LivePlaza? = self.harness.makeClient()
        weak let devices = plaza?.deviceStore
        plaza?.deviceStore.mediaEngine = media
        plaza?.deviceStore.openLocalCamera(isFront: true, completion: nil)
        self.harness.queue.drain()
        plaza = nil
        self.advance(seconds: 60)
        #expect(devices == nil)
        media.answerOpening(1, .noError)
        #expect(media.isCameraOn)
        self.harness.queue.drain()
        #expect(!media.isCameraOn)
    }

    // MARK: Retained objects

    @Test func `a media engine that stores its completion and never calls it is released`() {
        weak var media: TestMedia?
        do {
            let newMedia = TestMedia()
            media = newMedia
            self.devices.mediaEngine = newMedia
        }
        self.openCamera()
        #expect(media != nil)
        self.advance(seconds: 60)
        self.devices.mediaEngine = nil
        self.harness.queue.drain()
        #expect(media == nil)
    }

    @Test func `an opening without an answer is released after the limit`() {
        let plaza = LivePlaza(
            options: PlazaOptions(gateways: ["ws://g/v1"], transport: self.harness.network),
            queue: EngineQueue(self.harness.queue), clock: RetainingClock(clock: self.harness.clock)
        ) { 0.5 }
        weak var opening: DeviceOpening?
        do {
            let newOpening = DeviceOpening()
            opening = newOpening
            plaza.engine.start(nil) { engine async throws(ErrorInfo) in
                _ = await newOpening.wait(on: engine, for: { _ in }, afterLimit: { _ in })
            }
        }
        self.harness.queue.drain()
        #expect(opening != nil)
        self.advance(seconds: 60)
        #expect(opening == nil)
    }

    /// A clock whose timers retain their actions until they are cancelled, as the timers of the system do.
    private struct RetainingClock: PlazaClock {
        let clock: SimulationClock

        var now: MonotonicTime { self.clock.now }
        var wall: WallTime { self.clock.wall }

        func schedule(
            after delay: Milliseconds, on queue: EngineQueue, _ action: @escaping @Sendable () -> Void
        ) -> PlazaTimer {
            let pendingAction = Locked<(@Sendable () -> Void)?>(action)
            _ = self.clock.schedule(after: delay, on: queue) {
                let action = pendingAction.withLock { $0 }
                action?()
            }
            return PlazaTimer { pendingAction.withLock { $0 = nil } }
        }
    }
}
