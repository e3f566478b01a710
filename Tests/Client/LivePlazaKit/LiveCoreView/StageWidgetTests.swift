// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import LivePlazaKit

/// A widget whose name contains the seat, user and layer that it was made for.
private final class Widget {
    let name: String
    init(_ name: String) { self.name = name }
}

/// Makes a widget for each request, except for the background of an empty seat.
private final class WidgetMaker: StageWidgetDelegate {
    let prefix: String
    /// How many widgets were requested, including those that were not made.
    var requestCount = 0

    init(_ prefix: String = "") { self.prefix = prefix }

    func createCoGuestView(seatInfo: SeatInfo, viewLayer: ViewLayer) -> Widget? {
        self.makeWidget("guest \(seatInfo.index) \(seatInfo.userInfo.userID) \(viewLayer)", seatInfo, viewLayer)
    }

    func createCoHostView(seatInfo: SeatInfo, viewLayer: ViewLayer) -> Widget? {
        self.makeWidget("host \(seatInfo.index) \(seatInfo.userInfo.userID) \(viewLayer)", seatInfo, viewLayer)
    }

    func createBattleView(seatInfo: SeatInfo) -> Widget? { self.makeWidget("battle \(seatInfo.userInfo.userID)") }
    func createBattleContainerView() -> Widget? { self.makeWidget("battle") }

    private func makeWidget(_ name: String, _ seat: SeatInfo, _ layer: ViewLayer) -> Widget? {
        let widget = self.makeWidget(name)
        return seat.userInfo.userID.isEmpty && layer == .background ? nil : widget
    }

    private func makeWidget(_ name: String) -> Widget {
        self.requestCount += 1
        return Widget(self.prefix + name)
    }
}

/// Which widgets lie over the video of a stage, and where.
///
/// Each region has four levels: background, video, foreground and battle. They begin at 4 × the region's `zorder`,
/// which is the index of the seat in these tests. So seat 0 has the levels 0 to 3, and seat 1 has the levels 4 to 7.
@Suite struct StageWidgetTests {
    private static let canvas = LiveCanvas(templateID: 600, w: 1080, h: 1920)

    /// A seat of this user (none if empty), whose region is half as wide and half as high as the canvas.
    private static func seat(
        _ index: Int, _ user: String, camera: DeviceStatus = .off, live: String = "ann-live"
    ) -> SeatInfo {
        SeatInfo(
            index: index,
            userInfo: SeatUserInfo(userID: user, liveID: live, cameraStatus: camera),
            region: RegionInfo(x: CGFloat(index) * 540, y: 0, w: 540, h: 960, zorder: index))
    }

    /// The changes as texts: `+` adds a widget, `=` moves it, `-` removes it.
    ///
    /// The number after `@` is the widget's x, the one after `l` its level on the stage.
    private func describe(_ changes: [WidgetChange<Widget>]) -> [String] {
        changes.map { change in
            switch change {
            case .add(let widget, let placement):
                "+ \(widget.name) @\(Int(placement.x)) l\(placement.level)\(placement.isHidden ? " hidden" : "")"
            case .place(let widget, let placement):
                "= \(widget.name) @\(Int(placement.x)) l\(placement.level)\(placement.isHidden ? " hidden" : "")"
            case .remove(let widget): "- \(widget.name)"
            }
        }
    }

    @Test("a seat shows the widgets that the delegate makes for its background and its foreground")
    func layers() {
        let maker = WidgetMaker()
        var model = StageWidgetModel<Widget>()
        model.delegate = maker
        let scene = StageScene(seats: [Self.seat(0, "ann", camera: .on), Self.seat(1, "")], canvas: Self.canvas)
        // The view is half as wide as the canvas, so seat 1, at 540 of the canvas, is at 270 of the view. The delegate
        // makes no background for seat 1, because that seat is empty.
        #expect(
            self.describe(model.show(scene, width: 540, height: 960)) == [
                "+ guest 0 ann background @0 l0 hidden", "+ guest 0 ann foreground @0 l2",
                "+ guest 1  foreground @270 l6",
            ])
        #expect(self.describe(model.show(scene, width: 540, height: 960)) == [], "expected no changes")
        // In a wide view the canvas is in the middle. It is shown as 540 × 960, because of the height of the view, so
        // (1080 - 540) / 2 = 270 is left at each side.
        let changesInWideView = self.describe(model.show(scene, width: 1080, height: 960))
        #expect(changesInWideView.contains("= guest 0 ann foreground @270 l2"), "\(changesInWideView)")
        // Two seats have two layers each. The delegate is not asked again for the background that it did not make.
        #expect(maker.requestCount == 4)
    }

    @Test("a seat's background widget is hidden when its user has video")
    func background() {
        let maker = WidgetMaker()
        var model = StageWidgetModel<Widget>()
        model.delegate = maker
        _ = model.show(StageScene(seats: [Self.seat(0, "ann")], canvas: Self.canvas), width: 1080, height: 1920)
        let sceneWithVideo = StageScene(seats: [Self.seat(0, "ann", camera: .on)], canvas: Self.canvas)
        #expect(
            self.describe(model.show(sceneWithVideo, width: 1080, height: 1920)) == [
                "= guest 0 ann background @0 l0 hidden"
            ])
    }

    @Test("a seat gets new widgets for a new user, for a connection of lives and for a battle")
    func kinds() {
        let maker = WidgetMaker()
        var model = StageWidgetModel<Widget>()
        model.delegate = maker
        _ = model.show(StageScene(seats: [Self.seat(0, "ann")], canvas: Self.canvas), width: 1080, height: 1920)
        let sceneWithBob = StageScene(seats: [Self.seat(0, "bob")], canvas: Self.canvas)
        let changes = self.describe(model.show(sceneWithBob, width: 1080, height: 1920))
        #expect(Set(changes.prefix(2)) == ["- guest 0 ann background", "- guest 0 ann foreground"])
        // The widgets of Ann's two layers are removed, and those of Bob's are added.
        #expect(changes.count == 4)
        // Bob's live is connected with Cem's, and the two hosts are in a battle.
        let hosts = [Self.seat(0, "bob"), Self.seat(1, "cem", live: "cem-live")]
        let battle = StageScene(seats: hosts, canvas: Self.canvas, isConnected: true, fighters: ["bob", "cem"])
        let changesAtStart = self.describe(model.show(battle, width: 1080, height: 1920))
        // Bob's two widgets are removed, because they were made for a guest, and he is now shown as a host.
        #expect(changesAtStart.filter { $0.hasPrefix("-") }.count == 2)
        #expect(changesAtStart.contains("+ battle bob @0 l3") && changesAtStart.contains("+ battle cem @540 l7"))
        // The widget of the whole battle is above the levels 0 to 7 of the two seats.
        #expect(changesAtStart.last == "+ battle @0 l8")
        // After the battle the connection lasts.
        let afterBattle = StageScene(seats: hosts, canvas: Self.canvas, isConnected: true)
        #expect(
            Set(self.describe(model.show(afterBattle, width: 1080, height: 1920))) == [
                "- battle", "- battle bob", "- battle cem",
            ])
    }

    @Test("a new delegate's widgets replace all others, until the delegate is released")
    func newDelegate() {
        // The fallback makes the widgets while there is no delegate.
        let fallback = WidgetMaker("own ")
        var model = StageWidgetModel<Widget>(fallback: fallback)
        let scene = StageScene(seats: [Self.seat(0, "ann")], canvas: Self.canvas)
        #expect(model.show(scene, width: 1080, height: 1920).count == 2)
        var maker: WidgetMaker? = WidgetMaker("app ")
        model.delegate = maker
        let replaced = self.describe(model.show(scene, width: 1080, height: 1920))
        #expect(
            replaced.filter { $0.hasPrefix("- own") }.count == 2 && replaced.filter { $0.hasPrefix("+ app") }.count == 2
        )
        // The model references the delegate weakly.
        maker = nil
        #expect(model.delegate == nil)
        let restored = self.describe(model.show(scene, width: 1080, height: 1920))
        #expect(
            restored.filter { $0.hasPrefix("- app") }.count == 2 && restored.filter { $0.hasPrefix("+ own") }.count == 2
        )
    }

    @Test("views are stacked by level, and views of one level in the order in which they were added")
    func order() {
        var order = StageOrder<Widget>()
        // The subviews of a view, from back to front, which the test changes as the order says.
        var subviews: [Widget] = []
        func place(_ widget: Widget, _ level: Int) {
            switch order.place(widget, level: level) {
            case .unchanged: break
            case .below(let next):
                subviews.removeAll { $0 === widget }
                subviews.insert(widget, at: subviews.firstIndex { $0 === next } ?? 0)
            case .top:
                subviews.removeAll { $0 === widget }
                subviews.append(widget)
            }
        }
        let widgets = ["back", "video", "front", "battle", "other back"].map { Widget($0) }
        for (widget, level) in zip(widgets, [0, 1, 2, 8, 0]) { place(widget, level) }
        #expect(subviews.map(\.name) == ["back", "other back", "video", "front", "battle"])
        // To place all views again, as each layout does, changes nothing.
        for (widget, level) in zip(widgets, [0, 1, 2, 8, 0]) { place(widget, level) }
        #expect(subviews.map(\.name) == ["back", "other back", "video", "front", "battle"])
        // "back" moves to a level between "front" and "battle".
        place(widgets[0], 4)
        #expect(subviews.map(\.name) == ["other back", "video", "front", "back", "battle"])
        // "battle" is removed, and "video" moves to the top.
        order.remove(widgets[3])
        subviews.removeLast()
        place(widgets[1], 9)
        #expect(subviews.map(\.name) == ["other back", "front", "back", "video"])
    }

    @Test("a user who is heard but not seen has no widget")
    func voices() {
        let maker = WidgetMaker()
        var model = StageWidgetModel<Widget>()
        model.delegate = maker
        var seat = Self.seat(0, "ann")
        // The region of a user without video has no size.
        seat.region = RegionInfo()
        #expect(model.show(StageScene(seats: [seat], canvas: Self.canvas), width: 1, height: 1).isEmpty)
    }
}
