// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import ProtocolClient
import Testing

/// The numbers, retries and limits of calls.
@Suite struct ClientCallTests {
    @Test func `calls have ascending numbers, and replies refer to them`() {
        var harness = ClientHarness.open()
        let first = harness.call("live.list", #"{"count":3}"#)
        let second = harness.call("live.get", #"{"live":"x"}"#)
        #expect(second > first)
        #expect(
            harness.take() == [
                .send(Array("{\"id\":\(first),\"method\":\"live.list\",\"params\":{\"count\":3}}".utf8)),
                .send(Array("{\"id\":\(second),\"method\":\"live.get\",\"params\":{\"live\":\"x\"}}".utf8)),
            ])
        let error = ReplyError(.noSuchRoom, "there is no live x")
        harness.reply(second, .failure(error: error))
        harness.reply(first, .success(result: .done))
        #expect(
            harness.take() == [.callEnded(second, .failure(error: error)), .callEnded(first, .success(result: .done))])
        harness.reply(first, .success(result: .done))
        #expect(harness.take().isEmpty)
    }

    @Test func `I15 open calls are sent again after a reconnect, in order, with their numbers`() {
        var harness = ClientHarness.open()
        let ids = (0..<5).map { _ in harness.call("barrage.sendText") }
        let sent = harness.sent()
        #expect(sent.map(\.id) == ids)
        harness.reply(ids[1], .success(result: .done))
        let firstSent = harness.now
        harness.now += 700
        harness.lose()
        let meanwhile = harness.call("barrage.sendText")
        #expect(harness.sent().isEmpty)
        harness.logIn()
        let again = harness.sent()
        // What is sent again says how old it is; what was never sent is new.
        let age = harness.now - firstSent
        #expect(age >= 700)
        #expect(again.map(\.age) == [age, age, age, age, nil])
        #expect(again.map(\.id) == [ids[0], ids[2], ids[3], ids[4], meanwhile])
        #expect(again.allSatisfy { $0.method == "barrage.sendText" })
        // Each call is sent once on each connection, however much time passes.
        harness.core.tick(at: harness.now + 5000, into: &harness.actions)
        #expect(harness.sent().isEmpty)
    }

    @Test func `I15 no number is used twice in a session`() {
        var harness = ClientHarness.open()
        var used: Set<Int64> = []
        for round in 0..<20 {
            for _ in 0..<3 {
                let id = harness.call()
                #expect(used.insert(id).inserted)
                harness.reply(id, .success(result: .done))
            }
            harness.lose(code: round % 2 == 0 ? 1006 : 4000)
            guard let login = try? harness.connect() else {
                Issue.record("no login")
                return
            }
            #expect(used.insert(login.call.id).inserted)
            harness.reply(
                login.call.id,
                .success(result: .loggedIn(session: "phone", user: UserInfo(userID: "a"), gateway: "g", notices: "")))
        }
    }

    @Test func `I16 at most sixteen calls are open, and further calls are queued until a reply is received`() {
        var harness = ClientHarness.open()
        let ids = (0..<40).map { _ in harness.call("barrage.sendText") }
        #expect(harness.sent().map(\.id) == Array(ids[..<16]))
        harness.reply(ids[3], .success(result: .done))
        #expect(harness.sent().map(\.id) == [ids[16]])
        harness.lose()
        harness.logIn()
        #expect(harness.sent().map(\.id) == Array(ids[..<17].filter { $0 != ids[3] }))
        for id in ids { harness.reply(id, .success(result: .done)) }
        let late = harness.take()
        #expect(late.count { if case .callEnded = $0 { true } else { false } } == 39)
        #expect(late.count { if case .send = $0 { true } else { false } } == 23)
    }

    @Test func `I16 calls beyond the limit of queued calls fail at once`() {
        var harness = ClientHarness.open(ClientHarness.options { $0.maxUnfinishedCalls = 20 })
        for _ in 0..<20 { _ = harness.call() }
        _ = harness.take()
        let id = harness.call()
        #expect(
            harness.take() == [
                .callEnded(
                    id, .failure(error: ReplyError(.overloaded, "20 calls wait already", retryAfter: 1000)))
            ])
    }

    @Test func `a call without a reply times out, also while there is no connection`() {
        var harness = ClientHarness.open()
        let first = harness.call()
        harness.now += 5000
        let second = harness.call()
        harness.lose()
        _ = harness.take()
        harness.core.tick(at: 15_999, into: &harness.actions)
        #expect(harness.take().isEmpty)
        let error = Outcome.failure(error: ReplyError(.timedOut, "no answer in time", retryAfter: 1000))
        harness.core.tick(at: 16_000, into: &harness.actions)
        #expect(harness.take() == [.callEnded(first, error)])
        harness.core.tick(at: 21_000, into: &harness.actions)
        #expect(harness.take() == [.callEnded(second, error)])
    }

    @Test func `after a call has timed out, a queued call is sent`() {
        var harness = ClientHarness.open()
        for _ in 0..<17 { _ = harness.call() }
        harness.now += 1
        #expect(harness.sent().count == 16)
        let late = harness.call()
        harness.core.tick(at: 16_000, into: &harness.actions)
        let next = harness.call()
        #expect(harness.sent().map(\.id).suffix(2) == [late, next])
    }

    @Test func `text that is not a frame of the protocol changes nothing`() {
        var harness = ClientHarness.open()
        let id = harness.call()
        _ = harness.take()
        for text in ["", "{", "7", "{}", #"{"reply":{}}"#, #"{"later":{"a":1}}"#, #"{"reply":{"id":"x"}}"#] {
            harness.core.received(Array(text.utf8), at: harness.now, into: &harness.actions)
        }
        #expect(harness.take().isEmpty)
        harness.reply(id, .success(result: .done))
        #expect(harness.take().count == 1)
    }

    @Test func `counts and notices are reported`() {
        var harness = ClientHarness.open()
        let count = LiveCount(live: "concert", count: 1, totalViewers: 2, stale: false, at: .init(milliseconds: 3))
        harness.receive(.counts(count))
        let notice = Notice(
            to: UserKey("", "alice"), live: "concert", at: .init(milliseconds: 4),
            content: .battleNotStarted(battle: "b"))
        harness.receive(.notice(id: "3-18", notice))
        #expect(harness.take() == [.event(.counts(count)), .event(.notice(notice))])
    }
}
