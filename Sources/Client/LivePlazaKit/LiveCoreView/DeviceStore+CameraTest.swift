// SPDX-License-Identifier: Apache-2.0
#if canImport(UIKit) && !os(watchOS)
internal import PlazaModel
public import UIKit

/// A media engine that can show the user's own camera before the user goes live.
public protocol CameraTestEngine: MediaEngine {
    /// Opens the camera and shows its picture in `view`, to nobody else; `completion` may be called on any thread,
    /// once.
    func startCameraTest(in view: UIView, completion: @escaping @Sendable (DeviceError) -> Void)
    /// Ends the test, and closes the camera; also called after a test that could not be started.
    func stopCameraTest()
}

extension DeviceStore {
    /// Shows the user's own camera in a view, to nobody else, until `stopCameraTest`.
    ///
    /// - Parameters:
    ///   - cameraView: the view that shows the picture.
    ///   - completion: errors: −1100 (the camera does not start, or the media engine has not answered within 60 s),
    ///     −1101 (no permission), −1102 (in use), −1103 (there is none); `failed` if the app's media engine is no
    ///     `CameraTestEngine`, or if the test was ended or started again meanwhile.
    public func startCameraTest(cameraView: UIView, completion: CompletionClosure?) {
        self.engine.start(completion, self.cameraTestOperation(cameraView))
    }
    /// As `startCameraTest(cameraView:completion:)`.
    public func startCameraTest(cameraView: UIView) async throws(ErrorInfo) {
        try await self.cameraTestOperation(cameraView)(self.engine)
    }

    /// Ends the test of the camera.
    public func stopCameraTest() {
        self.runInOrder { _, media in
            self.endCameraTest { (media as? any CameraTestEngine)?.stopCameraTest() }
        }
    }

    private func cameraTestOperation(_ view: UIView) -> StoreOperation<Void> {
        return { engine async throws(ErrorInfo) in
            guard let tester = self.mediaEngine as? any CameraTestEngine else {
                throw ErrorInfo(.failed, "DeviceStore has no media engine that tests the camera")
            }
            try await self.testCamera(by: tester, on: engine) { completion in
                tester.startCameraTest(in: view, completion: completion)
            } stop: { [weak tester] in
                tester?.stopCameraTest()
            }
        }
    }
}
#endif
