// SPDX-License-Identifier: Apache-2.0
// An app's use of the stage, as its developers write it: in Swift 5 mode, and in Swift 6 mode.
import LivePlazaKit
import SwiftUI
import UIKit

final class Widgets: VideoViewDelegate {
    func createCoGuestView(seatInfo: SeatInfo, viewLayer: ViewLayer) -> UIView? { nil }
    func createCoHostView(seatInfo: SeatInfo, viewLayer: ViewLayer) -> UIView? { nil }
    func createBattleView(seatInfo: SeatInfo) -> UIView? { nil }
    func createBattleContainerView() -> UIView? { nil }
}

@MainActor final class AnchorPage {
    private let coreView = LiveCoreView(viewType: .pushView)
    private let widgets = Widgets()
    private var isPlaying = false

    func open(_ liveID: String) {
        self.coreView.videoViewDelegate = self.widgets
        self.coreView.setLiveID(liveID)
        self.coreView.setLocalVideoMuteImage(bigImage: nil, smallImage: nil)
        self.coreView.startPreviewLiveStream(roomId: liveID, isMuteAudio: true)
        self.coreView.startPreviewLiveStream(roomId: liveID, isMuteAudio: true) { [weak self] _ in
            self?.isPlaying = true
        } onLoading: { [weak self] _ in
            self?.isPlaying = false
        } onError: { user, error, text in
            print(user, error.rawValue, error == .openMicrophoneNeedSeatUnlock, text)
        }
        LiveCoreView.callExperimentalAPI(#"{"api":"none"}"#)
        DeviceStore.shared.startCameraTest(cameraView: self.coreView) { _ in self.isPlaying = true }
        DeviceStore.shared.stopCameraTest()
        self.coreView.stopPreviewLiveStream(roomId: liveID)
    }

    func stage(_ liveID: String) -> LiveStage { LiveStage(liveID: liveID, delegate: self.widgets) }
}
