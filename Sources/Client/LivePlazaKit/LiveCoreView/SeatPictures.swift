// SPDX-License-Identifier: Apache-2.0
#if canImport(UIKit) && !os(watchOS)
internal import UIKit

/// The views in which the pictures of a stage's users are drawn: one for each seat that has a region.
@MainActor struct SeatPictures {
    private typealias SeatKey = SeatVideoModel<UIImageView>.SeatKey

    private var views: [SeatKey: UIImageView] = [:]
    private var video = SeatVideoModel<UIImageView>()
    /// The renderer that draws the video now.
    private weak var renderer: (any VideoRenderer)?

    /// The images on this user's own seats while the camera is closed: for a seat that fills the stage, and for smaller
    /// seats.
    var closedCameraImages: (big: UIImage?, small: UIImage?) = (nil, nil)

    nonisolated init() {}

    /// Shows the pictures of a scene, between the widgets of the background and those of the foreground.
    mutating func show(
        _ scene: StageScene, in stage: StageLayers, ownID: String, by renderer: (any VideoRenderer)?
    ) {
        // The app may have set another renderer since the last scene.
        for call in self.video.use(renderer) { self.perform(call) }
        self.renderer = renderer
        let (width, height) = (stage.view.bounds.width, stage.view.bounds.height)
        guard scene.canvas.w > 0, scene.canvas.h > 0, width > 0, height > 0 else {
            for key in self.views.keys { self.remove(key, from: stage) }
            return
        }
        // The canvas is shown whole, in the middle of the view.
        let scale = min(width / scene.canvas.w, height / scene.canvas.h)
        let (left, top) = ((width - scene.canvas.w * scale) / 2, (height - scene.canvas.h * scale) / 2)
        var shownSeats: Set<SeatKey> = []
        for seat in scene.seats where seat.region.w > 0 && seat.region.h > 0 {
            let key = SeatKey(liveID: seat.userInfo.liveID, index: seat.index)
            shownSeats.insert(key)
            let view = self.view(key)
            let region = seat.region
            view.frame = CGRect(
                x: left + region.x * scale, y: top + region.y * scale, width: region.w * scale,
                height: region.h * scale)
            stage.place(view, level: RegionLevel.video.stageLevel(zorder: region.zorder))
            self.draw(seat, key, view, scene, ownID: ownID)
        }
        for key in self.views.keys where !shownSeats.contains(key) { self.remove(key, from: stage) }
    }

    /// The view of a seat, which is made when the seat is first shown.
    private mutating func view(_ key: SeatKey) -> UIImageView {
        if let view = self.views[key] { return view }
        let view = UIImageView(frame: .zero)
        view.contentMode = .scaleAspectFill
        view.clipsToBounds = true
        self.views[key] = view
        return view
    }

    private mutating func draw(
        _ seat: SeatInfo, _ key: SeatKey, _ view: UIImageView, _ scene: StageScene, ownID: String
    ) {
        let user = seat.userInfo
        let hasVideo = !user.userID.isEmpty && user.cameraStatus == .on
        let fillsStage = seat.region.w >= scene.canvas.w && seat.region.h >= scene.canvas.h
        let image = fillsStage ? self.closedCameraImages.big : self.closedCameraImages.small
        // An empty seat has an empty user id, and so has a client before its login.
        view.image = !hasVideo && !ownID.isEmpty && user.userID == ownID ? image : nil
        view.isHidden = !hasVideo && view.image == nil
        if let call = self.video.show(hasVideo ? user.userID : nil, key, in: view) { self.perform(call) }
    }

    private mutating func remove(_ key: SeatKey, from stage: StageLayers) {
        guard let view = self.views.removeValue(forKey: key) else { return }
        if let call = self.video.remove(key) { self.perform(call) }
        stage.remove(view)
    }

    private func perform(_ call: SeatVideoModel<UIImageView>.RenderCall) {
        self.renderer?.render(userID: call.userID, liveID: call.liveID, in: call.view)
    }
}
#endif
