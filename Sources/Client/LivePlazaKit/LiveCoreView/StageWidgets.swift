// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import LivePlazaCombine

/// Whether a widget is above or under the video.
public enum ViewLayer: Int, Sendable, Hashable {
    /// Above the video, always shown.
    case foreground
    /// Under the video; visible while the user has no video.
    case background
}

/// Makes an app's widgets for the stage of a live.
///
/// A delegate decides about all widgets: if it returns nil, there is no widget. `View` is the system's class of views;
/// tests use a class of their own.
public protocol StageWidgetDelegate<View>: AnyObject {
    /// The class of the widgets.
    associatedtype View: AnyObject

    /// Makes the widget of a seat while the live is connected with no other; called once for each layer.
    ///
    /// - Parameters:
    ///   - seatInfo: the seat; without a user's id it is empty.
    ///   - viewLayer: above or under the video.
    /// - Returns: nil for no widget.
    func createCoGuestView(seatInfo: SeatInfo, viewLayer: ViewLayer) -> View?

    /// Makes the widget of a seat while the live is connected with others; called once for each layer.
    ///
    /// - Returns: nil for no widget.
    func createCoHostView(seatInfo: SeatInfo, viewLayer: ViewLayer) -> View?

    /// Makes the widget above the video of a host in a battle.
    ///
    /// - Returns: nil for no widget.
    func createBattleView(seatInfo: SeatInfo) -> View?

    /// Makes the one widget for the whole battle, such as a clock with a score bar; it lies above all others.
    ///
    /// - Returns: nil for no widget.
    func createBattleContainerView() -> View?
}

/// What the widgets of a stage depend on.
public struct StageScene: Sendable, Hashable {
    /// The seats of the live, and of the lives that it is connected with.
    public var seats: [SeatInfo]
    /// The surface of the seats' regions.
    public var canvas: LiveCanvas
    /// Whether the live is connected with others.
    public var isConnected: Bool
    /// The ids of the hosts in the battle; empty without a battle.
    public var fighters: Set<String>

    /// Makes a scene.
    public init(seats: [SeatInfo], canvas: LiveCanvas, isConnected: Bool = false, fighters: Set<String> = []) {
        self.seats = seats
        self.canvas = canvas
        self.isConnected = isConnected
        self.fighters = fighters
    }

    /// Makes a scene from the states of a live.
    public init(_ seats: LiveSeatState, _ coHost: CoHostState, _ battle: BattleState) {
        self.init(
            seats: seats.seatList, canvas: seats.canvas, isConnected: coHost.coHostStatus == .connected,
            fighters: battle.currentBattleInfo == nil ? [] : Set(battle.battleUsers.map(\.userID)))
    }

    /// Publishes the present scene of a live, and each new one.
    ///
    /// One frame of the server may change all three states, which are published one after the other. Each scene is made
    /// from the newest value of each state. So no scene mixes the seats after a frame with the connection before the
    /// frame.
    static func publisher(
        _ seats: StatePublisher<LiveSeatState>, _ coHost: StatePublisher<CoHostState>,
        _ battle: StatePublisher<BattleState>
    ) -> AnyPublisher<StageScene, Never> {
        Publishers.CombineLatest3(seats.subscribe(), coHost.subscribe(), battle.subscribe())
            .map { _ in StageScene(seats.value, coHost.value, battle.value) }
            .removeDuplicates()
            .eraseToAnyPublisher()
    }
}

/// The position and size of a widget.
public struct WidgetPlacement: Sendable, Hashable {
    /// The left edge in the view's coordinates.
    public var x: CGFloat
    /// The top edge in the view's coordinates.
    public var y: CGFloat
    /// The width.
    public var width: CGFloat
    /// The height.
    public var height: CGFloat
    /// Widgets with a higher level lie above those with a lower one.
    ///
    /// The video of a region is at the level 4 × `zorder` + 1.
    public var level: Int
    /// Whether the widget is hidden now.
    public var isHidden: Bool
}

/// A change that a view applies to show a stage.
public enum WidgetChange<View: AnyObject> {
    /// Add a widget.
    case add(View, WidgetPlacement)
    /// Move, show or hide a widget that was added.
    case place(View, WidgetPlacement)
    /// Remove a widget that was added.
    case remove(View)
}

/// The views of one region, from the lowest to the highest.
enum RegionLevel: Int, CaseIterable {
    /// The widgets under the video.
    case background
    case video
    /// The widgets above the video.
    case foreground
    /// The widget of a host in a battle.
    case battle

    /// The level among the views of the whole stage; see `WidgetPlacement.level`.
    func stageLevel(zorder: Int) -> Int { zorder * Self.allCases.count + self.rawValue }
}
