// SPDX-License-Identifier: Apache-2.0
import LivePlazaCombine
import LivePlazaTesting
import MachineKit
import PlazaWire
import Testing

@testable import LivePlazaKit

/// A viewer who logs in, joins, sends and receives messages, leaves and logs out, while the connection is cut.
///
/// The initializer plays the whole session. `decideCut` gets the number of each frame, and decides whether the
/// connection is cut before or after this frame, or not (nil).
private final class ViewerScenario {
    private let queue = ManualQueue()
    private let clock = SimulationClock.forTest()
    let server: FakeServer
    private let plaza: LivePlaza
    /// The messages that the chat store shows at the end of the session.
    private(set) var shown: [String] = []
    /// The messages that the server has published since the join.
    private(set) var published: [String] = []
    /// The events of the list store (the live has ended, or the viewer was kicked), of which none is expected.
    private let listEvents = Locked<[LiveListEvent]>([])
    /// The calls that have failed, or have not ended in time.
    private(set) var failures: [String] = []
    private var subscription: AnyCancellable?

    var events: [LiveListEvent] { self.listEvents.withLock { $0 } }
    var timerCount: Int { self.clock.timerCount }

    init(_ decideCut: @escaping (Int) -> FakeServer.Cut?) {
        self.server = FakeServer(self.queue)
        self.server.decideCut = decideCut
        let options = PlazaOptions(gateways: ["ws://g/v1"], transport: self.server, session: "s")
        let random = ParkMiller()
        self.plaza = LivePlaza(
            options: options, queue: EngineQueue(self.queue), clock: self.clock, random: { random.next() })
        self.subscription = self.plaza.liveListStore.liveListEventPublisher.sink { [listEvents] event in
            listEvents.withLock { $0.append(event) }
        }
        self.playSession()
    }

    private func playSession() {
        let barrage = self.plaza.barrageStore(liveID: "concert")
        let (login, list) = (self.plaza.loginStore, self.plaza.liveListStore)
        self.performCall("login") { done in
            login.login(sdkAppID: 1, userID: "carol", userSig: "t", completion: done)
        }
        // `map` removes the live from the result of the join, because `performCall` takes results without a value.
        self.performCall("join") { done in list.joinLive(liveID: "concert") { done($0.map { _ in }) } }
        let feedCountAtJoin = self.server.feed.count
        for text in ["a", "b", "c"] {
            self.performCall("send") { done in
                barrage.sendTextMessage(text: text, extensionInfo: nil, completion: done)
                // Another message is published while the reply to the call is outstanding.
                self.server.publish("\(text)!")
            }
        }
        // Within 20 s all messages arrive, even if the connection is cut.
        self.clock.advance(by: .seconds(20), self.queue)
        self.shown = barrage.state.value.messageList.map(\.textContent)
        self.published = self.server.feed.dropFirst(feedCountAtJoin).compactMap { item in
            guard case .text(let text)? = item.members["content"]?.members["text"]?.members["text"] else { return nil }
            return text
        }
        self.performCall("leave") { done in list.leaveLive(completion: done) }
        self.performCall("logout") { done in login.logout(completion: done) }
    }

    /// Performs a call, and lets time pass until it has ended.
    private func performCall(
        _ name: String, _ call: (@escaping @Sendable (Result<Void, ErrorInfo>) -> Void) -> Void
    ) {
        let outcome = Locked<Result<Void, ErrorInfo>?>(nil)
        call { result in outcome.withLock { $0 = result } }
        self.queue.drain()
        // At most 12 s, in steps of 60 ms.
        for _ in 0..<200 where outcome.withLock({ $0 == nil }) { self.clock.advance(by: Milliseconds(60), self.queue) }
        switch outcome.withLock({ $0 }) {
        case .success?: break
        case .failure(let error)?: self.failures.append("\(name): \(error)")
        case nil: self.failures.append("\(name) never ends")
        }
    }
}

/// A small random number generator with a fixed seed and the usual constants of Park and Miller.
private final class ParkMiller: Sendable {
    private let state = Locked<Int64>(1)

    func next() -> Double {
        self.state.withLock { state in
            state = (state * 48_271) % 2_147_483_647
            return Double(state) / 2_147_483_647
        }
    }
}

/// Plays the same session with cuts at different frames, none of which the app must notice.
@Suite struct CutTests {
    @Test func `a connection that is cut before or after any frame changes nothing that the app sees`() {
        // A session without cuts tells how many frames there are, and which messages are published.
        let uncut = ViewerScenario { _ in nil }
        #expect(uncut.failures.isEmpty && uncut.shown == uncut.published && uncut.server.frameCount > 20)
        for frame in 0..<uncut.server.frameCount {
            for cut in [FakeServer.Cut.before, .after] {
                let scenario = ViewerScenario { $0 == frame ? cut : nil }
                let comment: Comment = "cut \(cut) frame \(frame)"
                #expect(scenario.failures.isEmpty, comment)
                #expect(scenario.shown == scenario.published, comment)
                // A cut may delay a message of the client, so the order may differ.
                #expect(scenario.published.sorted() == uncut.published.sorted(), comment)
                #expect(scenario.server.violations.isEmpty, comment)
                #expect(scenario.server.applyCounts.values.allSatisfy { $0 == 1 }, comment)
                #expect(scenario.events.isEmpty, comment)
                #expect(scenario.timerCount == 0, "\(comment): timers are left")
            }
        }
    }

    @Test(arguments: 1...60)
    func `a connection that is cut at a sixth of the frames changes nothing that the app sees`(seed: Int) {
        // The factor is a prime, so that the generators of different seeds begin far apart.
        var state = seed * 7919
        let scenario = ViewerScenario { _ in
            // Park and Miller's generator, as in `ParkMiller`, but with a seed.
            state = (state * 48_271) % 2_147_483_647
            // On average one of six frames is cut.
            guard state % 6 == 0 else { return nil }
            return state % 4 < 2 ? .before : .after
        }
        // With so many cuts a call may take longer than `performCall` waits, so `failures` is not checked.
        #expect(scenario.shown == scenario.published)
        #expect(scenario.server.violations.isEmpty)
        #expect(scenario.events.isEmpty)
    }
}
