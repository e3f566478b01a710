// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import ProtocolClient
import Testing

/// The ids of calls, calls that are sent again, and the limits of calls.
@Suite struct ClientCallTests {
    @Test func `calls have ascending ids, and a reply ends the call with its id once`() {
        var harness = ClientHarness.loggedIn()
        let first = harness.call("live.list", #"{"count":3}"#)
        let second = harness.call("live.get", #"{"live":"x"}"#)
        #expect(second > first)
        #expect(
            harness.takeActions() == [
                .send(Array("{\"id\":\(first),\"method\":\"live.list\",\"params\":{\"count\":3}}".utf8)),
                .send(Array("{\"id\":\(second),\"method\":\"live.get\",\"params\":{\"live\":\"x\"}}".utf8)),
            ])
        let error = ReplyError(.noSuchRoom, "there is no live x")
        harness.reply(second, .failure(error: error))
        harness.reply(first, .success(result: .done))
        #expect(
            harness.takeActions() == [
                .callEnded(second, .failure(error: error)), .callEnded(first, .success(result: .done)),
            ])
        // A second reply to the same call has no effect.
        harness.reply(first, .success(result: .done))
        #expect(harness.takeActions().isEmpty)
    }

    @Test func `I15 calls without a reply are sent again after a reconnect, in order, with their ids`() {
        var harness = ClientHarness.loggedIn()
        let ids = (0..<5).map { _ in harness.call("barrage.sendText") }
        let sent = harness.takeSentCalls()
        #expect(sent.map(\.id) == ids)
        harness.reply(ids[1], .success(result: .done))
        let firstSentAt = harness.now
        harness.now = harness.now + Milliseconds(700)
        harness.loseConnection()
        let callWhileDisconnected = harness.call("barrage.sendText")
        #expect(harness.takeSentCalls().isEmpty)
        harness.logIn()
        let resent = harness.takeSentCalls()
        // A call that is sent again states its age; a call that was never sent has no age.
        let age = harness.now - firstSentAt
        #expect(age >= Milliseconds(700))
        #expect(resent.map(\.age) == [age, age, age, age, nil])
        #expect(resent.map(\.id) == [ids[0], ids[2], ids[3], ids[4], callWhileDisconnected])
        #expect(resent.allSatisfy { $0.method == "barrage.sendText" })
        // However much time passes, the client does not send a call twice on one connection.
        harness.tick(after: .seconds(5))
        #expect(harness.takeSentCalls().isEmpty)
    }

    @Test func `I15 no id is used twice in a session`() {
        var harness = ClientHarness.loggedIn()
        var usedIDs: Set<Int64> = []
        for round in 0..<20 {
            for _ in 0..<3 {
                let id = harness.call()
                #expect(usedIDs.insert(id).inserted)
                harness.reply(id, .success(result: .done))
            }
            // The client reconnects after a lost connection, and also when the gateway closes the connection with 4000.
            harness.loseConnection(code: round % 2 == 0 ? ClientHarness.lostCode : 4000)
            guard let login = try? harness.connect() else {
                Issue.record("expected that the client sends a login")
                return
            }
            #expect(usedIDs.insert(login.call.id).inserted)
            harness.reply(
                login.call.id,
                .success(result: .loggedIn(session: "phone", user: UserInfo(userID: "a"), gateway: "g", notices: "")))
        }
    }

    @Test func `I16 at most sixteen calls wait for a reply, and further calls are queued until a reply arrives`() {
        var harness = ClientHarness.loggedIn()
        let ids = (0..<40).map { _ in harness.call("barrage.sendText") }
        #expect(harness.takeSentCalls().map(\.id) == Array(ids[..<16]))
        harness.reply(ids[3], .success(result: .done))
        #expect(harness.takeSentCalls().map(\.id) == [ids[16]])
        // The sixteen calls that wait are sent again on the next connection.
        harness.loseConnection()
        harness.logIn()
        #expect(harness.takeSentCalls().map(\.id) == Array(ids[..<17].filter { $0 != ids[3] }))
        for id in ids { harness.reply(id, .success(result: .done)) }
        let actions = harness.takeActions()
        // Of the 40 calls, one had ended before, so 39 end now. And 17 had been sent before, so 23 are sent now.
        #expect(actions.count { if case .callEnded = $0 { true } else { false } } == 39)
        #expect(actions.count { if case .send = $0 { true } else { false } } == 23)
    }

    @Test func `I16 calls beyond the limit of unfinished calls fail at once`() {
        var harness = ClientHarness.loggedIn(ClientHarness.options { $0.maxUnfinishedCalls = 20 })
        for _ in 0..<20 { _ = harness.call() }
        _ = harness.takeActions()
        let id = harness.call()
        #expect(
            harness.takeActions() == [
                .callEnded(
                    id, .failure(error: ReplyError(.overloaded, "20 calls wait already", retryAfter: 1000)))
            ])
    }

    @Test func `a call without a reply times out, even while there is no connection`() {
        var harness = ClientHarness.loggedIn()
        let first = harness.call()
        harness.now = harness.now + .seconds(5)
        let second = harness.call()
        harness.loseConnection()
        _ = harness.takeActions()
        // A call may take 15 s. The first call was made at 1 s, so it times out at 16 s. The second call was
        // made at 6 s, so it times out at 21 s.
        harness.tick(at: MonotonicTime(milliseconds: 15_999))
        #expect(harness.takeActions().isEmpty)
        let error = Outcome.failure(error: ReplyError(.timedOut, "no answer in time", retryAfter: 1000))
        harness.tick(at: .seconds(16))
        #expect(harness.takeActions() == [.callEnded(first, error)])
        harness.tick(at: .seconds(21))
        #expect(harness.takeActions() == [.callEnded(second, error)])
    }

    @Test func `when calls time out, calls that were queued after them are sent`() {
        var harness = ClientHarness.loggedIn()
        // 16 calls may wait for a reply at once; the 17th is queued.
        for _ in 0..<17 { _ = harness.call() }
        harness.now = harness.now + Milliseconds(1)
        #expect(harness.takeSentCalls().count == 16)
        let queuedCall = harness.call()
        // A call may take 15 s. The 17 calls were made at 1 s, so they time out at 16 s. `queuedCall` was made 1 ms
        // later.
        harness.tick(at: .seconds(16))
        #expect(harness.takeSentCalls().map(\.id) == [queuedCall])
    }

    @Test func `a text that is not a frame of the protocol has no effect, even on a call that waits`() {
        var harness = ClientHarness.loggedIn()
        let id = harness.call()
        _ = harness.takeActions()
        for text in ["", "{", "7", "{}", #"{"reply":{}}"#, #"{"later":{"a":1}}"#, #"{"reply":{"id":"x"}}"#] {
            harness.receive(Array(text.utf8))
        }
        #expect(harness.takeActions().isEmpty)
        harness.reply(id, .success(result: .done))
        #expect(harness.takeActions().count == 1)
    }

    @Test func `a client publishes as events the counts and notices that it receives`() {
        var harness = ClientHarness.loggedIn()
        let count = LiveCount(live: "concert", count: 1, totalViewers: 2, stale: false, at: .init(milliseconds: 3))
        harness.receive(.counts(count))
        // A frame to a client does not name the app, so the app of the user key is empty.
        let notice = Notice(
            to: UserKey("", "alice"), live: "concert", at: .init(milliseconds: 4),
            content: .battleNotStarted(battle: "b"))
        harness.receive(.notice(id: "3-18", notice))
        #expect(harness.takeActions() == [.event(.counts(count)), .event(.notice(notice))])
    }
}
