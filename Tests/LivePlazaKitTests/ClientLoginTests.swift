// SPDX-License-Identifier: Apache-2.0
import CoreKit
import LivePlazaKit
import PlazaModel
import PlazaWire
import Testing

/// How a client connects, logs in, comes back, and when it does not.
@Suite struct ClientLoginTests {
    @Test func `a client connects, logs in, and is open`() throws {
        var rig = ClientRig()
        #expect(rig.core.state == .idle)
        rig.core.start(into: &rig.actions)
        rig.core.start(into: &rig.actions)
        #expect(rig.take() == [.connect(elsewhere: false)])
        let login = try rig.connect()
        #expect(login.call.method == "login")
        #expect(login.params == LoginParams(token: "t", session: "phone", name: "Alice", avatarURL: "a"))
        #expect(rig.core.state == .loggingIn)
        let user = UserInfo(userID: "alice")
        rig.reply(
            login.call.id,
            .success(result: .loggedIn(session: "phone", user: user, gateway: "g", notices: "3-17")))
        #expect(rig.core.state == .open)
        #expect(rig.take() == [.event(.loggedIn(user))])
    }

    @Test func `nothing is sent before the login is answered`() throws {
        var rig = ClientRig()
        rig.core.start(into: &rig.actions)
        let early = rig.call("live.list")
        let login = try rig.connect()
        let other = rig.call("live.list")
        #expect(rig.sent().isEmpty)
        rig.reply(login.call.id + 99, .success(result: .done))
        #expect(rig.core.state == .loggingIn)
        rig.reply(
            login.call.id,
            .success(result: .loggedIn(session: "phone", user: UserInfo(userID: "a"), gateway: "g", notices: "")))
        #expect(rig.sent().map(\.id) == [early, other])
    }

    @Test(
        arguments: [
            (ReplyCode.tokenExpired, DisconnectCode.tokenExpired), (.tokenInvalid, .tokenRefused),
            (.signedInElsewhere, .kickedOffline),
        ]) func `I17 a refused login ends the client, and its calls fail with the reason`(
            code: ReplyCode, end: DisconnectCode
        ) throws
    {
        var rig = ClientRig()
        rig.core.start(into: &rig.actions)
        let call = rig.call()
        let login = try rig.connect()
        let error = ReplyError(code, "no")
        rig.reply(login.call.id, .failure(error: error))
        #expect(rig.core.state == .ended)
        #expect(
            rig.take() == [.disconnect, .event(.ended(code: end.code)), .callEnded(call, .failure(error: error))])
        // What the socket says afterwards changes nothing.
        rig.core.disconnected(code: 1000, at: rig.now, into: &rig.actions)
        rig.core.tick(at: rig.now + 60_000, into: &rig.actions)
        #expect(rig.take().isEmpty)
    }

    @Test(arguments: [4100, 4101, 4102, 4103, 4104, 4105, 4150, 4199] as [UInt16])
    func `a code from 4100 to 4199 ends the client for good`(code: UInt16) {
        var rig = ClientRig.open()
        let call = rig.call()
        _ = rig.take()
        rig.core.disconnected(code: code, at: rig.now, into: &rig.actions)
        #expect(rig.core.state == .ended)
        let error = ReplyError(.failed, "the connection ended with code \(code)")
        #expect(rig.take() == [.event(.ended(code: code)), .callEnded(call, .failure(error: error))])
        rig.core.tick(at: rig.now + 60_000, into: &rig.actions)
        #expect(rig.take().isEmpty)
        let late = rig.call()
        guard case .callEnded(late, .failure(let refusal))? = rig.take().first else {
            Issue.record("a call of an ended client does not end")
            return
        }
        #expect(refusal.code == .overloaded)
    }

    @Test(arguments: [1000, 1001, 1006, 4000, 4001, 4002, 4003, 4004, 4099, 4200] as [UInt16])
    func `any other code brings the client back, to another address`(code: UInt16) {
        var rig = ClientRig.open()
        rig.core.disconnected(code: code, at: rig.now, into: &rig.actions)
        #expect(rig.take() == [.event(.disconnected(code: code))])
        guard case .waiting(let until) = rig.core.state else {
            Issue.record("it does not wait")
            return
        }
        rig.core.tick(at: until - 1, into: &rig.actions)
        #expect(until == rig.now || rig.take().isEmpty)
        rig.core.tick(at: until, into: &rig.actions)
        #expect(rig.take() == [.connect(elsewhere: true)])
        #expect(rig.core.reconnects == 1)
    }

    @Test func `a client that may not reconnect ends`() {
        var rig = ClientRig.open(ClientRig.options { $0.reconnects = false })
        rig.core.disconnected(code: 1006, at: rig.now, into: &rig.actions)
        #expect(rig.core.state == .ended)
    }

    @Test(arguments: 1...50 as ClosedRange<UInt64>) func `reconnects back off within bounds, with jitter`(seed: UInt64)
    {
        var rig = ClientRig(seed: seed)
        rig.core.start(into: &rig.actions)
        for attempt in 0..<12 {
            rig.core.disconnected(code: 1006, at: rig.now, into: &rig.actions)
            guard case .waiting(let until) = rig.core.state else {
                Issue.record("it does not wait")
                return
            }
            let ceiling = min(5000, 100 << min(attempt, 6))
            #expect((0...Int64(ceiling)).contains(until - rig.now), "attempt \(attempt)")
            rig.now = until
            rig.core.tick(at: rig.now, into: &rig.actions)
        }
        // A login that succeeds begins the back-off anew.
        rig.logIn()
        rig.core.disconnected(code: 1006, at: rig.now, into: &rig.actions)
        if case .waiting(let until) = rig.core.state { #expect(until - rig.now <= 100) }
    }

    @Test func `clients that lose one gateway do not come back as one`() {
        var waits: Set<Int64> = []
        for seed in 0..<200 as Range<UInt64> {
            var rig = ClientRig(seed: seed)
            rig.core.start(into: &rig.actions)
            for _ in 0..<6 {
                rig.core.disconnected(code: 1006, at: rig.now, into: &rig.actions)
                rig.core.tick(at: rig.now + 5000, into: &rig.actions)
            }
            rig.core.disconnected(code: 1006, at: 0, into: &rig.actions)
            if case .waiting(let until) = rig.core.state { waits.insert(until) }
        }
        #expect(waits.count > 150)
        #expect((waits.max() ?? 0) > 4000)
        #expect((waits.min() ?? 5000) < 1000)
    }

    @Test func `a drain is followed within its time, not at once by all`() {
        var moments: Set<Int64> = []
        for seed in 0..<50 as Range<UInt64> {
            var rig = ClientRig.open(seed: seed)
            rig.receive(.drain(reconnectWithin: 700))
            #expect(rig.take() == [.event(.draining)])
            var waited: Int64 = 0
            while rig.take().isEmpty, waited <= 1000 {
                rig.core.tick(at: rig.now + waited, into: &rig.actions)
                if rig.actions == [.disconnect] {
                    moments.insert(waited)
                    break
                }
                waited += 10
            }
            #expect(waited <= 710)
            rig.lose(code: 1000)
            #expect(rig.core.state == .connecting)
            _ = rig.take()
            // The next connection is not left for the drain of the last.
            rig.logIn()
            _ = rig.take()
            rig.core.tick(at: rig.now + 2000, into: &rig.actions)
            #expect(!rig.take().contains(.disconnect))
        }
        #expect(moments.count > 10)
    }

    @Test func `a stopped client closes, fails its calls, and stays stopped`() {
        var rig = ClientRig.open()
        let call = rig.call()
        _ = rig.take()
        rig.core.stop(into: &rig.actions)
        rig.core.stop(into: &rig.actions)
        let error = ReplyError(.failed, "the client was stopped")
        #expect(rig.take() == [.disconnect, .callEnded(call, .failure(error: error))])
        rig.core.disconnected(code: 1000, at: rig.now, into: &rig.actions)
        rig.core.tick(at: rig.now + 60_000, into: &rig.actions)
        #expect(rig.take().isEmpty)
    }

    @Test func `I4 a silent client shows well within the lease that it lives`() {
        var rig = ClientRig.open()
        var last = rig.now
        for _ in 0..<1000 {
            rig.now += 50
            rig.core.tick(at: rig.now, into: &rig.actions)
            for call in rig.sent() {
                #expect(call.method == "ping")
                #expect(rig.now - last >= 20_000)
                last = rig.now
            }
            #expect(rig.now - last < 20_050)
        }
        #expect(last > 40_000)
        // Any call is a sign of life as good.
        rig.now += 15_000
        _ = rig.call("live.list")
        _ = rig.take()
        rig.now += 10_000
        rig.core.tick(at: rig.now, into: &rig.actions)
        #expect(rig.sent().isEmpty)
    }
}
