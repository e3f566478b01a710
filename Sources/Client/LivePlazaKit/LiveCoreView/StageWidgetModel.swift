// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Decides which widgets lie over the video of a stage, and where.
///
/// A view passes each new scene and size to the model, and applies the changes that it returns. The app's delegate is
/// referenced weakly, so the app must retain it. Without one, the view's own delegate makes the widgets. The widgets of
/// two delegates are never mixed.
public struct StageWidgetModel<View: AnyObject> {
    private let fallback: (any StageWidgetDelegate<View>)?
    private var widgets: [WidgetKey: PlacedWidget] = [:]
    /// The identity of the delegate that made the present widgets.
    private var maker: ObjectIdentifier?

    /// The app's delegate.
    public weak var delegate: (any StageWidgetDelegate<View>)?

    /// Makes a model without widgets.
    ///
    /// - Parameter fallback: makes the widgets while the app has no delegate; nil for no widgets.
    public init(fallback: (any StageWidgetDelegate<View>)? = nil) { self.fallback = fallback }

    /// Identifies a widget: of a user on a seat in one layer, or of the battle.
    private struct WidgetKey: Hashable {
        var kind: WidgetKind
        var liveID = ""
        var seat = 0
        /// The user on the seat; if the user changes, the seat gets another widget.
        var userID = ""
    }

    private enum WidgetKind: Hashable {
        case coGuest(ViewLayer)
        case coHost(ViewLayer)
        case battle
        case battleContainer
    }

    private struct PlacedWidget {
        /// The widget; nil if the delegate returned none, which is stored so that the delegate is not asked again.
        var view: View?
        var placement: WidgetPlacement
    }

    /// Shows a scene in a view of the given size.
    ///
    /// - Parameters:
    ///   - scene: the seats, and the hosts in the battle.
    ///   - width: the width of the view.
    ///   - height: the height of the view.
    /// - Returns: the changes, removals first.
    public mutating func show(_ scene: StageScene, width: CGFloat, height: CGFloat) -> [WidgetChange<View>] {
        let delegate = self.delegate ?? self.fallback
        let maker = delegate.map { ObjectIdentifier($0) }
        var changes: [WidgetChange<View>] = []
        if maker != self.maker {
            changes = self.widgets.values.compactMap { widget in widget.view.map { .remove($0) } }
            self.widgets = [:]
            self.maker = maker
        }
        guard let delegate else { return changes }
        let placements = Self.placements(scene, width: width, height: height)
        for (key, widget) in self.widgets where placements[key] == nil {
            if let view = widget.view { changes.append(.remove(view)) }
            self.widgets[key] = nil
        }
        for (key, (placement, seat)) in placements.sorted(by: { $0.value.0.level < $1.value.0.level }) {
            if let widget = self.widgets[key] {
                self.widgets[key]?.placement = placement
                if let view = widget.view, widget.placement != placement { changes.append(.place(view, placement)) }
            } else {
                let view = Self.make(key.kind, seat, delegate)
                self.widgets[key] = PlacedWidget(view: view, placement: placement)
                if let view { changes.append(.add(view, placement)) }
            }
        }
        return changes
    }

    private static func make(
        _ kind: WidgetKind, _ seat: SeatInfo, _ delegate: any StageWidgetDelegate<View>
    ) -> View? {
        switch kind {
        case .coGuest(let layer): delegate.createCoGuestView(seatInfo: seat, viewLayer: layer)
        case .coHost(let layer): delegate.createCoHostView(seatInfo: seat, viewLayer: layer)
        case .battle: delegate.createBattleView(seatInfo: seat)
        case .battleContainer: delegate.createBattleContainerView()
        }
    }

    private static func placements(
        _ scene: StageScene, width: CGFloat, height: CGFloat
    ) -> [WidgetKey: (WidgetPlacement, SeatInfo)] {
        guard scene.canvas.w > 0, scene.canvas.h > 0, width > 0, height > 0 else { return [:] }
        // The canvas is shown whole, in the middle of the view.
        let scale = min(width / scene.canvas.w, height / scene.canvas.h)
        let (left, top) = ((width - scene.canvas.w * scale) / 2, (height - scene.canvas.h * scale) / 2)
        var placements: [WidgetKey: (WidgetPlacement, SeatInfo)] = [:]
        // A region has four levels: the background widgets, the video, the foreground widgets, and the battle's widget.
        func add(_ kind: WidgetKind, _ seat: SeatInfo, _ level: Int, isHidden: Bool = false) {
            let region = seat.region
            let placement = WidgetPlacement(
                x: left + region.x * scale, y: top + region.y * scale, width: region.w * scale,
                height: region.h * scale, level: region.zorder * 4 + level, isHidden: isHidden)
            let user = seat.userInfo
            placements[WidgetKey(kind: kind, liveID: user.liveID, seat: seat.index, userID: user.userID)] = (
                placement, seat
            )
        }
        // A user whose region has no size is heard but not seen.
        for seat in scene.seats where seat.region.w > 0 && seat.region.h > 0 {
            let hasVideo = seat.userInfo.cameraStatus == .on
            add(scene.isConnected ? .coHost(.background) : .coGuest(.background), seat, 0, isHidden: hasVideo)
            add(scene.isConnected ? .coHost(.foreground) : .coGuest(.foreground), seat, 2)
            if scene.fighters.contains(seat.userInfo.userID) { add(.battle, seat, 3) }
        }
        if !scene.fighters.isEmpty {
            var wholeStage = SeatInfo()
            wholeStage.region = RegionInfo(w: scene.canvas.w, h: scene.canvas.h)
            let topOrder = (scene.seats.map(\.region.zorder).max() ?? 0) + 1
            add(.battleContainer, wholeStage, topOrder * 4)
        }
        return placements
    }
}
