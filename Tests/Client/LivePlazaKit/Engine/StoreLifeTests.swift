// SPDX-License-Identifier: Apache-2.0
import LivePlazaCombine
import LivePlazaTesting
import MachineKit
import PlazaWire
import Testing

@testable import LivePlazaKit

/// How long the stores of a live and their publishers exist.
///
/// The client retains only the stores of the live that it is in. For other lives its registry has an entry with weak
/// references: to the stores, which the app retains, and to their publishers, which the app's subscriptions retain.
@Suite(.timeLimit(.minutes(1))) struct StoreLifeTests {
    /// The server answers at once all calls that the client makes by itself.
    private let harness = StoreHarness(answers: StoreHarness.answersToOwnCalls)

    /// The values that a subscription has received.
    private final class Received<Value: Sendable>: Sendable {
        private let received = Locked<[Value]>([])
        var values: [Value] { self.received.withLock { $0 } }
        func add(_ value: Value) { self.received.withLock { $0.append(value) } }
    }

    /// Requests stores of so many other lives that the registry removes the entries of lives that nobody references.
    ///
    /// The registry does this when it has 16 entries, or twice as many as the last removal has left.
    private func cleanUpRegistry(_ plaza: LivePlaza) {
        for number in 0..<100 { _ = plaza.barrageStore(liveID: "other-\(number)") }
    }

    @Test func `each request gives the same store while the app references this store, which is then released`() {
        let plaza = self.harness.makeClient()
        weak var stores: LiveStores?
        // The app references the store until the end of this scope.
        do {
            let store = plaza.barrageStore(liveID: "concert")
            stores = plaza.stores(of: "concert")
            self.cleanUpRegistry(plaza)
            #expect(plaza.barrageStore(liveID: "concert") === store)
            #expect(plaza.stores(of: "concert") === stores)
        }
        #expect(stores == nil)
    }

    @Test func `the stores of the current live exist until the client leaves it`() {
        let plaza = self.harness.makeClient()
        self.harness.loginAndEnter(plaza)
        weak let stores = plaza.stores(of: "concert")
        self.cleanUpRegistry(plaza)
        #expect(stores != nil)
        self.harness.receive([StoreHarness.message("hello")])
        #expect(plaza.barrageStore(liveID: "concert").state.value.messageList.map(\.textContent) == ["hello"])
        self.harness.leave(plaza)
        #expect(stores == nil)
    }

    /// The ways to subscribe to the messages of a chat store.
    enum StateSubscription: CaseIterable {
        case wholeState, selectedValue, equatableSelectedValue, projectedValue

        fileprivate func publisher(of state: StatePublisher<BarrageState>) -> AnyPublisher<[String], Never> {
            switch self {
            case .wholeState: state.subscribe().map { $0.messageList.map(\.textContent) }.eraseToAnyPublisher()
            case .selectedValue:
                state.subscribe(StatePublisherSelector { $0.messageList.map(\.textContent) }).eraseToAnyPublisher()
            case .equatableSelectedValue:
                state.subscribe(StatePublisherSelector(keyPath: \BarrageState.messageList))
                    .map { $0.map(\.textContent) }.eraseToAnyPublisher()
            case .projectedValue: state.$value.map { $0.messageList.map(\.textContent) }.eraseToAnyPublisher()
            }
        }
    }

    @Test(arguments: StateSubscription.allCases)
    func `a subscription to states lasts over a leave and another join if the app retains its cancellable only`(
        _ kind: StateSubscription
    ) {
        let plaza = self.harness.makeClient()
        let received = Received<[String]>()
        let cancellable = kind.publisher(of: plaza.barrageStore(liveID: "concert").state).sink { received.add($0) }
        self.cleanUpRegistry(plaza)
        self.harness.loginAndEnter(plaza)
        self.harness.receive([StoreHarness.message("hello")])
        #expect(received.values.last == ["hello"])
        self.harness.leave(plaza)
        #expect(received.values.last == [])
        self.cleanUpRegistry(plaza)
        self.harness.enter(plaza)
        self.harness.receive([StoreHarness.message("again")])
        #expect(received.values.last == ["again"])
        cancellable.cancel()
        self.harness.receive([StoreHarness.message("unheard")], from: 2)
        #expect(received.values.last == ["again"])
    }

    @Test func `a subscription to events lasts over a leave and another join if only its cancellable is retained`() {
        let plaza = self.harness.makeClient()
        let received = Received<LiveAudienceEvent>()
        let cancellable = plaza.audienceStore(liveID: "concert").liveAudienceEventPublisher
            .sink { received.add($0) }
        self.cleanUpRegistry(plaza)
        self.harness.loginAndEnter(plaza)
        self.harness.receive([StoreHarness.mute("bob")])
        #expect(received.values.count == 1)
        self.harness.leave(plaza)
        self.cleanUpRegistry(plaza)
        self.harness.enter(plaza)
        self.harness.receive([StoreHarness.mute("dave")])
        #expect(received.values.count == 2)
        cancellable.cancel()
    }

    @Test func `a store that is made after the release of the first one publishes to the first one's subscribers`() {
        let plaza = self.harness.makeClient()
        let received = Received<[String]>()
        let cancellable = plaza.barrageStore(liveID: "concert").state.subscribe()
            .sink { received.add($0.messageList.map(\.textContent)) }
        // Nobody references the first store any more, only its publisher is still subscribed to.
        let laterStore = plaza.barrageStore(liveID: "concert")
        self.harness.loginAndEnter(plaza)
        self.harness.receive([StoreHarness.message("hello")])
        #expect(laterStore.state.value.messageList.map(\.textContent) == received.values.last)
        #expect(received.values.last == ["hello"])
        cancellable.cancel()
    }

    /// Refreshes the gifts, and returns the language that this call names; nil if it names none.
    private func languageOfRefresh(_ plaza: LivePlaza) throws -> JSONValue? {
        plaza.giftStore(liveID: "concert").refreshUsableGifts(completion: nil)
        self.harness.queue.drain()
        let call = self.harness.network.socket?.sent.last { $0.method == "gift.list" }
        return try #require(call).params.members["language"]
    }

    @Test func `the language of the gifts is kept until the only subscription to the gift store is cancelled`() throws {
        let plaza = self.harness.makeClient()
        self.harness.login(plaza)
        let cancellable = plaza.giftStore(liveID: "concert").state.subscribe().sink { _ in }
        plaza.giftStore(liveID: "concert").setLanguage("zh-CN")
        self.cleanUpRegistry(plaza)
        #expect(try self.languageOfRefresh(plaza) == .text("zh-CN"))
        self.harness.enter(plaza)
        self.harness.leave(plaza)
        #expect(try self.languageOfRefresh(plaza) == .text("zh-CN"))
        cancellable.cancel()
        #expect(try self.languageOfRefresh(plaza) == nil)
    }

    @Test func `a model that the app holds without the store shows the state of the live`() {
        let plaza = self.harness.makeClient()
        let model = plaza.barrageStore(liveID: "concert").state.model()
        self.cleanUpRegistry(plaza)
        self.harness.loginAndEnter(plaza)
        self.harness.receive([StoreHarness.message("hello")])
        #expect(model.messageList.map(\.textContent) == ["hello"])
    }

    @Test func `sequences that the app holds without the stores receive states and events`() async {
        let plaza = self.harness.makeClient()
        var states = plaza.barrageStore(liveID: "concert").state.values.makeAsyncIterator()
        var events = plaza.audienceStore(liveID: "concert").liveAudienceEventPublisher.events().makeAsyncIterator()
        self.cleanUpRegistry(plaza)
        self.harness.loginAndEnter(plaza)
        self.harness.receive([StoreHarness.message("hello"), StoreHarness.mute("bob")])
        #expect(await states.next()?.messageList.map(\.textContent) == ["hello"])
        guard case .onAudienceMessageDisabled(let user, true)? = await events.next() else {
            Issue.record("expected the event that bob was muted")
            return
        }
        #expect(user.userID == "bob")
    }

    @Test func `a publisher is released when its last subscription has ended`() async {
        let plaza = self.harness.makeClient()
        weak var state: StateStorage<BarrageState>?
        weak var events: PassthroughSubject<LiveAudienceEvent, Never>?
        /// Makes a publisher of states and one of events, and sets the weak references to what must be released.
        func makePublishers() -> (StatePublisher<BarrageState>, PassthroughSubject<LiveAudienceEvent, Never>) {
            let barrage = plaza.barrageStore(liveID: "concert").state
            let audienceEvents = plaza.audienceStore(liveID: "concert").liveAudienceEventPublisher
            (state, events) = (barrage.storage, audienceEvents)
            return (barrage, audienceEvents)
        }
        do {
            let (barrage, audienceEvents) = makePublishers()
            let cancellables = [barrage.subscribe().sink { _ in }, audienceEvents.sink { _ in }]
            // The subscriptions exist until here.
            #expect(cancellables.count == 2)
        }
        #expect(state == nil && events == nil)
        // Sequences that nobody reads, and a model.
        do {
            let (barrage, audienceEvents) = makePublishers()
            _ = (barrage.values, audienceEvents.events())
            let model = barrage.model()
            #expect(model.messageList.isEmpty)
        }
        #expect(state == nil && events == nil)
        // Sequences whose readers are cancelled.
        do {
            let (barrage, audienceEvents) = makePublishers()
            let (values, allEvents) = (barrage.values, audienceEvents.events())
            let readers = [Task { for await _ in values {} }, Task { for await _ in allEvents {} }]
            for reader in readers {
                reader.cancel()
                await reader.value
            }
        }
        #expect(state == nil && events == nil)
    }

    @Test func `a client that was in a thousand lives retains the stores of none of them`() {
        struct WeakStores { weak var stores: LiveStores? }
        let plaza = self.harness.makeClient()
        self.harness.login(plaza)
        var visited: [WeakStores] = []
        for number in 0..<1000 {
            let live = "live-\(number)"
            let received = Received<Int>()
            let cancellables = [
                plaza.barrageStore(liveID: live).state.subscribe().sink { received.add($0.messageList.count) },
                plaza.audienceStore(liveID: live).liveAudienceEventPublisher.sink { _ in received.add(-1) },
            ]
            self.harness.enter(plaza, live)
            visited.append(WeakStores(stores: plaza.stores(of: live)))
            self.harness.receive([StoreHarness.message("hello"), StoreHarness.mute("bob")], live: live)
            self.harness.leave(plaza)
            // The message counts: 0 at first, 1, and 0 after the leave. -1 stands for the event of the mute.
            #expect(received.values == [0, 1, -1, 0])
            for cancellable in cancellables { cancellable.cancel() }
            // The client limits its calls a second, so each round takes one second.
            self.harness.clock.advance(by: .seconds(1), self.harness.queue)
        }
        #expect(visited.filter { $0.stores != nil }.isEmpty)
        _ = plaza.barrageStore(liveID: "last")
        // The registry removes the entries of released stores when it has 16 entries and gets another one: at most 17.
        #expect(plaza.registry.liveCount <= 17)
        // At most the timer for the next ping of the connection is left.
        #expect(self.harness.clock.timerCount <= 1)
    }
}
