// SPDX-License-Identifier: Apache-2.0
import CoreKit
import LivePlazaKit
import PlazaModel
import PlazaWire
import Testing

/// Calls: their numbers, their retries, their bounds.
@Suite struct ClientCallTests {
    @Test func `calls are numbered upwards and answered by their numbers`() {
        var rig = ClientRig.open()
        let first = rig.call("live.list", #"{"count":3}"#)
        let second = rig.call("live.get", #"{"live":"x"}"#)
        #expect(second > first)
        #expect(
            rig.take() == [
                .send(Array("{\"id\":\(first),\"method\":\"live.list\",\"params\":{\"count\":3}}".utf8)),
                .send(Array("{\"id\":\(second),\"method\":\"live.get\",\"params\":{\"live\":\"x\"}}".utf8)),
            ])
        let error = ReplyError(.noSuchRoom, "there is no live x")
        rig.reply(second, .failure(error: error))
        rig.reply(first, .success(result: .done))
        #expect(
            rig.take() == [.callEnded(second, .failure(error: error)), .callEnded(first, .success(result: .done))])
        rig.reply(first, .success(result: .done))
        #expect(rig.take().isEmpty)
    }

    @Test func `I15 open calls are sent again after a reconnect, in order, with their numbers`() {
        var rig = ClientRig.open()
        let ids = (0..<5).map { _ in rig.call("barrage.sendText") }
        let sent = rig.sent()
        #expect(sent.map(\.id) == ids)
        rig.reply(ids[1], .success(result: .done))
        rig.lose()
        let meanwhile = rig.call("barrage.sendText")
        #expect(rig.sent().isEmpty)
        rig.logIn()
        let again = rig.sent()
        #expect(again.map(\.id) == [ids[0], ids[2], ids[3], ids[4], meanwhile])
        #expect(again.allSatisfy { $0.method == "barrage.sendText" })
        // Once on each connection, however time passes.
        rig.core.tick(at: rig.now + 5000, into: &rig.actions)
        #expect(rig.sent().isEmpty)
    }

    @Test func `I15 no number is used twice in a session`() {
        var rig = ClientRig.open()
        var used: Set<Int64> = []
        for round in 0..<20 {
            for _ in 0..<3 {
                let id = rig.call()
                #expect(used.insert(id).inserted)
                rig.reply(id, .success(result: .done))
            }
            rig.lose(code: round % 2 == 0 ? 1006 : 4000)
            guard let login = try? rig.connect() else {
                Issue.record("no login")
                return
            }
            #expect(used.insert(login.call.id).inserted)
            rig.reply(
                login.call.id,
                .success(result: .loggedIn(session: "phone", user: UserInfo(userID: "a"), gateway: "g", notices: "")))
        }
    }

    @Test func `I16 at most sixteen calls are open; the others wait for their turn`() {
        var rig = ClientRig.open()
        let ids = (0..<40).map { _ in rig.call("barrage.sendText") }
        #expect(rig.sent().map(\.id) == Array(ids[..<16]))
        rig.reply(ids[3], .success(result: .done))
        #expect(rig.sent().map(\.id) == [ids[16]])
        rig.lose()
        rig.logIn()
        #expect(rig.sent().map(\.id) == Array(ids[..<17].filter { $0 != ids[3] }))
        for id in ids { rig.reply(id, .success(result: .done)) }
        let late = rig.take()
        #expect(late.count { if case .callEnded = $0 { true } else { false } } == 39)
        #expect(late.count { if case .send = $0 { true } else { false } } == 23)
    }

    @Test func `I16 calls beyond those that may wait are refused at once`() {
        var rig = ClientRig.open(ClientRig.options { $0.waitingCalls = 20 })
        for _ in 0..<20 { _ = rig.call() }
        _ = rig.take()
        let id = rig.call()
        #expect(
            rig.take() == [
                .callEnded(
                    id, .failure(error: ReplyError(.overloaded, "20 calls wait already", retryAfter: 1000)))
            ])
    }

    @Test func `a call without an answer ends in time, also while there is no connection`() {
        var rig = ClientRig.open()
        let first = rig.call()
        rig.now += 5000
        let second = rig.call()
        rig.lose()
        _ = rig.take()
        rig.core.tick(at: 15_999, into: &rig.actions)
        #expect(rig.take().isEmpty)
        let error = Outcome.failure(error: ReplyError(.timedOut, "no answer in time", retryAfter: 1000))
        rig.core.tick(at: 16_000, into: &rig.actions)
        #expect(rig.take() == [.callEnded(first, error)])
        rig.core.tick(at: 21_000, into: &rig.actions)
        #expect(rig.take() == [.callEnded(second, error)])
    }

    @Test func `a call that ended for its time makes room for another`() {
        var rig = ClientRig.open()
        for _ in 0..<17 { _ = rig.call() }
        rig.now += 1
        #expect(rig.sent().count == 16)
        let late = rig.call()
        rig.core.tick(at: 16_000, into: &rig.actions)
        let next = rig.call()
        #expect(rig.sent().map(\.id).suffix(2) == [late, next])
    }

    @Test func `what is no frame of the protocol changes nothing`() {
        var rig = ClientRig.open()
        let id = rig.call()
        _ = rig.take()
        for text in ["", "{", "7", "{}", #"{"reply":{}}"#, #"{"later":{"a":1}}"#, #"{"reply":{"id":"x"}}"#] {
            rig.core.received(Array(text.utf8), at: rig.now, into: &rig.actions)
        }
        #expect(rig.take().isEmpty)
        rig.reply(id, .success(result: .done))
        #expect(rig.take().count == 1)
    }

    @Test func `counts and notices are told`() {
        var rig = ClientRig.open()
        let count = LiveCount(live: "concert", count: 1, totalViewers: 2, stale: false, at: .init(milliseconds: 3))
        rig.receive(.counts(count))
        let notice = Notice(
            to: UserKey("", "alice"), live: "concert", at: .init(milliseconds: 4),
            content: .battleNotStarted(battle: "b"))
        rig.receive(.notice(id: "3-18", notice))
        #expect(rig.take() == [.event(.counts(count)), .event(.notice(notice))])
    }
}
