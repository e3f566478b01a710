// SPDX-License-Identifier: Apache-2.0
internal import LivePlazaCombine

/// The stores of a client.
///
/// The registry retains neither stores nor publishers. The client retains the stores of the live that it is in. An app
/// retains the stores that it holds, and each of its subscriptions retains a publisher. The registry finds the stores
/// and publishers that exist. Therefore stores that are made again publish to the subscribers of the former ones, and
/// keep the language that the app has set for gifts.
final class StoreRegistry: Sendable {
    private struct State {
        weak var engine: PlazaEngine?
        weak var list: LiveListStore?
        weak var login: LoginStore?
        weak var devices: DeviceStore?
        var lives: [String: LiveEntry] = [:]
        /// When there are this many lives, the entries of the lives without stores and subscriptions are removed.
        var cleanUpCount = StoreRegistry.minCleanUpCount
    }

    /// The existing stores and publishers of one live.
    private struct LiveEntry {
        weak var stores: LiveStores?
        var publishers = WeakPublishers()
        /// The language that the app has set for gifts; valid as long as the entry is not released.
        let giftLanguage = Locked<String?>(nil)

        var isReleased: Bool { self.stores == nil && self.publishers.areReleased }
    }

    /// The lowest number of lives at which entries are removed; for fewer lives, the search is not worth the work.
    private static let minCleanUpCount = 16

    private let state = Locked(State())

    var list: LiveListStore? { self.state.withLock { $0.list } }
    var login: LoginStore? { self.state.withLock { $0.login } }
    var devices: DeviceStore? { self.state.withLock { $0.devices } }
    /// The number of lives that have an entry.
    var liveCount: Int { self.state.withLock { $0.lives.count } }

    func attach(_ engine: PlazaEngine, list: LiveListStore, login: LoginStore, devices: DeviceStore) {
        self.state.withLock { state in
            state.engine = engine
            state.list = list
            state.login = login
            state.devices = devices
        }
    }

    /// The stores of a live: the existing ones, or new ones with the publishers that exist.
    func stores(of liveID: String) -> LiveStores {
        self.state.withLock { state in
            guard let engine = state.engine else { preconditionFailure("the client of these stores is gone") }
            if let stores = state.lives[liveID]?.stores { return stores }
            // The limit is twice the number of lives that remain, so that the work for each new live stays small.
            if state.lives.count >= state.cleanUpCount {
                state.lives = state.lives.filter { !$0.value.isReleased }
                state.cleanUpCount = max(Self.minCleanUpCount, state.lives.count * 2)
            }
            // The app's choices last as long as a store or a subscription, so those of a released entry are dropped.
            var entry = LiveEntry()
            if let existing = state.lives[liveID], !existing.isReleased { entry = existing }
            let stores = LiveStores(liveID, on: engine, &entry.publishers, giftLanguage: entry.giftLanguage)
            entry.stores = stores
            state.lives[liveID] = entry
            return stores
        }
    }
}

/// Weak references to the publishers of one live, which the app's subscriptions and the stores of the live retain.
struct WeakPublishers {
    private struct WeakObject { weak var object: AnyObject? }

    /// The publishers by their type: each state and each kind of event has a type of its own, and so has its publisher.
    private var objects: [ObjectIdentifier: WeakObject] = [:]

    var areReleased: Bool { self.objects.values.allSatisfy { $0.object == nil } }

    /// The publisher of a state: for the present subscribers if there are any, otherwise a new one.
    mutating func state<State>(_ initialState: State) -> StatePublisher<State> {
        StatePublisher(self.object { StateStorage(initialState) })
    }

    /// The publisher of events: for the present subscribers if there are any, otherwise a new one.
    mutating func events<Event>() -> PassthroughSubject<Event, Never> { self.object { PassthroughSubject() } }

    private mutating func object<Object: AnyObject>(_ make: () -> Object) -> Object {
        if let object = self.objects[ObjectIdentifier(Object.self)]?.object as? Object { return object }
        let object = make()
        self.objects[ObjectIdentifier(Object.self)] = WeakObject(object: object)
        return object
    }
}
