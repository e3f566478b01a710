// SPDX-License-Identifier: Apache-2.0
import LivePlazaTesting
import MachineKit
import PlazaModel
import Testing

@testable import LivePlazaKit

/// Tests of the camera that the media engine answers late, never, with an error, or after the next test has begun.
///
/// `CameraTestEngine` exists only on Apple systems. Here a test of the camera opens and closes the camera of a
/// `TestMedia` instead, so the answer to the opening with a number is the answer to the test with this number.
@Suite struct CameraTestCallTests {
    private let harness = StoreHarness()
    private let plaza: LivePlaza
    private let media = TestMedia()
    /// The codes of the errors with which tests have failed.
    private let errorCodes = Locked<[Int]>([])

    init() {
        self.plaza = self.harness.makeClient()
        self.plaza.deviceStore.mediaEngine = self.media
        self.harness.queue.drain()
    }

    private func startTest() {
        let (devices, media, errorCodes) = (self.plaza.deviceStore, self.media, self.errorCodes)
        self.plaza.engine.start({ (result: Result<Void, ErrorInfo>) in
            if case .failure(let error) = result { errorCodes.withLock { $0.append(error.code) } }
        }) { engine async throws(ErrorInfo) in
            try await devices.testCamera(by: media, on: engine) { completion in
                media.openCamera(isFront: true, completion: completion)
            } stop: { [weak media] in
                media?.closeCamera()
            }
        }
        self.harness.queue.drain()
    }

    private func answer(_ number: Int, _ fault: DeviceError) {
        self.media.answerOpening(number, fault)
        self.harness.queue.drain()
    }

    private func passLimit() { self.harness.clock.advance(by: .seconds(60), self.harness.queue) }

    @Test func `the limit of a camera test does not stop a later test`() {
        self.startTest()
        self.startTest()
        self.answer(2, .noError)
        self.passLimit()
        #expect(self.media.isCameraOn)
        #expect(self.errorCodes.withLock { $0 } == [-1100])
    }

    @Test func `the late answer of a camera test does not stop a later test`() {
        self.startTest()
        self.passLimit()
        self.startTest()
        self.answer(2, .noError)
        self.answer(1, .noError)
        #expect(self.media.isCameraOn)
        #expect(self.errorCodes.withLock { $0 } == [-1100])
    }

    @Test func `a camera test that begins after the limit is stopped on the delivery queue`() {
        self.startTest()
        self.passLimit()
        self.media.answerOpening(1, .noError)
        #expect(self.media.isCameraOn)
        self.harness.queue.drain()
        #expect(!self.media.isCameraOn)
    }

    @Test func `a camera test that is ended while it is being started is stopped and fails`() {
        self.startTest()
        self.harness.queue.async { [plaza, media] in plaza.deviceStore.endCameraTest { media.closeCamera() } }
        self.harness.queue.drain()
        self.answer(1, .noError)
        #expect(!self.media.isCameraOn)
        #expect(self.errorCodes.withLock { $0 } == [ErrorInfo(.failed, "").code])
    }

    /// The arguments are the same as in the test of two openings in `DeviceOpeningTests`.
    @Test(arguments: [false, true], [false, true])
    func `no camera test continues after the last one was rejected`(isLate: Bool, isRejectedFirst: Bool) {
        self.startTest()
        if isLate { self.passLimit() }
        self.startTest()
        if isRejectedFirst {
            self.answer(2, .occupiedError)
            self.answer(1, .noError)
        } else {
            self.answer(1, .noError)
            self.answer(2, .occupiedError)
        }
        #expect(!self.media.isCameraOn)
    }
}
