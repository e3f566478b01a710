// SPDX-License-Identifier: Apache-2.0
import LivePlazaTesting
import PlazaModel
import Testing

@testable import LivePlazaKit

/// Clients and stores are released when the app no longer references them.
@Suite struct ClientLifeTests {
    private let harness = StoreHarness()

    @Test func `a released client disconnects, and its objects are released`() {
        weak var engine: PlazaEngine?
        weak var stores: LiveStores?
        do {
            let plaza = self.harness.makeClient()
            self.harness.loginAndEnter(plaza)
            self.harness.receive([StoreHarness.message("hello")])
            #expect(plaza.liveListStore.state.value.currentLive.liveID == "concert")
            (engine, stores) = (plaza.engine, plaza.stores(of: "concert"))
        }
        self.harness.queue.drain()
        // Unanswered calls fail when the client ends. Remaining timers, which end within a minute, must not retain the
        // client.
        self.harness.clock.advance(by: 60_000, self.harness.queue)
        #expect(self.harness.network.socket?.isClosed == true)
        #expect(engine == nil)
        #expect(stores == nil)
    }

    @Test func `the calls of a store whose client was released fail`() {
        let outcome = Locked<Result<Void, ErrorInfo>?>(nil)
        var plaza: LivePlaza? = self.harness.makeClient()
        let barrage = plaza?.barrageStore(liveID: "concert")
        if let plaza { self.harness.loginAndEnter(plaza) }
        plaza = nil
        self.harness.queue.drain()
        barrage?.sendTextMessage(text: "x", extensionInfo: nil) { result in outcome.withLock { $0 = result } }
        self.harness.queue.drain()
        guard case .failure(let error)? = outcome.withLock({ $0 }) else {
            Issue.record("it has not failed")
            return
        }
        #expect(error.code == ReplyCode.notLoggedIn.code)
    }

    @Test func `a hundred clients in one process connect independently`() {
        let clients = (0..<100).map { _ in self.harness.makeClient() }
        for client in clients { client.loginStore.login(sdkAppID: 1, userID: "carol", userSig: "t", completion: nil) }
        self.harness.queue.drain()
        #expect(clients.allSatisfy { $0.loginStore.state.value.connectionStatus == .connecting })
    }
}
