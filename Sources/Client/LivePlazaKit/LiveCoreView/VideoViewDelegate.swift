// SPDX-License-Identifier: Apache-2.0
#if canImport(UIKit) && !os(watchOS)
public import UIKit

/// Makes an app's widgets for the stage of a live; `LiveCoreView` adds, places and removes them.
///
/// A delegate decides about all widgets: if it returns nil, there is no widget. Empty seats have an empty user id.
public protocol VideoViewDelegate: AnyObject {
    /// Makes the widget of a seat while the live is connected with no other; called once for each layer.
    func createCoGuestView(seatInfo: SeatInfo, viewLayer: ViewLayer) -> UIView?
    /// Makes the widget of a seat while the live is connected with others; called once for each layer.
    func createCoHostView(seatInfo: SeatInfo, viewLayer: ViewLayer) -> UIView?
    /// Makes the widget above the video of a host in a battle.
    func createBattleView(seatInfo: SeatInfo) -> UIView?
    /// Makes the one widget for the whole battle, such as a clock with a score bar; it lies above all others.
    func createBattleContainerView() -> UIView?
}

/// Draws the pictures of a live's users into views, as the app's media engine does.
@MainActor public protocol VideoRenderer: AnyObject {
    /// Shows the picture of a user in a view, until the next call with another user or nil.
    ///
    /// - Parameters:
    ///   - userID: the user; nil to show nothing.
    ///   - liveID: the live in which the user is.
    ///   - view: an empty view of the size of the seat's region.
    func render(userID: String?, liveID: String, in view: UIView)
}

/// Lets the model of the widgets call an app's `VideoViewDelegate`.
final class VideoViewDelegateAdapter: StageWidgetDelegate {
    private(set) weak var delegate: (any VideoViewDelegate)?

    init(_ delegate: any VideoViewDelegate) { self.delegate = delegate }

    func createCoGuestView(seatInfo: SeatInfo, viewLayer: ViewLayer) -> UIView? {
        self.delegate?.createCoGuestView(seatInfo: seatInfo, viewLayer: viewLayer)
    }

    func createCoHostView(seatInfo: SeatInfo, viewLayer: ViewLayer) -> UIView? {
        self.delegate?.createCoHostView(seatInfo: seatInfo, viewLayer: viewLayer)
    }

    func createBattleView(seatInfo: SeatInfo) -> UIView? { self.delegate?.createBattleView(seatInfo: seatInfo) }
    func createBattleContainerView() -> UIView? { self.delegate?.createBattleContainerView() }
}

/// The widgets of a view without a delegate: the name of the user, and a dark surface while there is no picture.
final class DefaultStageWidgets: StageWidgetDelegate {
    func createCoGuestView(seatInfo: SeatInfo, viewLayer: ViewLayer) -> UIView? {
        Self.nameLabel(seatInfo, viewLayer)
    }

    func createCoHostView(seatInfo: SeatInfo, viewLayer: ViewLayer) -> UIView? { Self.nameLabel(seatInfo, viewLayer) }
    func createBattleView(seatInfo: SeatInfo) -> UIView? { nil }
    func createBattleContainerView() -> UIView? { nil }

    private static func nameLabel(_ seat: SeatInfo, _ layer: ViewLayer) -> UIView? {
        let user = seat.userInfo
        if user.userID.isEmpty { return nil }
        // The model is used by `LiveCoreView` alone, on the main actor.
        return assumeOnMainThread {
            let label = UILabel(frame: .zero)
            label.text = user.userName.isEmpty ? user.userID : user.userName
            label.textColor = .white
            label.textAlignment = layer == .background ? .center : .natural
            label.backgroundColor = layer == .background ? .darkGray : .clear
            return label
        }
    }
}
#endif
