// SPDX-License-Identifier: Apache-2.0
import Foundation
import LivePlazaCombine
import LivePlazaKit

/// A widget over the video of the stage; the name says what it shows.
final class NamedWidget {
    let name: String
    init(_ name: String) { self.name = name }
}

/// Makes the widgets of the stage.
final class WidgetMaker: StageWidgetDelegate {
    func createCoGuestView(seatInfo: SeatInfo, viewLayer: ViewLayer) -> NamedWidget? {
        self.makeWidget("guest", seatInfo, viewLayer)
    }

    func createCoHostView(seatInfo: SeatInfo, viewLayer: ViewLayer) -> NamedWidget? {
        self.makeWidget("host", seatInfo, viewLayer)
    }

    func createBattleView(seatInfo: SeatInfo) -> NamedWidget? { NamedWidget("fighter \(seatInfo.userInfo.userID)") }
    func createBattleContainerView() -> NamedWidget? { NamedWidget("score bar") }

    /// Makes a widget above the video of a user; an empty seat and the background have none.
    private func makeWidget(_ kind: String, _ seat: SeatInfo, _ layer: ViewLayer) -> NamedWidget? {
        guard !seat.userInfo.userID.isEmpty, layer == .foreground else { return nil }
        return NamedWidget("\(kind) \(seat.userInfo.userID)")
    }
}

/// The screen of one live, for its host or a viewer, as app developers write it.
///
/// The screen answers events as apps do: a host greets viewers, accepts guests, and connects and battles with other
/// hosts. Like `AppCode`, the class is compiled as a plain class in Swift 5 mode, and on the main actor
/// in Swift 6 mode.
#if swift(>=6)
@MainActor
#endif
public final class RoomScreen {
    /// What happened, in order, such as "accept guest ann".
    public private(set) var log: [String] = []
    /// The ids of all lives in the list, after `loadLives`; nil while the pages are read.
    public private(set) var liveIDs: [String]?
    /// The texts of the chat, with the tips that only this screen shows.
    public private(set) var chat: [String] = []
    /// The product that the host shows to all viewers; empty without one.
    public private(set) var product = ""
    /// The names of the widgets on the stage, sorted.
    public private(set) var widgets: [String] = []
    /// The id of the battle that runs.
    public private(set) var battleID: String?

    private let plaza: LivePlaza
    private let liveID: String
    private let widgetMaker = WidgetMaker()
    private var stage = StageWidgetModel<NamedWidget>()
    private var placedWidgets: [NamedWidget] = []
    private var cancellables = Set<AnyCancellable>()

    // The stores, which the client retains while it is in the live.
    private var barrage: BarrageStore { self.plaza.barrageStore(liveID: self.liveID) }
    private var audienceStore: LiveAudienceStore { self.plaza.audienceStore(liveID: self.liveID) }
    private var guests: CoGuestStore { self.plaza.coGuestStore(liveID: self.liveID) }
    private var hosts: CoHostStore { self.plaza.coHostStore(liveID: self.liveID) }
    private var battles: BattleStore { self.plaza.battleStore(liveID: self.liveID) }

    /// Makes the screen, and subscribes to the stores.
    public init(plaza: LivePlaza, liveID: String) {
        self.plaza = plaza
        self.liveID = liveID
        self.stage.delegate = self.widgetMaker
        self.bindChatAndProduct()
        self.bindGuests()
        self.bindHosts()
        self.bindStage()
    }

    // MARK: Subscriptions

    private func bindChatAndProduct() {
        self.barrage.state.subscribe(StatePublisherSelector(keyPath: \BarrageState.messageList))
            .sink { [weak self] messages in self?.chat = messages.map(\.textContent) }
            .store(in: &self.cancellables)
        self.audienceStore.liveAudienceEventPublisher
            .sink { [weak self] event in
                guard case .onAudienceJoined(let audience) = event else { return }
                var tip = Barrage()
                tip.textContent = "Welcome \(audience.userID)"
                self?.barrage.appendLocalTip(message: tip)
            }
            .store(in: &self.cancellables)
        self.plaza.liveListStore.state.subscribe(StatePublisherSelector(keyPath: \LiveListState.currentLive))
            .map { $0.metaData["product"] ?? "" }
            .removeDuplicates()
            .receive(on: DispatchQueue.main)
            .sink { [weak self] product in self?.product = product }
            .store(in: &self.cancellables)
        self.plaza.liveListStore.liveListEventPublisher
            .sink { [weak self] event in
                switch event {
                case .onLiveEnded: self?.log.append("live ended")
                case .onKickedOutOfLive: self?.log.append("kicked out")
                }
            }
            .store(in: &self.cancellables)
    }

    private func bindGuests() {
        self.guests.hostEventPublisher
            .sink { [weak self] event in
                guard case .onGuestApplicationReceived(let guestUser) = event else { return }
                self?.guests.acceptApplication(
                    userID: guestUser.userID, completion: self?.logged("accept guest \(guestUser.userID)"))
            }
            .store(in: &self.cancellables)
    }

    private func bindHosts() {
        self.hosts.coHostEventPublisher
            .sink { [weak self] event in
                guard case .onCoHostRequestReceived(let inviter, _) = event else { return }
                self?.hosts.acceptHostConnection(
                    fromHostLiveID: inviter.liveID, completion: self?.logged("connect with \(inviter.liveID)"))
            }
            .store(in: &self.cancellables)
        self.battles.battleEventPublisher
            .sink { [weak self] event in
                switch event {
                case .onBattleRequestReceived(let battleID, let inviter, _):
                    self?.battles.acceptBattle(
                        battleID: battleID, completion: self?.logged("accept battle of \(inviter.userID)"))
                case .onBattleStarted(let battleInfo, _, _): self?.battleID = battleInfo.battleID
                case .onBattleEnded: self?.battleID = nil
                default: break
                }
            }
            .store(in: &self.cancellables)
    }

    private func bindStage() {
        Publishers.CombineLatest3(
            self.plaza.seatStore(liveID: self.liveID).state.subscribe(),
            self.hosts.state.subscribe(),
            self.battles.state.subscribe()
        )
        .map { StageScene($0, $1, $2) }
        .sink { [weak self] scene in self?.show(scene) }
        .store(in: &self.cancellables)
    }

    private func show(_ scene: StageScene) {
        for change in self.stage.show(scene, width: 540, height: 960) {
            switch change {
            case .add(let widget, _): self.placedWidgets.append(widget)
            case .remove(let widget): self.placedWidgets.removeAll { $0 === widget }
            case .place: break
            }
        }
        self.widgets = self.placedWidgets.map(\.name).sorted()
    }

    /// A completion that logs the name of the call, followed by the error's name if the call has failed.
    private func logged<Value>(_ call: String) -> (Result<Value, ErrorInfo>) -> Void {
        { [weak self] result in
            switch result {
            case .success: self?.log.append(call)
            case .failure(let error): self?.log.append("\(call): \(error.name.rawValue)")
            }
        }
    }

    // MARK: What the user does

    /// Reads the whole list of lives, two lives a page; with a category, only the lives of that category.
    public func loadLives(category: Int? = nil) {
        self.liveIDs = nil
        self.loadPage(after: "", category)
    }

    private func loadPage(after cursor: String, _ category: Int?) {
        let store = self.plaza.liveListStore
        let completion: CompletionClosure = { [weak self, weak store] result in
            guard let self, let store else { return }
            if case .failure(let error) = result { self.log.append("load lives: \(error.name.rawValue)") }
            let nextCursor = store.state.value.liveListCursor
            if case .success = result, !nextCursor.isEmpty { return self.loadPage(after: nextCursor, category) }
            self.liveIDs = store.state.value.liveList.map(\.liveID)
        }
        if let category {
            store.fetchLiveList(cursor: cursor, count: 2, category: category, completion: completion)
        } else {
            store.fetchLiveList(cursor: cursor, count: 2, completion: completion)
        }
    }

    /// Creates the live in a category.
    public func goLive(category: Int) {
        var info = LiveInfo(seatTemplate: .videoDynamicGrid9Seats)
        info.liveID = self.liveID
        info.categoryList = [NSNumber(value: category)]
        self.plaza.liveListStore.createLive(info, completion: self.logged("go live"))
    }

    /// Enters the live.
    public func enter() {
        self.plaza.liveListStore.joinLive(liveID: self.liveID, completion: self.logged("enter"))
    }

    /// Sends a message to all in the live.
    public func say(_ text: String) {
        self.barrage.sendTextMessage(text: text, extensionInfo: nil, completion: self.logged("say \(text)"))
    }

    /// Shows a product card to all in the live; only the host may.
    public func showProduct(_ name: String) {
        self.plaza.liveListStore.updateLiveMetaData(["product": name], completion: self.logged("product \(name)"))
    }

    /// Applies for a seat.
    public func applyForSeat() {
        self.guests.applyForSeat(timeout: 30, extraInfo: nil, completion: self.logged("apply"))
    }

    /// Asks the host of another live to connect.
    public func connect(with live: String) {
        self.hosts.requestHostConnection(
            targetHost: live, layoutTemplate: .hostDynamicGrid, timeout: 30, completion: self.logged("request \(live)"))
    }

    /// Asks a connected host for a battle of 30 s.
    public func fight(_ host: String) {
        self.battles.requestBattle(
            config: BattleConfig(duration: 30), userIDList: [host], timeout: 10
        ) { [weak self] result in
            switch result {
            case .success(let (_, codes)): self?.log.append("ask \(host): code \(codes[host] ?? -1)")
            case .failure(let error): self?.log.append("ask \(host): \(error.name.rawValue)")
            }
        }
    }

    /// Leaves the battle and the connection.
    public func disconnect() {
        if let battleID = self.battleID {
            self.battles.exitBattle(battleID: battleID, completion: self.logged("exit battle"))
        }
        self.hosts.exitHostConnection(completion: self.logged("exit connection"))
    }

    /// Makes a viewer an admin, as the audience manager does.
    public func appoint(_ viewer: String) {
        self.audienceStore.setAdministrator(userID: viewer, completion: self.logged("appoint \(viewer)"))
    }

    /// Kicks a viewer out of the live, as the audience manager does.
    public func kick(_ viewer: String) {
        self.audienceStore.kickUserOutOfRoom(userID: viewer, completion: self.logged("kick \(viewer)"))
    }

    /// The ids of the audience that the audience manager lists, admins marked by `*`, sorted.
    public var audience: [String] {
        let state = self.audienceStore.state.value
        let admins = Set(state.adminList.map(\.userID))
        return state.audienceList.map { admins.contains($0.userID) ? "\($0.userID)*" : $0.userID }.sorted()
    }

    /// Ends the live.
    public func end() {
        self.plaza.liveListStore.endLive(completion: self.logged("end live"))
    }
}
