// SPDX-License-Identifier: Apache-2.0
#if canImport(UIKit) && !os(watchOS)
internal import LivePlazaCombine
public import UIKit

/// Whether a view shows the live that this user runs, or a live that the user watches.
public enum CoreViewType: Sendable, Hashable {
    /// For viewers.
    case playView
    /// For hosts.
    case pushView
}

/// The stage of a live: a picture for each seat, and the widgets over and under them.
///
/// Set `videoViewDelegate` before the view is shown, then `setLiveID`. Pictures are drawn by the app's
/// `videoRenderer`; without one there are widgets only.
open class LiveCoreView: UIView {
    /// Whether the view is for the user who runs the live or for a viewer.
    public let viewType: CoreViewType

    /// Makes the widgets; the app must retain this delegate.
    ///
    /// Without a delegate, the default widgets show each user's name.
    public weak var videoViewDelegate: (any VideoViewDelegate)? {
        didSet {
            self.adapter = self.videoViewDelegate.map { VideoViewDelegateAdapter($0) }
            self.showStage()
        }
    }

    /// Draws the pictures; the app must retain this renderer.
    public weak var videoRenderer: (any VideoRenderer)? {
        didSet { self.showStage() }
    }

    /// Lets `model` call `videoViewDelegate`; nil without a delegate.
    private var adapter: VideoViewDelegateAdapter?
    /// Decides which widgets the stage has and where they are.
    private var model = StageWidgetModel<UIView>(fallback: DefaultStageWidgets())
    private var pictures = SeatPictures()
    private let layers = StageLayers()
    /// The client whose live is shown.
    private var plaza = LivePlaza.shared
    /// What the stage shows; nil before `setLiveID`.
    private var scene: StageScene?
    private var subscriptions: Set<AnyCancellable> = []
    /// How often a live was set.
    private var liveCount = 0

    /// Makes a view without a live.
    public required init(viewType: CoreViewType, frame: CGRect = .zero) {
        self.viewType = viewType
        super.init(frame: frame)
        self.clipsToBounds = true
        self.addSubview(self.layers.view)
    }

    /// A stage cannot be made from a storyboard.
    @available(*, unavailable)
    public required init?(coder: NSCoder) { nil }

    /// Shows a live of the default client.
    public func setLiveID(_ liveID: String) { self.setLiveID(liveID, of: .shared) }

    /// Shows a live of a client.
    public func setLiveID(_ liveID: String, of plaza: LivePlaza) {
        self.subscriptions = []
        self.liveCount += 1
        let liveNumber = self.liveCount
        self.plaza = plaza
        let (seats, coHost, battle) = (
            plaza.seatStore(liveID: liveID), plaza.coHostStore(liveID: liveID), plaza.battleStore(liveID: liveID)
        )
        StageScene.publisher(seats.state, coHost.state, battle.state)
            .sink { [weak self] scene in
                Self.onMain {
                    // A scene of the former live may come late if its client publishes on another queue.
                    guard let self, self.liveCount == liveNumber else { return }
                    self.scene = scene
                    self.showStage()
                }
            }
            .store(in: &self.subscriptions)
    }

    /// Sets what is shown on this user's own seats while the camera is closed.
    ///
    /// - Parameters:
    ///   - bigImage: for a seat that fills the stage.
    ///   - smallImage: for smaller seats.
    public func setLocalVideoMuteImage(bigImage: UIImage?, smallImage: UIImage?) {
        self.pictures.closedCameraImages = (bigImage, smallImage)
        self.showStage()
    }

    open override func layoutSubviews() {
        super.layoutSubviews()
        self.showStage()
    }

    // MARK: Previews

    /// Lets the app's media engine play a live that this user has not entered.
    ///
    /// `roomId` is the live's id. If the app has no media engine, `onError` is called.
    public func startPreviewLiveStream(
        roomId: String, isMuteAudio: Bool, onPlaying: TUIPlayOnPlayingBlock? = nil,
        onLoading: TUIPlayOnLoadingBlock? = nil, onError: TUIPlayOnErrorBlock? = nil
    ) {
        guard let engine = self.plaza.deviceStore.mediaEngine else {
            onError?("", .failed, "DeviceStore has no media engine, which plays previews")
            return
        }
        let closures = PreviewClosures(onPlaying: onPlaying, onLoading: onLoading, onError: onError)
        engine.startPreview(liveID: roomId, isMuted: isMuteAudio) { event in Self.onMain { closures.report(event) } }
    }

    /// Ends the preview of the live with this id.
    public func stopPreviewLiveStream(roomId: String) {
        self.plaza.deviceStore.mediaEngine?.stopPreview(liveID: roomId)
    }

    /// Ignores the call: LivePlaza has no experimental methods (R3.53).
    public static func callExperimentalAPI(_ jsonStr: String) {}

    // MARK: Private

    /// Adapts the widgets and pictures to `scene` and to the view's size.
    private func showStage() {
        guard let scene = self.scene else { return }
        self.layers.view.frame = self.bounds
        // If the app has released its delegate, the model uses the default widgets.
        self.model.delegate = self.adapter?.delegate == nil ? nil : self.adapter
        for change in self.model.show(scene, width: self.bounds.width, height: self.bounds.height) {
            switch change {
            case .remove(let view): self.layers.remove(view)
            case .place(let view, let placement), .add(let view, let placement): self.place(view, placement)
            }
        }
        let ownID = self.plaza.loginStore.state.value.loginUserInfo?.userID ?? ""
        self.pictures.show(scene, in: self.layers, ownID: ownID, by: self.videoRenderer)
    }

    private func place(_ view: UIView, _ placement: WidgetPlacement) {
        self.layers.place(view, level: placement.level)
        view.frame = CGRect(x: placement.x, y: placement.y, width: placement.width, height: placement.height)
        view.isHidden = placement.isHidden
    }

    /// Runs `body` on the main actor.
    ///
    /// On the main thread, `body` runs at once. Clients publish on the main thread, unless their options name another
    /// queue.
    private nonisolated static func onMain(_ body: @escaping @MainActor @Sendable () -> Void) {
        if Thread.isMainThread {
            assumeOnMainThread(body)
        } else {
            DispatchQueue.main.async(execute: body)
        }
    }
}

/// Receives the id of a user whose preview plays.
public typealias TUIPlayOnPlayingBlock = (String) -> Void
/// Receives the id of a user whose preview is being loaded.
public typealias TUIPlayOnLoadingBlock = (String) -> Void
/// Receives the id of a user whose preview cannot be shown, the error, and a text for developers.
public typealias TUIPlayOnErrorBlock = (String, TUIError, String) -> Void
#endif
