// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Decides which widgets lie over the video of a stage, and where.
///
/// A view passes each new scene and size to the model, and applies the changes that the model returns. The app's
/// delegate is referenced weakly, so the app must retain it. If the app has no delegate, the view's own delegate makes
/// the widgets. The widgets of two delegates are never mixed.
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

    /// A widget that a scene needs.
    private struct PlannedWidget {
        let placement: WidgetPlacement
        let seat: SeatInfo
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
        let plannedWidgets = Self.plannedWidgets(scene, width: width, height: height)
        for (key, widget) in self.widgets where plannedWidgets[key] == nil {
            if let view = widget.view { changes.append(.remove(view)) }
            self.widgets[key] = nil
        }
        for (key, planned) in plannedWidgets.sorted(by: { $0.value.placement.level < $1.value.placement.level }) {
            if let change = self.place(key, planned, delegate) { changes.append(change) }
        }
        return changes
    }

    /// Moves the widget of a key, or makes it.
    ///
    /// - Returns: the change; nil if the view need not do anything.
    private mutating func place(
        _ key: WidgetKey, _ planned: PlannedWidget, _ delegate: any StageWidgetDelegate<View>
    ) -> WidgetChange<View>? {
        let placement = planned.placement
        guard let widget = self.widgets[key] else {
            let view = Self.makeWidget(key.kind, planned.seat, delegate)
            self.widgets[key] = PlacedWidget(view: view, placement: placement)
            return view.map { .add($0, placement) }
        }
        self.widgets[key]?.placement = placement
        return widget.placement == placement ? nil : widget.view.map { .place($0, placement) }
    }

    private static func makeWidget(
        _ kind: WidgetKind, _ seat: SeatInfo, _ delegate: any StageWidgetDelegate<View>
    ) -> View? {
        switch kind {
        case .coGuest(let layer): delegate.createCoGuestView(seatInfo: seat, viewLayer: layer)
        case .coHost(let layer): delegate.createCoHostView(seatInfo: seat, viewLayer: layer)
        case .battle: delegate.createBattleView(seatInfo: seat)
        case .battleContainer: delegate.createBattleContainerView()
        }
    }

    /// The widgets that a scene needs, with their places in a view of the given size.
    private static func plannedWidgets(
        _ scene: StageScene, width: CGFloat, height: CGFloat
    ) -> [WidgetKey: PlannedWidget] {
        guard scene.canvas.w > 0, scene.canvas.h > 0, width > 0, height > 0 else { return [:] }
        // The canvas is shown whole, in the middle of the view.
        let scale = min(width / scene.canvas.w, height / scene.canvas.h)
        let (left, top) = ((width - scene.canvas.w * scale) / 2, (height - scene.canvas.h * scale) / 2)
        var plannedWidgets: [WidgetKey: PlannedWidget] = [:]
        func add(_ kind: WidgetKind, _ seat: SeatInfo, _ level: RegionLevel, isHidden: Bool = false) {
            let region = seat.region
            let placement = WidgetPlacement(
                x: left + region.x * scale, y: top + region.y * scale, width: region.w * scale,
                height: region.h * scale, level: level.stageLevel(zorder: region.zorder), isHidden: isHidden)
            let user = seat.userInfo
            let key = WidgetKey(kind: kind, liveID: user.liveID, seat: seat.index, userID: user.userID)
            plannedWidgets[key] = PlannedWidget(placement: placement, seat: seat)
        }
        // A user whose region has no size is heard but not seen.
        for seat in scene.seats where seat.region.w > 0 && seat.region.h > 0 {
            let hasVideo = seat.userInfo.cameraStatus == .on
            add(scene.isConnected ? .coHost(.background) : .coGuest(.background), seat, .background, isHidden: hasVideo)
            add(scene.isConnected ? .coHost(.foreground) : .coGuest(.foreground), seat, .foreground)
            if scene.fighters.contains(seat.userInfo.userID) { add(.battle, seat, .battle) }
        }
        if !scene.fighters.isEmpty {
            var wholeStage = SeatInfo()
            // The widget for the whole battle lies above all regions.
            let topOrder = (scene.seats.map(\.region.zorder).max() ?? 0) + 1
            wholeStage.region = RegionInfo(w: scene.canvas.w, h: scene.canvas.h, zorder: topOrder)
            add(.battleContainer, wholeStage, .background)
        }
        return plannedWidgets
    }
}
