// SPDX-License-Identifier: Apache-2.0
import LivePlazaTesting
import MachineKit
import PlazaModel
import Testing

@testable import LivePlazaKit

/// What happens to a client and its stores when the app no longer references the client.
@Suite struct ClientLifeTests {
    private let harness = StoreHarness()

    @Test func `a client that the app releases disconnects, and its engine and stores are released`() {
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
        // Timers of the client may still be set. They end within a minute, and must not retain the client.
        self.harness.clock.advance(by: .seconds(60), self.harness.queue)
        #expect(self.harness.network.socket?.isClosed == true)
        #expect(engine == nil)
        #expect(stores == nil)
    }

    @Test func `a call of a store fails when the client of the store was released`() {
        let outcome = Locked<Result<Void, ErrorInfo>?>(nil)
        var plaza: LivePlaza? = self.harness.makeClient()
        let barrage = plaza?.barrageStore(liveID: "concert")
        if let plaza { self.harness.loginAndEnter(plaza) }
        plaza = nil
        self.harness.queue.drain()
        barrage?.sendTextMessage(text: "x", extensionInfo: nil) { result in outcome.withLock { $0 = result } }
        self.harness.queue.drain()
        guard case .failure(let error)? = outcome.withLock({ $0 }) else {
            Issue.record("expected that the call fails")
            return
        }
        #expect(error.code == ReplyCode.notLoggedIn.code)
    }

    @Test func `a hundred clients in one process all connect when they log in`() {
        let clients = (0..<100).map { _ in self.harness.makeClient() }
        for client in clients { client.loginStore.login(sdkAppID: 1, userID: "carol", userSig: "t", completion: nil) }
        self.harness.queue.drain()
        #expect(clients.allSatisfy { $0.loginStore.state.value.connectionStatus == .connecting })
    }
}
