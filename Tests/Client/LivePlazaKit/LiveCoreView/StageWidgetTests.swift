// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import LivePlazaKit

/// A widget whose name tells the seat, user and layer that it was made for.
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
@Suite struct StageWidgetTests {
    // Each region has four levels, beginning with 4 × its `zorder`: background, video, foreground, battle. In these tests
    // the `zorder` of a seat is its index.
    private static let canvas = LiveCanvas(templateID: 600, w: 1080, h: 1920)

    /// A seat whose region is a quarter of the canvas: half as wide and half as high.
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

    @Test("a seat has the widgets that the delegate makes for its two layers")
    func layers() {
        let maker = WidgetMaker()
        var model = StageWidgetModel<Widget>()
        model.delegate = maker
        let scene = StageScene(seats: [Self.seat(0, "ann", camera: .on), Self.seat(1, "")], canvas: Self.canvas)
        // The view is half as wide as the canvas, so seat 1 with x = 540 is at 270.
        #expect(
            self.describe(model.show(scene, width: 540, height: 960)) == [
                "+ guest 0 ann background @0 l0 hidden", "+ guest 0 ann foreground @0 l2",
                "+ guest 1  foreground @270 l6",
            ])
        #expect(self.describe(model.show(scene, width: 540, height: 960)) == [])
        // The height allows half the canvas's size, 540 × 960, so (1080 - 540) / 2 = 270 is left at each side.
        let wide = self.describe(model.show(scene, width: 1080, height: 960))
        #expect(wide.contains("= guest 0 ann foreground @270 l2"), "the canvas is in the middle: \(wide)")
        // Two seats have two layers each.
        #expect(maker.requestCount == 4, "the delegate is not asked again for a widget that it does not make")
    }

    @Test("a background widget is shown while its user has no video")
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
        // Two widgets are removed, and two are added.
        #expect(changes.count == 4)
        let hosts = [Self.seat(0, "bob"), Self.seat(1, "cem", live: "cem-live")]
        let battle = StageScene(seats: hosts, canvas: Self.canvas, isConnected: true, fighters: ["bob", "cem"])
        let changesAtStart = self.describe(model.show(battle, width: 1080, height: 1920))
        // The two widgets of the guest bob are removed, because he is now shown as a host.
        #expect(changesAtStart.filter { $0.hasPrefix("-") }.count == 2)
        #expect(changesAtStart.contains("+ battle bob @0 l3") && changesAtStart.contains("+ battle cem @540 l7"))
        // The widget of the whole battle is above the levels 0 to 7 of the two seats.
        #expect(changesAtStart.last == "+ battle @0 l8")
        let afterBattle = StageScene(seats: hosts, canvas: Self.canvas, isConnected: true)
        #expect(
            Set(self.describe(model.show(afterBattle, width: 1080, height: 1920))) == [
                "- battle", "- battle bob", "- battle cem",
            ])
    }

    @Test("a new delegate replaces all widgets, and is referenced weakly")
    func newDelegate() {
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
        // The subviews of a view that follows the order.
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
        // Each layout places all views again.
        for (widget, level) in zip(widgets, [0, 1, 2, 8, 0]) { place(widget, level) }
        #expect(subviews.map(\.name) == ["back", "other back", "video", "front", "battle"])
        place(widgets[0], 4)
        #expect(subviews.map(\.name) == ["other back", "video", "front", "back", "battle"])
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
        // The region has no size: the user has no video.
        seat.region = RegionInfo()
        #expect(model.show(StageScene(seats: [seat], canvas: Self.canvas), width: 1, height: 1).isEmpty)
    }
}
