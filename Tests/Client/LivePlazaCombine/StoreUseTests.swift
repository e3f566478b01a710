// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import LivePlazaCombine
import Testing

/// Screens of an app that subscribe to the state and the events of a store with LivePlazaCombine.
@Suite(.timeLimit(.minutes(1))) struct StoreUseTests {
    // Short copies of LivePlazaKit's store types under their public names; this module does not depend on LivePlazaKit.
    private final class StatePublisher<State>: ObservableObject {
        @Published var value: State
        init(initialState: State) { self.value = initialState }
        func subscribe() -> AnyPublisher<State, Never> { self.$value.eraseToAnyPublisher() }
        func subscribe<Value>(_ selector: StatePublisherSelector<State, Value>) -> AnyPublisher<Value, Never> {
            self.$value.map { selector.map($0) }.eraseToAnyPublisher()
        }
        func subscribe<Value: Equatable>(_ selector: StatePublisherSelector<State, Value>)
            -> AnyPublisher<Value, Never>
        {
            self.$value.map { selector.map($0) }.removeDuplicates().eraseToAnyPublisher()
        }
    }

    private final class StatePublisherSelector<State, Value> {
        private let projector: (State) -> Value
        init(projector: @escaping (State) -> Value) { self.projector = projector }
        convenience init(keyPath: KeyPath<State, Value>) { self.init { $0[keyPath: keyPath] } }
        func map(_ state: State) -> Value { self.projector(state) }
    }

    private struct Live: Equatable {
        var liveID = ""
        var metaData: [String: String] = [:]
    }

    private struct LiveListState {
        var liveList: [Live] = []
        var currentLive = Live()
    }

    private enum LiveListEvent: Equatable {
        case onLiveEnded(liveID: String)
        case onKickedOutOfLive(liveID: String)
    }

    private final class LiveListStore {
        let state = StatePublisher(initialState: LiveListState())
        let liveListEventPublisher = PassthroughSubject<LiveListEvent, Never>()
    }

    /// A screen as an app developer writes it.
    private final class Screen: @unchecked Sendable {
        var shownLiveIDs: [String] = []
        var endedLiveIDs: [String] = []
        private var cancellableSet = Set<AnyCancellable>()

        func bind(_ store: LiveListStore, on scheduler: some Scheduler) {
            store.state.subscribe(StatePublisherSelector(keyPath: \LiveListState.currentLive.liveID))
                .dropFirst().receive(on: scheduler)
                .sink { [weak self] liveID in
                    guard let self else { return }
                    self.shownLiveIDs.append(liveID)
                }
                .store(in: &self.cancellableSet)
            store.liveListEventPublisher
                .receive(on: scheduler)
                .sink { [weak self] event in
                    guard let self else { return }
                    switch event {
                    case .onLiveEnded(let liveID): self.endedLiveIDs.append(liveID)
                    case .onKickedOutOfLive: break
                    }
                }
                .store(in: &self.cancellableSet)
        }

        func unbind() { self.cancellableSet.removeAll() }
    }

    @Test func `a screen gets each event, and the field that it has selected only when this field changes`() {
        let (store, screen, scheduler) = (LiveListStore(), Screen(), VirtualTimeScheduler())
        screen.bind(store, on: scheduler)
        store.state.value.currentLive.liveID = "live-1"
        // These two changes are in fields that the screen has not selected.
        store.state.value.currentLive.metaData["k"] = "v"
        store.state.value.liveList.append(Live(liveID: "live-2"))
        store.liveListEventPublisher.send(.onKickedOutOfLive(liveID: "live-1"))
        store.liveListEventPublisher.send(.onLiveEnded(liveID: "live-1"))
        scheduler.runDueActions()
        #expect(screen.shownLiveIDs == ["live-1"])
        #expect(screen.endedLiveIDs == ["live-1"])
        screen.unbind()
        store.state.value.currentLive.liveID = "live-3"
        scheduler.runDueActions()
        #expect(screen.shownLiveIDs == ["live-1"])
    }

    @Test func `a screen that receives on the main queue gets events there that another thread sends`() async {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        let (store, screen) = (LiveListStore(), Screen())
        screen.bind(store, on: DispatchQueue.main)
        let cancellables = LockedList<AnyCancellable>()
        await withCheckedContinuation { continuation in
            cancellables.append(
                store.liveListEventPublisher.receive(on: DispatchQueue.main).sink { _ in
                    #expect(DispatchQueue.getSpecific(key: key) == true)
                    continuation.resume()
                })
            // The other thread's closure may capture a locked list, but no store, which is not `Sendable`.
            let stores = LockedList<LiveListStore>()
            stores.append(store)
            DispatchQueue.global().async { stores.all.first?.liveListEventPublisher.send(.onLiveEnded(liveID: "x")) }
        }
        // Read where it was written, so that no other order of the two threads matters.
        let endedLiveIDs = await MainActor.run { screen.endedLiveIDs }
        #expect(endedLiveIDs == ["x"])
    }

    @Test func `three selected values, one of which is not equatable, are combined`() {
        let store = LiveListStore()
        var shown: [String] = []
        let list = StatePublisherSelector<LiveListState, [Live]>(keyPath: \.liveList)
        let current = StatePublisherSelector(keyPath: \LiveListState.currentLive)
        // A value that is not equatable: a closure that counts the list.
        let counter = StatePublisherSelector { (state: LiveListState) -> () -> Int in { state.liveList.count } }
        let cancellable = Publishers.CombineLatest3(
            store.state.subscribe(list).map(\.count), store.state.subscribe(current).compactMap { $0.metaData["t"] },
            store.state.subscribe(counter)
        )
        .map { count, title, countAgain in "\(title) \(count) \(countAgain())" }
        .removeDuplicates()
        .sink { shown.append($0) }
        store.state.value.currentLive.metaData = ["t": "Tea"]
        store.state.value.liveList = [Live(), Live()]
        #expect(shown.first == "Tea 0 0")
        #expect(shown.last == "Tea 2 2")
        _ = cancellable
    }

    @Test func `of thirty quick changes throttle delivers one per interval, and debounce only the last`() {
        let (store, scheduler) = (LiveListStore(), VirtualTimeScheduler())
        var (throttled, debounced): ([Int], [Int]) = ([], [])
        var cancellables: Set<AnyCancellable> = []
        let count = store.state.subscribe(StatePublisherSelector(keyPath: \LiveListState.liveList.count))
        count.throttle(for: .milliseconds(100), scheduler: scheduler, latest: true).sink { throttled.append($0) }
            .store(in: &cancellables)
        count.debounce(for: .milliseconds(50), scheduler: scheduler).sink { debounced.append($0) }
            .store(in: &cancellables)
        for _ in 0..<30 {
            scheduler.advance(milliseconds: 10)
            store.state.value.liveList.append(Live())
        }
        scheduler.advance(milliseconds: 100)
        // The first count, 0, is delivered at once. Then a count is sent every 10 ms, and `throttle` delivers one every
        // 100 ms. At 100 ms it delivers the count 9, because the count 10 is sent only after the delivery.
        #expect(throttled == [0, 9, 19, 29, 30])
        #expect(debounced == [30])
    }
}
