// SPDX-License-Identifier: Apache-2.0
internal import LivePlazaCombine

/// The states and events of all stores of one live.
///
/// Each store gets its state and events from this object. The object is created when an app requests a store of the
/// live. It exists as long as one of its stores exists, or the client is in the live. Its publishers exist as long as
/// this object exists or anybody subscribes to them; see `StoreRegistry`. Therefore a subscription continues even if
/// the app does not retain the store.
final class LiveStores: LiveStoresSink, @unchecked Sendable {
    /// Makes the calls of the stores.
    let handle: LiveHandle
    let audience: StatePublisher<LiveAudienceState>
    let barrage: StatePublisher<BarrageState>
    let seat: StatePublisher<LiveSeatState>
    let coGuest: StatePublisher<CoGuestState>
    let coHost: StatePublisher<CoHostState>
    let battle: StatePublisher<BattleState>
    let gift: StatePublisher<GiftState>
    let like: StatePublisher<LikeState>
    let summary: StatePublisher<LiveSummaryState>

    let audienceEvents: PassthroughSubject<LiveAudienceEvent, Never>
    let seatEvents: PassthroughSubject<LiveSeatEvent, Never>
    let guestEvents: PassthroughSubject<GuestEvent, Never>
    let hostEvents: PassthroughSubject<HostEvent, Never>
    let coHostEvents: PassthroughSubject<CoHostEvent, Never>
    let battleEvents: PassthroughSubject<BattleEvent, Never>
    let giftEvents: PassthroughSubject<GiftEvent, Never>
    let likeEvents: PassthroughSubject<LikeEvent, Never>

    /// The likes that are not sent yet.
    let likeTaps = Locked(LikeTaps())
    /// The language of the gifts' names, from the next refresh on; nil if the app has set none.
    private let language: Locked<String?>
    /// The existing stores, so that repeated requests get the same store.
    private let stores = Locked<[ObjectIdentifier: WeakStore]>([:])

    /// Creates the states and events of the stores.
    ///
    /// `publishers`: the publishers of the live; missing ones are created and added.
    /// `giftLanguage`: shared with the former stores of the live.
    init(
        _ liveID: String, on engine: PlazaEngine, _ publishers: inout WeakPublishers, giftLanguage: Locked<String?>
    ) {
        self.handle = LiveHandle(engine: engine, liveID: liveID)
        self.language = giftLanguage
        self.audience = publishers.state(LiveAudienceState())
        self.barrage = publishers.state(BarrageState())
        self.seat = publishers.state(LiveSeatState())
        self.coGuest = publishers.state(CoGuestState())
        self.coHost = publishers.state(CoHostState())
        self.battle = publishers.state(BattleState())
        self.gift = publishers.state(GiftState())
        self.like = publishers.state(LikeState())
        self.summary = publishers.state(LiveSummaryState())
        self.audienceEvents = publishers.events()
        self.seatEvents = publishers.events()
        self.guestEvents = publishers.events()
        self.hostEvents = publishers.events()
        self.coHostEvents = publishers.events()
        self.battleEvents = publishers.events()
        self.giftEvents = publishers.events()
        self.likeEvents = publishers.events()
    }

    var giftLanguage: String? {
        get { self.language.withLock { $0 } }
        set { self.language.withLock { $0 = newValue } }
    }

    /// The store of a kind: the existing one, or a new one.
    func store<Store: AnyObject & Sendable>(_ make: @Sendable (LiveStores) -> Store) -> Store {
        self.stores.withLock { stores in
            if let store = stores[ObjectIdentifier(Store.self)]?.object as? Store { return store }
            let store = make(self)
            stores[ObjectIdentifier(Store.self)] = WeakStore(object: store)
            return store
        }
    }

    /// While the client is not in the live, the list has nothing but the app's own messages.
    var localTips: [Barrage] { self.barrage.value.messageList }

    /// Adds a message of the app in a live that the client is not in; called on the delivery queue.
    func addLocalTip(_ message: Barrage) {
        var state = self.barrage.value
        state.insert(message.localTip(in: self.handle.liveID))
        self.barrage.value = state
    }

    func changes(to states: LiveStates) -> [StateChange] {
        [
            Self.change(of: self.audience, to: states.audience), Self.change(of: self.barrage, to: states.barrage),
            Self.change(of: self.seat, to: states.seat), Self.change(of: self.coGuest, to: states.coGuest),
            Self.change(of: self.coHost, to: states.coHost), Self.change(of: self.battle, to: states.battle),
            Self.change(of: self.gift, to: states.gift), Self.change(of: self.like, to: states.like),
            Self.change(of: self.summary, to: states.summary),
        ].compactMap { $0 }
    }

    private static func change<State: Equatable>(
        of publisher: StatePublisher<State>, to state: State
    ) -> StateChange? {
        publisher.value == state ? nil : publisher.change(to: state)
    }

    func publish(_ events: [StoreEvent]) {
        for event in events { self.publish(event) }
    }

    private func publish(_ event: StoreEvent) {
        switch event {
        case .audience(let event): self.audienceEvents.send(event)
        case .seat(let event): self.seatEvents.send(event)
        case .guest(let event): self.guestEvents.send(event)
        case .host(let event): self.hostEvents.send(event)
        case .coHost(let event): self.coHostEvents.send(event)
        case .battle(let event): self.battleEvents.send(event)
        case .gift(let event): self.giftEvents.send(event)
        case .like(let event): self.likeEvents.send(event)
        }
    }
}

private struct WeakStore: Sendable {
    weak let object: (any AnyObject & Sendable)?
}
