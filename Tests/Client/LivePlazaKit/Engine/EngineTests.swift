// SPDX-License-Identifier: Apache-2.0
import LivePlazaTesting
import MachineKit
import PlazaModel
import PlazaWire
import Testing

@testable import LivePlazaKit

/// What an engine, the part of a client behind its stores, shows and publishes.
///
/// The user logs in with `harness.login()`, and enters the live `concert` with `harness.enter()`.
@Suite struct EngineTests {
    @Test func `a login shows that it connects and has connected, before the login call ends`() {
        let harness = EngineHarness()
        harness.login()
        #expect(
            harness.stores.takeShownItems() == [
                .loginStatus(.connecting), .loginStatus(.connected), .callEnded("login"),
            ])
    }

    @Test func `a second login fails while the client is logged in`() {
        let harness = EngineHarness()
        harness.login()
        harness.begin("second login") { (engine) throws(ErrorInfo) in _ = try await engine.login(token: "t") }
        #expect(harness.stores.takeShownItems().last == .callEnded("second login: failed"))
    }

    @Test func `a live is shown before the call that enters it ends`() {
        let harness = EngineHarness()
        harness.login()
        harness.enter()
        #expect(
            harness.stores.takeShownItems().suffix(3) == [.currentLive("concert"), .messages([]), .callEnded("enter")])
        #expect(harness.stores.states.withLock { $0.live.info.liveName } == "Concert")
    }

    @Test func `messages that arrive together with the reply to a join are shown in order`() {
        let harness = EngineHarness()
        harness.login()
        harness.begin("enter") { (engine) throws(ErrorInfo) in _ = try await engine.enter("concert") }
        harness.actAsServer { socket in
            guard let call = socket.takeCall("live.join") else {
                Issue.record("the client has not joined")
                return
            }
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
        let shown = harness.stores.takeShownItems()
        // Each of the two messages came in a frame of its own, and each frame makes the engine show live and messages.
        #expect(
            shown.suffix(4) == [
                .currentLive("concert"), .messages([12]), .currentLive("concert"), .messages([12, 13]),
            ])
    }

    @Test func `a lost connection is resumed at the next gateway, and a call without a reply is sent again`() {
        let harness = EngineHarness()
        harness.login()
        harness.enter()
        harness.begin("like") { (engine) throws(ErrorInfo) in _ = try await engine.call("like.send", live: "concert") }
        let likeID = harness.network.socket?.sent.last?.id
        _ = harness.stores.takeShownItems()
        harness.actAsServer { $0.end(code: ClientCloseCode.lost) }
        #expect(harness.stores.takeShownItems() == [.loginStatus(.reconnecting)])
        // The harness's fixed random number makes the pause before the first attempt 50 ms.
        harness.advance(by: Milliseconds(50))
        harness.actAsServer { $0.open() }
        harness.reply(
            "login", ["resumed": ["ticket": 421, "position": ["epoch": 77, "number": 11], "replayed": true]])
        #expect(harness.stores.takeShownItems() == [.loginStatus(.connected)])
        let repeatedCall = harness.network.socket?.takeCall("like.send")
        #expect(repeatedCall?.id == likeID && repeatedCall?.age == 50)
    }

    @Test func `when the live ends, the client leaves it and publishes the reason`() {
        let harness = EngineHarness()
        harness.login()
        harness.enter()
        _ = harness.stores.takeShownItems()
        harness.receive(
            #"{"feed":{"live":"concert","epoch":77,"token":"77.12","items":[{"n":12,"at":1,"content":{"liveEnded":{"#
                + #""reason":"endedByHost","statistics":{"totalViewers":1,"totalGiftsSent":0,"totalGiftCoins":0,"#
                + #""totalUniqueGiftSenders":0,"totalLikesReceived":0,"totalMessageCount":0,"liveDuration":1}}}}]}}"#)
        let endEvent = LiveListEvent.onLiveEnded(liveID: "concert", reason: .endedByHost, message: "")
        #expect(harness.stores.takeShownItems().suffix(3) == [.currentLive(""), .messages([]), .listEvent(endEvent)])
    }

    @Test func `calls without a reply fail when another connection has taken over the session`() {
        let harness = EngineHarness()
        harness.login()
        harness.begin("like") { (engine) throws(ErrorInfo) in _ = try await engine.call("like.send", live: "concert") }
        _ = harness.stores.takeShownItems()
        harness.actAsServer { $0.end(code: ClientCloseCode.replaced) }
        let shown = harness.stores.takeShownItems()
        #expect(shown.prefix(2) == [.loginStatus(.disconnected), .loginEvent(.kickedOffline)])
        #expect(shown.last == .callEnded("like: failed"))
    }

    /// Rules: R2.26.
    @Test func `a token provider is asked for a token at the login, and for another before the token expires`() {
        let requestCount = Locked(0)
        let harness = EngineHarness(answers: ["ping": ["done": [:]]]) {
            requestCount.withLock { $0 += 1 }
            return Self.tokenFor100Seconds
        }
        harness.begin("login") { (engine) throws(ErrorInfo) in _ = try await engine.login(token: nil) }
        harness.actAsServer { $0.open() }
        harness.reply(
            "login", ["loggedIn": ["gateway": "g", "notices": "", "session": "s", "user": EngineHarness.user]])
        #expect(requestCount.withLock { $0 } == 1)
        // The margin is a fifth of the token's validity: 20 s. The renewal is due one margin plus a random part of a
        // margin before the token expires; with the random number 0.5 this is after 100 - 20 - 10 = 70 s.
        harness.advance(by: .seconds(71))
        #expect(requestCount.withLock { $0 } == 2)
        // The client sends the new token in a login on the open connection.
        #expect(harness.network.socket?.takeCall("login") != nil)
    }

    @Test func `a login fails when all gateway addresses are invalid, and a later login succeeds`() {
        let harness = EngineHarness()
        harness.network.badAddresses.withLock { $0 = ["ws://one/v1", "ws://two/v1"] }
        harness.begin("failing login") { (engine) throws(ErrorInfo) in _ = try await engine.login(token: "t") }
        #expect(
            harness.stores.takeShownItems().suffix(2) == [
                .loginStatus(.disconnected), .callEnded("failing login: invalidParameter"),
            ])
        // The login begins at this address.
        harness.network.badAddresses.withLock { $0 = ["ws://two/v1"] }
        harness.login()
        #expect(
            harness.stores.takeShownItems() == [
                .loginStatus(.connecting), .loginStatus(.connected), .callEnded("login"),
            ])
    }

    @Test func `a reconnect skips an invalid address, and the client gives up if all addresses are invalid`() {
        let harness = EngineHarness()
        harness.login()
        harness.enter()
        // The next address is invalid, so the client reconnects to the address after it, which is the login's address.
        harness.network.badAddresses.withLock { $0 = ["ws://one/v1"] }
        harness.actAsServer { $0.end(code: ClientCloseCode.lost) }
        // The pause before the first attempt is 50 ms.
        harness.advance(by: Milliseconds(50))
        harness.actAsServer { $0.open() }
        harness.reply(
            "login", ["resumed": ["ticket": 421, "position": ["epoch": 77, "number": 11], "replayed": true]])
        #expect(harness.stores.takeShownItems().last == .loginStatus(.connected))
        harness.begin("like") { (engine) throws(ErrorInfo) in _ = try await engine.call("like.send", live: "concert") }
        // Now both addresses are invalid: the reconnect fails, and the client leaves the live and gives up.
        harness.network.badAddresses.withLock { $0 = ["ws://one/v1", "ws://two/v1"] }
        harness.actAsServer { $0.end(code: ClientCloseCode.lost) }
        harness.advance(by: Milliseconds(50))
        let error = ErrorInfo(.invalidParameter, "no address")
        #expect(
            harness.stores.takeShownItems() == [
                .loginStatus(.reconnecting), .currentLive(""), .messages([]), .loginStatus(.disconnected),
                .plazaEvent(.connectionEnded(code: ClientCloseCode.lost, error)), .callEnded("like: invalidParameter"),
            ])
        // The app may log in again.
        harness.network.badAddresses.withLock { $0 = [] }
        harness.login()
        #expect(harness.stores.takeShownItems().last == .callEnded("login"))
    }

    @Test(arguments: [(0.0, "one"), (0.499, "one"), (0.5, "two"), (0.999, "two")])
    func `a login begins at a random gateway, and a later one at another random gateway`(number: Double, host: String) {
        let numbers = Locked(number)
        let harness = EngineHarness(random: { numbers.withLock { $0 } })
        harness.login()
        #expect(harness.network.socket?.address == "ws://\(host)/v1")
        harness.begin("logout") { (engine) throws(ErrorInfo) in try await engine.logout() }
        numbers.withLock { $0 = 1 - $0 - 0.001 }
        harness.login()
        #expect(harness.network.socket?.address == (host == "one" ? "ws://two/v1" : "ws://one/v1"))
    }

    /// Rules: R2.27.
    @Test func `after the login the server's time is shown, and not the time of the device's clock`() {
        let harness = EngineHarness()
        // Before the login only the device's clock is known; it is the harness's clock.
        #expect(harness.engine.serverTime.milliseconds == 1_700_000_001_000)
        harness.begin("login") { (engine) throws(ErrorInfo) in _ = try await engine.login(token: "t") }
        harness.actAsServer { $0.open() }
        harness.advance(by: Milliseconds(400))
        harness.reply(
            "login",
            [
                "loggedIn": [
                    "gateway": "g", "notices": "3-10", "session": "s", "user": EngineHarness.user,
                    "at": 1_800_000_000_000,
                ]
            ])
        // The login took 400 ms, so the time in the reply is assumed to be 200 ms old.
        #expect(harness.engine.serverTime.milliseconds == 1_800_000_000_200)
        harness.advance(by: .seconds(20))
        #expect(harness.engine.serverTime.milliseconds == 1_800_000_020_200)
        // A ping was sent 20 s after the login call, which is 400 ms ago. It is answered 1 s from now, so after 1.4 s,
        // and the time in its reply is assumed to be 700 ms old.
        harness.advance(by: .seconds(1))
        harness.reply("ping", ["done": ["at": 1_800_000_020_000]])
        #expect(harness.engine.serverTime.milliseconds == 1_800_000_020_700)
    }

    @Test func `a client whose connection ends because its token expired reconnects to the next address`() {
        let harness = EngineHarness(answers: ["ping": ["done": [:]]]) { Self.tokenFor100Seconds }
        harness.begin("login") { (engine) throws(ErrorInfo) in _ = try await engine.login(token: nil) }
        harness.actAsServer { $0.open() }
        harness.reply(
            "login", ["loggedIn": ["gateway": "g", "notices": "", "session": "s", "user": EngineHarness.user]])
        harness.actAsServer { $0.end(code: ClientCloseCode.tokenExpired) }
        // Longer than the pause before the first attempt, which is 50 ms.
        harness.advance(by: Milliseconds(100))
        #expect(harness.network.socket?.address == "ws://one/v1")
    }

    @Test func `a token provider that does not answer is asked again after 30 s`() {
        let provider = HangingTokenProvider(
            firstToken: Self.tokenFor100Seconds, laterToken: Self.tokenFor100Seconds)
        let harness = EngineHarness(answers: ["ping": ["done": [:]]], tokenProvider: provider.token)
        harness.begin("login") { (engine) throws(ErrorInfo) in _ = try await engine.login(token: nil) }
        harness.actAsServer { $0.open() }
        harness.reply(
            "login", ["loggedIn": ["gateway": "g", "notices": "", "session": "s", "user": EngineHarness.user]])
        harness.actAsServer { $0.end(code: ClientCloseCode.tokenExpired) }
        // Longer than the pause before the first attempt, which is 50 ms.
        harness.advance(by: Milliseconds(100))
        #expect(provider.requestCount == 2)
        // The wait for a token ends after 30 s, and the next attempt follows within a second.
        harness.advance(by: .seconds(30))
        harness.advance(by: .seconds(1))
        #expect(provider.requestCount == 3)
        #expect(harness.network.socket?.address == "ws://one/v1")
        // A continuation must be resumed, so the second request gets its answer at the end of the test.
        provider.answer()
        harness.queue.drain()
    }

    /// Rules: R2.23.
    @Test func `a token provider that does not answer is asked again on the open connection`() {
        let provider = HangingTokenProvider(firstToken: Self.tokenFor100Seconds, laterToken: Self.laterToken)
        let harness = EngineHarness(answers: ["ping": ["done": [:]]], tokenProvider: provider.token)
        harness.begin("login") { (engine) throws(ErrorInfo) in _ = try await engine.login(token: nil) }
        harness.actAsServer { $0.open() }
        harness.reply(
            "login", ["loggedIn": ["gateway": "g", "notices": "", "session": "s", "user": EngineHarness.user]])
        let socket = harness.network.socket
        // The token is valid for 100 s, and is renewed 20 s (a margin) and 10 s (half a margin) before it expires.
        harness.advance(by: .seconds(70))
        #expect(provider.requestCount == 2)
        _ = harness.stores.takeShownItems()
        harness.advance(by: Milliseconds(29_999))
        #expect(provider.requestCount == 2)
        // The wait for the answer ends after 30 s, and the next request follows after a second.
        harness.advance(by: Milliseconds(1001))
        #expect(provider.requestCount == 3)
        let fault = ErrorInfo(.timedOut, "the token provider does not answer")
        #expect(harness.stores.takeShownItems() == [.plazaEvent(.fault(fault))])
        #expect(harness.network.socket === socket)
        #expect(socket?.sent.filter { $0.method == "login" }.count == 2, "the new token is sent on the open connection")
        // A continuation must be resumed, so the second request gets its answer at the end of the test.
        provider.answer()
        harness.queue.drain()
    }

    @Test func `a client whose device slept connects at once when the app is shown`() {
        let harness = EngineHarness()
        harness.login()
        harness.engine.onQueue { $0.setOnline(false) }
        harness.actAsServer { $0.end(code: ClientCloseCode.lost) }
        let socket = harness.network.socket
        // The pause without a network lasts 30 s. The device sleeps longer, so that its timers do not fire in time.
        harness.clock.advance(to: harness.clock.now + .seconds(600))
        harness.engine.onQueue { $0.probeConnection() }
        harness.queue.drain()
        #expect(harness.network.socket !== socket)
        // The attempt takes too long while the device sleeps again: the next one follows at once, too.
        let second = harness.network.socket
        harness.clock.advance(to: harness.clock.now + .seconds(600))
        harness.engine.onQueue { $0.probeConnection() }
        harness.queue.drain()
        harness.advance(by: Milliseconds(0))
        #expect(harness.network.socket !== second)
    }

    @Test func `a login fails with the error of its token provider, which is also published as a fault`() {
        let harness = EngineHarness { throw ErrorInfo(code: -5, message: "no account") }
        harness.begin("login") { (engine) throws(ErrorInfo) in _ = try await engine.login(token: nil) }
        let shown = harness.stores.takeShownItems()
        #expect(shown.contains(.plazaEvent(.fault(ErrorInfo(code: -5, message: "no account")))))
        // A code without a name is called "error" and its number.
        #expect(shown.last == .callEnded("login: error-5"))
    }

    /// A token with the claims {"exp":1700000101}, which is 100 s after the beginning of a test.
    private static let tokenFor100Seconds = "h.eyJleHAiOjE3MDAwMDAxMDF9.s"
    /// A token with the claims {"exp":1700003600}.
    private static let laterToken = "h.eyJleHAiOjE3MDAwMDM2MDB9.s"

    /// A feed frame with one chat message, the item of this number.
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
