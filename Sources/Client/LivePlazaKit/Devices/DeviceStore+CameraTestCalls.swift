// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The part of a camera test that needs no view, and is the same on all systems.
extension DeviceStore {
    /// Lets the media engine begin a test of the camera, and waits until the test has begun or has failed.
    ///
    /// If the test has failed, or was ended while it was being started, it is stopped, unless a later test has begun.
    ///
    /// - Parameters:
    ///   - media: the media engine.
    ///   - engine: the client's engine.
    ///   - start: lets the media engine begin the test.
    ///   - stop: lets the media engine end the test; is called on the delivery queue. It must not retain the media
    ///     engine, because the media engine may store the closure that `start` gets.
    /// - Throws: the errors of `startCameraTest`.
    func testCamera(
        by media: any MediaEngine, on engine: isolated PlazaEngine,
        start: (@escaping @Sendable (DeviceError) -> Void) -> Void, stop: @escaping @Sendable () -> Void
    ) async throws(ErrorInfo) {
        let callNumber = self.progress.withLock { $0.cameraTests.begin(.camera, opens: true) }
        let fault = await DeviceOpening().wait(on: engine, for: start) { [weak self, weak media] fault in
            guard fault == .noError, let media, self?.isTestingCamera(of: media) != true else { return }
            stop()
        }
        if fault == .noError, self.progress.withLock({ $0.cameraTests.isLast(callNumber, .camera) }) { return }
        if !self.progress.withLock({ $0.cameraTests.isOpenedAgain(after: callNumber, .camera) }) {
            self.endCameraTest(by: stop)
        }
        switch fault {
        case .noError?: throw ErrorInfo(.failed, "the test of the camera was ended while it was being started")
        case let fault?: throw Device.camera.error(fault)
        case nil: throw Device.camera.noAnswerError
        }
    }

    /// Ends the test of the camera by `stop`, even if the test is still being started.
    func endCameraTest(by stop: () -> Void) {
        _ = self.progress.withLock { $0.cameraTests.begin(.camera, opens: false) }
        stop()
    }

    /// Whether a test by this media engine has begun, or is being started.
    private func isTestingCamera(of media: any MediaEngine) -> Bool {
        self.progress.withLock { $0.cameraTests.isOpened(.camera) } && media === self.mediaEngine
    }
}
