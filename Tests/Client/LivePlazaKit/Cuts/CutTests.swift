// SPDX-License-Identifier: Apache-2.0
import LivePlazaCombine
import PlazaWire
import Testing

@testable import LivePlazaKit

/// A login, an entry, messages both ways, and a leave; the connection is cut where `gate` says.
private final class Evening {
    private let queue = ManualQueue()
    private let clock = ManualClock()
    let server: FakeServer
    private let plaza: LivePlaza
    /// The messages that the app sees, and those that the server has published.
    private(set) var shown: [String] = []
    private(set) var published: [String] = []
    /// What was told of the live's end.
    private let ends = Locked<[LiveListEvent]>([])
    /// The calls that never ended, or have failed.
    private(set) var failures: [String] = []
    private var subscription: AnyCancellable?

    var events: [LiveListEvent] { self.ends.withLock { $0 } }
    var timerCount: Int { self.clock.timerCount }

    init(_ gate: @escaping (Int) -> FakeServer.Cut?) {
        self.server = FakeServer(self.queue)
        self.server.gate = gate
        let options = PlazaOptions(gateways: ["ws://g/v1"], transport: self.server, session: "s")
        let random = ParkMiller()
        self.plaza = LivePlaza(options: options, queue: EngineQueue(self.queue), clock: self.clock) { random.next() }
        self.subscription = self.plaza.liveListStore.liveListEventPublisher.sink { [ends] event in
            ends.withLock { $0.append(event) }
        }
        self.run()
    }

    private func run() {
        let barrage = self.plaza.barrageStore(liveID: "concert")
        let (login, list) = (self.plaza.loginStore, self.plaza.liveListStore)
        self.finish("login") { done in login.login(sdkAppID: 1, userID: "carol", userSig: "t") { done($0.map {}) } }
        self.finish("join") { done in list.joinLive(liveID: "concert") { done($0.map { _ in }) } }
        let first = self.server.feed.count
        for text in ["a", "b", "c"] {
            self.finish("send") { done in
                barrage.sendTextMessage(text: text, extensionInfo: nil) { done($0.map {}) }
                self.server.publish("\(text)!")
            }
        }
        self.clock.advance(by: 20_000, self.queue)
        self.shown = barrage.state.value.messageList.map(\.textContent)
        self.published = self.server.feed.dropFirst(first).compactMap { item in
            guard case .text(let text)? = item.members["content"]?.members["text"]?.members["text"] else { return nil }
            return text
        }
        self.finish("leave") { done in list.leaveLive { done($0.map {}) } }
        self.finish("logout") { done in login.logout { done($0.map {}) } }
    }

    /// Lets time pass until a call has ended.
    private func finish(
        _ name: String, _ call: (@escaping @Sendable (Result<Void, ErrorInfo>) -> Void) -> Void
    ) {
        let outcome = Locked<Result<Void, ErrorInfo>?>(nil)
        call { result in outcome.withLock { $0 = result } }
        self.queue.drain()
        for _ in 0..<200 where outcome.withLock({ $0 == nil }) { self.clock.advance(by: 60, self.queue) }
        switch outcome.withLock({ $0 }) {
        case .success?: break
        case .failure(let error)?: self.failures.append("\(name): \(error)")
        case nil: self.failures.append("\(name) never ends")
        }
    }
}

/// A small generator whose numbers depend on nothing.
private final class ParkMiller: Sendable {
    private let state = Locked<Int64>(1)

    func next() -> Double {
        self.state.withLock { state in
            state = (state * 48_271) % 2_147_483_647
            return Double(state) / 2_147_483_647
        }
    }
}

@Suite struct CutTests {
    @Test func `a connection that is cut before or after any frame changes nothing that the app sees`() {
        let quiet = Evening { _ in nil }
        #expect(quiet.failures.isEmpty && quiet.shown == quiet.published && quiet.server.frameCount > 20)
        for at in 0..<quiet.server.frameCount {
            for cut in [FakeServer.Cut.before, .after] {
                let evening = Evening { $0 == at ? cut : nil }
                let place: Comment = "cut \(cut) frame \(at)"
                #expect(evening.failures.isEmpty, place)
                #expect(evening.shown == evening.published, place)
                #expect(evening.published.sorted() == quiet.published.sorted(), place)
                #expect(evening.server.faults.isEmpty, place)
                #expect(evening.server.applied.values.allSatisfy { $0 == 1 }, place)
                #expect(evening.events.isEmpty, place)
                #expect(evening.timerCount == 0, "\(place): timers are left")
            }
        }
    }

    @Test(arguments: 1...60)
    func `a connection that is cut again and again changes nothing that the app sees`(seed: Int) {
        var state = seed * 7919
        let evening = Evening { _ in
            state = (state * 48_271) % 2_147_483_647
            guard state % 6 == 0 else { return nil }
            return state % 4 < 2 ? .before : .after
        }
        #expect(evening.shown == evening.published)
        #expect(evening.server.faults.isEmpty)
        #expect(evening.events.isEmpty)
    }
}
