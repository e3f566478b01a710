// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import PlazaWire
import Testing

@testable import LivePlazaKit

@Suite struct EngineTests {
    @Test func `a login shows its state, then ends its call`() {
        let harness = EngineHarness()
        harness.login()
        #expect(harness.stores.take() == [.login(.connecting), .login(.connected), .done("login")])
    }

    @Test func `a second login is refused`() {
        let harness = EngineHarness()
        harness.login()
        harness.begin("again") { (engine) throws(ErrorInfo) in _ = try await engine.login(token: "t") }
        #expect(harness.stores.take().last == .done("again: failed"))
    }

    @Test func `a live is shown before the call that enters it ends`() {
        let harness = EngineHarness()
        harness.login()
        harness.enter()
        #expect(harness.stores.take().suffix(3) == [.current("concert"), .messages([]), .done("enter")])
        #expect(harness.stores.states.withLock { $0.live.info.liveName } == "Concert")
    }

    @Test func `what comes in one go with the reply to a join is shown, and in order`() {
        let harness = EngineHarness()
        harness.login()
        harness.begin("enter") { (engine) throws(ErrorInfo) in _ = try await engine.enter("concert") }
        harness.server { socket in
            guard let call = socket.take("live.join") else { return }
            socket.receive([
                "reply": [
                    "id": .integer(call.id),
                    "result": [
                        "joined": [
                            "ticket": 421, "epoch": 77, "confirmed": true, "token": "77.11",
                        ]
                    ],
                ]
            ])
            socket.receive(Self.message(12))
            socket.receive(Self.message(13))
        }
        let shown = harness.stores.take()
        #expect(shown.suffix(4) == [.current("concert"), .messages([12]), .current("concert"), .messages([12, 13])])
    }

    @Test func `a lost connection is resumed at the next gateway, and the call is sent again`() {
        let harness = EngineHarness()
        harness.login()
        harness.enter()
        harness.begin("like") { (engine) throws(ErrorInfo) in _ = try await engine.call("like.send", live: "concert") }
        let first = harness.network.socket?.sent.last?.id
        _ = harness.stores.take()
        harness.server { $0.end(code: 1006) }
        #expect(harness.stores.take() == [.login(.reconnecting)])
        harness.advance(by: 50)
        harness.server { $0.open() }
        harness.reply(
            "login", ["resumed": ["ticket": 421, "position": ["epoch": 77, "number": 11], "replayed": true]])
        #expect(harness.stores.take() == [.login(.connected)])
        let again = harness.network.socket?.take("like.send")
        #expect(again?.id == first && again?.age == 50)
    }

    @Test func `a live that has ended is left, and said to be`() {
        let harness = EngineHarness()
        harness.login()
        harness.enter()
        _ = harness.stores.take()
        harness.receive(
            #"{"feed":{"live":"concert","epoch":77,"token":"77.12","items":[{"n":12,"at":1,"content":{"liveEnded":{"#
                + #""reason":"endedByHost","statistics":{"totalViewers":1,"totalGiftsSent":0,"totalGiftCoins":0,"#
                + #""totalUniqueGiftSenders":0,"totalLikesReceived":0,"totalMessageCount":0,"liveDuration":1}}}}]}}"#)
        let end = LiveListEvent.onLiveEnded(liveID: "concert", reason: .endedByHost, message: "")
        #expect(harness.stores.take().suffix(3) == [.current(""), .messages([]), .list(end)])
    }

    @Test func `calls fail when the client is ended from elsewhere`() {
        let harness = EngineHarness()
        harness.login()
        harness.begin("like") { (engine) throws(ErrorInfo) in _ = try await engine.call("like.send", live: "concert") }
        _ = harness.stores.take()
        harness.server { $0.end(code: 4102) }
        let shown = harness.stores.take()
        #expect(shown.prefix(2) == [.login(.disconnected), .loginEvent(.kickedOffline)])
        #expect(shown.last == .done("like: failed"))
    }

    /// Rules: R2.26.
    @Test func `a token provider is asked for the login and before the token ends`() {
        let count = Locked(0)
        let harness = EngineHarness(answers: ["ping": ["done": [:]]]) {
            count.withLock { $0 += 1 }
            // {"exp":1700000101}: it ends 100 s after the clock's beginning.
            return "h.eyJleHAiOjE3MDAwMDAxMDF9.s"
        }
        harness.begin("login") { (engine) throws(ErrorInfo) in _ = try await engine.login(token: nil) }
        harness.server { $0.open() }
        harness.reply(
            "login", ["loggedIn": ["gateway": "g", "notices": "", "session": "s", "user": EngineHarness.user]])
        #expect(count.withLock { $0 } == 1)
        harness.advance(by: 71_000)
        #expect(count.withLock { $0 } == 2)
        #expect(harness.network.socket?.take("login") != nil)
    }

    @Test func `a token provider that fails ends the login with its own error`() {
        let harness = EngineHarness { throw ErrorInfo(code: -5, message: "no account") }
        harness.begin("login") { (engine) throws(ErrorInfo) in _ = try await engine.login(token: nil) }
        let shown = harness.stores.take()
        #expect(shown.contains(.event(.fault(ErrorInfo(code: -5, message: "no account")))))
        #expect(shown.last == .done("login: error-5"))
    }

    private static func message(_ number: Int64) -> JSONValue {
        let content: JSONValue = ["text": ["sender": EngineHarness.user, "text": "m"]]
        return [
            "feed": [
                "live": "concert", "epoch": 77, "token": .text("77.\(number)"),
                "items": [["n": .integer(number), "at": 1, "content": content]],
            ]
        ]
    }
}
