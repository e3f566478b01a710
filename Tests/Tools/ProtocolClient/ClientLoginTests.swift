// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import PlazaWire
import ProtocolClient
import Testing

/// How a client connects, logs in and reconnects.
@Suite struct ClientLoginTests {
    @Test func `a client that is started connects, logs in, and is open after the reply`() throws {
        var harness = ClientHarness()
        #expect(harness.core.state == .idle)
        // Only the first of two starts has an effect.
        harness.core.start(into: &harness.actions)
        harness.core.start(into: &harness.actions)
        #expect(harness.takeActions() == [.connect(toNextAddress: false)])
        let login = try harness.connect()
        #expect(login.call.method == "login")
        #expect(login.params == LoginParams(token: "t", session: "phone", name: "Alice", avatarURL: "a"))
        #expect(harness.core.state == .loggingIn)
        let user = UserInfo(userID: "alice")
        // "3-17" is the id of the user's last notice: partition 3 of the topic of notices, offset 17.
        harness.reply(
            login.call.id,
            .success(result: .loggedIn(session: "phone", user: user, gateway: "g", notices: "3-17")))
        #expect(harness.core.state == .open)
        #expect(harness.takeActions() == [.event(.loggedIn(user))])
    }

    @Test func `calls that are made before the reply to the login are sent after this reply`() throws {
        var harness = ClientHarness()
        harness.core.start(into: &harness.actions)
        let callBeforeLogin = harness.call("live.list")
        let login = try harness.connect()
        let callDuringLogin = harness.call("live.list")
        #expect(harness.takeSentCalls().isEmpty)
        // A reply to a call that the client has not made does not end the login.
        harness.reply(login.call.id + 99, .success(result: .done))
        #expect(harness.core.state == .loggingIn)
        harness.reply(
            login.call.id,
            .success(result: .loggedIn(session: "phone", user: UserInfo(userID: "a"), gateway: "g", notices: "")))
        #expect(harness.takeSentCalls().map(\.id) == [callBeforeLogin, callDuringLogin])
    }

    @Test(
        arguments: [
            (ReplyCode.tokenExpired, DisconnectCode.tokenExpired), (.tokenInvalid, .tokenRefused),
            (.signedInElsewhere, .kickedOffline), (.overLimit, .tooManyConnections),
        ]) func `I17 a rejected login ends the client, and its calls fail with the same error`(
            code: ReplyCode, disconnectCode: DisconnectCode
        ) throws
    {
        var harness = ClientHarness()
        harness.core.start(into: &harness.actions)
        let call = harness.call()
        let login = try harness.connect()
        let error = ReplyError(code, "no")
        harness.reply(login.call.id, .failure(error: error))
        #expect(harness.core.state == .ended)
        #expect(
            harness.takeActions() == [
                .disconnect, .event(.ended(code: disconnectCode.code)), .callEnded(call, .failure(error: error)),
            ])
        // The action `.disconnect` has told the network to close the connection. `harness.disconnect` is the network's
        // report that the connection is closed, here with code 1000 (normal). The ended client ignores this report, and
        // it does not reconnect later.
        harness.disconnect(code: 1000)
        harness.tick(after: .seconds(60))
        #expect(harness.takeActions().isEmpty)
    }

    @Test(arguments: [4100, 4101, 4102, 4103, 4104, 4105, 4106, 4150, 4199] as [UInt16])
    func `a code from 4100 to 4199 ends the client permanently`(code: UInt16) {
        var harness = ClientHarness.loggedIn()
        let call = harness.call()
        _ = harness.takeActions()
        harness.disconnect(code: code)
        #expect(harness.core.state == .ended)
        let error = ReplyError(.failed, "the connection ended with code \(code)")
        #expect(harness.takeActions() == [.event(.ended(code: code)), .callEnded(call, .failure(error: error))])
        harness.tick(after: .seconds(60))
        #expect(harness.takeActions().isEmpty)
        // A call of an ended client fails at once.
        let lateCall = harness.call()
        guard case .callEnded(lateCall, .failure(let rejection))? = harness.takeActions().first else {
            Issue.record("a call of an ended client does not end")
            return
        }
        #expect(rejection.code == .notLoggedIn)
    }

    @Test(arguments: [1000, 1001, 1006, 4000, 4001, 4002, 4003, 4004, 4099, 4200] as [UInt16])
    func `after any other code the client reconnects to another address`(code: UInt16) {
        var harness = ClientHarness.loggedIn()
        harness.disconnect(code: code)
        #expect(harness.takeActions() == [.event(.disconnected(code: code))])
        guard let until = harness.reconnectAt else {
            Issue.record("the client does not wait")
            return
        }
        // The client does nothing until 1 ms before the end of its random pause. A pause of 0 is not checked, because
        // it ends now.
        harness.tick(at: until - Milliseconds(1))
        #expect(until == harness.now || harness.takeActions().isEmpty)
        harness.tick(at: until)
        #expect(harness.takeActions() == [.connect(toNextAddress: true)])
        #expect(harness.core.reconnectCount == 1)
    }

    @Test func `a client whose options forbid reconnects ends when its connection is lost`() {
        var harness = ClientHarness.loggedIn(ClientHarness.options { $0.reconnectsAutomatically = false })
        harness.disconnect()
        #expect(harness.core.state == .ended)
    }

    @Test(arguments: 1...50 as ClosedRange<UInt64>)
    func `the pause before a reconnect is random, and its limit doubles up to 5 s`(seed: UInt64) {
        var harness = ClientHarness(seed: seed)
        harness.core.start(into: &harness.actions)
        for attempt in 0..<12 {
            harness.disconnect()
            guard let until = harness.reconnectAt else {
                Issue.record("the client does not wait")
                return
            }
            // The limit is 100 ms after the first failure, doubles with each further one, and is at most 5 s. The shift
            // by 6 gives 6.4 s, which is above this maximum already.
            let maxPause = min(5000, 100 << min(attempt, 6))
            let pause = until - harness.now
            #expect((0...Int64(maxPause)).contains(pause.count), "attempt \(attempt)")
            harness.tick(after: pause)
        }
        // After a successful login the limit is 100 ms again.
        harness.logIn()
        harness.disconnect()
        guard let until = harness.reconnectAt else {
            Issue.record("the client does not wait")
            return
        }
        #expect(until - harness.now <= Milliseconds(100))
    }

    @Test func `clients whose gateway has failed do not all reconnect at the same time`() {
        var pauses: Set<Int64> = []
        for seed in 0..<200 as Range<UInt64> {
            var harness = ClientHarness(seed: seed)
            harness.core.start(into: &harness.actions)
            // Six failures double the limit of the pause from 100 ms to 6.4 s, which is above the maximum of 5 s. So
            // the pause after the seventh failure is at most 5 s.
            for _ in 0..<6 {
                harness.disconnect()
                harness.tick(after: .seconds(5))
            }
            harness.disconnect()
            if let until = harness.reconnectAt { pauses.insert((until - harness.now).count) }
        }
        // Of 200 random pauses from 0 to 5000 ms most differ, some are near 0, and some are near 5000 ms.
        #expect(pauses.count > 150)
        #expect((pauses.max() ?? 0) > 4000)
        #expect((pauses.min() ?? 5000) < 1000)
    }

    @Test func `when a gateway announces its stop, its clients leave at random moments within the given time`() {
        var moments: Set<Milliseconds> = []
        for seed in 0..<50 as Range<UInt64> {
            var harness = ClientHarness.loggedIn(seed: seed)
            harness.receive(.drain(reconnectWithin: 700))
            #expect(harness.takeActions() == [.event(.draining)])
            // The client gets a tick every 10 ms until it disconnects, or for 1 s.
            let drainedAt = harness.now
            harness.tick()
            while harness.actions.isEmpty, harness.now - drainedAt <= .seconds(1) {
                harness.tick(after: Milliseconds(10))
            }
            #expect(harness.takeActions() == [.disconnect])
            let waited = harness.now - drainedAt
            moments.insert(waited)
            // The gateway gave 700 ms, and the next tick comes at most 10 ms later.
            #expect(waited <= Milliseconds(700 + 10))
            harness.loseConnection(code: 1000)
            #expect(harness.core.state == .connecting)
            _ = harness.takeActions()
            // The client is now connected to another gateway, which has announced no stop. So the client does not
            // disconnect again, even 2 s later.
            harness.logIn()
            _ = harness.takeActions()
            harness.tick(after: .seconds(2))
            #expect(!harness.takeActions().contains(.disconnect))
        }
        // 50 clients choose among 71 possible moments (0, 10, 20, … 700 ms), so many moments must differ.
        #expect(moments.count > 10)
    }

    @Test func `a stopped client disconnects, fails its calls, and stays stopped`() {
        var harness = ClientHarness.loggedIn()
        let call = harness.call()
        _ = harness.takeActions()
        // Only the first of two stops has an effect.
        harness.core.stop(into: &harness.actions)
        harness.core.stop(into: &harness.actions)
        let error = ReplyError(.failed, "the client was stopped")
        #expect(harness.takeActions() == [.disconnect, .callEnded(call, .failure(error: error))])
        harness.disconnect(code: 1000)
        harness.tick(after: .seconds(60))
        #expect(harness.takeActions().isEmpty)
    }

    @Test func `I4 a client that makes no calls pings every 20 s, well within its lease of 90 s`() {
        var harness = ClientHarness.loggedIn()
        // A ping is due when the client has sent nothing for 20 s. The login is the first call, and was sent now,
        // at 1 s.
        var lastPingAt = harness.now
        for _ in 0..<1000 {
            harness.tick(after: Milliseconds(50))
            for call in harness.takeSentCalls() {
                #expect(call.method == "ping")
                #expect(harness.now - lastPingAt >= .seconds(20))
                lastPingAt = harness.now
            }
            #expect(harness.now - lastPingAt < Milliseconds(20_050))
        }
        // The clock began at 1 s, and 1000 steps of 50 ms take 50 s, so it is 51 s now. Two pings were sent: at 21 s
        // and at 41 s.
        #expect(lastPingAt > .seconds(40))
        // Any call replaces a ping. The next ping is due at 41 + 20 = 61 s, but the clock jumps from 51 s to
        // 51 + 15 = 66 s without a tick, so this ping is not sent. The call at 66 s takes its place, and a ping is due
        // again at 66 + 20 = 86 s. Therefore the tick at 66 + 10 = 76 s sends none.
        harness.now = harness.now + .seconds(15)
        _ = harness.call("live.list")
        _ = harness.takeActions()
        harness.tick(after: .seconds(10))
        #expect(harness.takeSentCalls().isEmpty)
    }
}
