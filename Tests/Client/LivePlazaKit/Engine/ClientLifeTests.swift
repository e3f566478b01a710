// SPDX-License-Identifier: Apache-2.0
import LivePlazaCombine
import PlazaModel
import PlazaWire
import Testing

@testable import LivePlazaKit

/// When clients and stores are released.
@Suite struct ClientLifeTests {
    private let queue = ManualQueue()
    private let clock = ManualClock()
    private let network = TestNetwork(
        answers: [
            "login": ["loggedIn": ["gateway": "g", "notices": "", "session": "s", "user": EngineHarness.user]],
            "live.join": ["joined": ["ticket": 421, "epoch": 77, "confirmed": true]],
            "live.get": [
                "room": [
                    "details": [
                        "audience": ["live": "concert", "count": 1, "totalViewers": 1, "stale": false, "at": 1],
                        "epoch": 77, "info": EngineHarness.info,
                    ]
                ]
            ],
        ])

    private func makeClient() -> LivePlaza {
        LivePlaza(
            options: PlazaOptions(gateways: ["ws://g/v1"], transport: self.network), queue: EngineQueue(self.queue),
            clock: self.clock
        ) { 0.5 }
    }

    private func enter(_ plaza: LivePlaza) {
        plaza.loginStore.login(sdkAppID: 1, userID: "carol", userSig: "t", completion: nil)
        self.queue.drain()
        self.network.socket?.open()
        self.queue.drain()
        plaza.liveListStore.joinLive(liveID: "concert", completion: nil)
        self.queue.drain()
    }

    private func receiveMessage() {
        let content: JSONValue = ["text": ["sender": EngineHarness.user, "text": "hello"]]
        let item: JSONValue = ["n": 1, "at": 1, "content": content]
        self.network.socket?.receive(["feed": ["live": "concert", "epoch": 77, "token": "77.1", "items": [item]]])
        self.queue.drain()
    }

    @Test func `a subscription continues after its store is released`() {
        let plaza = self.makeClient()
        let texts = Locked<[[String]]>([])
        let subscription = plaza.barrageStore(liveID: "concert").state.subscribe().sink { state in
            texts.withLock { $0.append(state.messageList.map(\.textContent)) }
        }
        self.enter(plaza)
        self.receiveMessage()
        #expect(texts.withLock { $0.last } == ["hello"])
        subscription.cancel()
    }

    @Test func `a released client disconnects, and its objects are released`() {
        weak var engine: PlazaEngine?
        weak var stores: LiveStores?
        do {
            let plaza = self.makeClient()
            self.enter(plaza)
            self.receiveMessage()
            #expect(plaza.liveListStore.state.value.currentLive.liveID == "concert")
            (engine, stores) = (plaza.engine, plaza.stores(of: "concert"))
        }
        self.queue.drain()
        // Unanswered calls fail when the client ends. Remaining timers must not retain the client.
        self.clock.advance(by: 60_000, self.queue)
        #expect(self.network.socket?.isClosed == true)
        #expect(engine == nil)
        #expect(stores == nil)
    }

    @Test func `the calls of a store whose client was released fail`() {
        let outcome = Locked<Result<Void, ErrorInfo>?>(nil)
        var plaza: LivePlaza? = self.makeClient()
        let barrage = plaza?.barrageStore(liveID: "concert")
        if let plaza { self.enter(plaza) }
        plaza = nil
        self.queue.drain()
        barrage?.sendTextMessage(text: "x", extensionInfo: nil) { result in outcome.withLock { $0 = result } }
        self.queue.drain()
        guard case .failure(let error)? = outcome.withLock({ $0 }) else {
            Issue.record("it has not failed")
            return
        }
        #expect(error.code == ReplyCode.notLoggedIn.code)
    }

    @Test func `a hundred clients share a process`() {
        let clients = (0..<100).map { _ in self.makeClient() }
        for client in clients { client.loginStore.login(sdkAppID: 1, userID: "carol", userSig: "t", completion: nil) }
        self.queue.drain()
        #expect(clients.allSatisfy { $0.loginStore.state.value.connectionStatus == .connecting })
    }
}
