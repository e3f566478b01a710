// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import LivePlazaCombine
import Testing

/// Code that apps write for the stores: a `StatePublisher` for each store, event publishers, and screens that subscribe.
@Suite(.timeLimit(.minutes(1))) struct StoreUseTests {
    // These are short copies of LivePlazaKit's store types, under their public names.
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

    // This is the code of an app.
    private final class Screen: @unchecked Sendable {
        var shownLiveIDs: [String] = []
        var endedLiveIDs: [String] = []
        var isDeviceShown = false
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

    @Test func `a screen gets the selected field only when it changes, and each event`() {
        let (store, screen, scheduler) = (LiveListStore(), Screen(), VirtualTimeScheduler())
        screen.bind(store, on: scheduler)
        store.state.value.currentLive.liveID = "live-1"
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

    @Test func `a screen bound on the main queue is called on the main queue`() async {
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
            // The list takes the store, which is not `Sendable`, to the other thread.
            let stores = LockedList<LiveListStore>()
            stores.append(store)
            DispatchQueue.global().async { stores.all.first?.liveListEventPublisher.send(.onLiveEnded(liveID: "x")) }
        }
        #expect(screen.endedLiveIDs == ["x"])
    }

    @Test func `two selected fields are combined, and one that is not equatable is selected`() {
        let store = LiveListStore()
        var shown: [String] = []
        let list = StatePublisherSelector<LiveListState, [Live]>(keyPath: \.liveList)
        let current = StatePublisherSelector(keyPath: \LiveListState.currentLive)
        let cancellable = Publishers.CombineLatest3(
            store.state.subscribe(list).map(\.count), store.state.subscribe(current).compactMap { $0.metaData["t"] },
            store.state.subscribe(
                StatePublisherSelector { (state: LiveListState) -> () -> Int in { state.liveList.count } })
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

    @Test func `a burst of states is throttled for a list, and debounced for a search`() {
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
        // The first state is delivered at once. Then a state is sent every 10 ms, and one is delivered every 100 ms. The
        // state 10 is sent at 100 ms, right after the delivery of the state 9.
        #expect(throttled == [0, 9, 19, 29, 30])
        #expect(debounced == [30])
    }
}
