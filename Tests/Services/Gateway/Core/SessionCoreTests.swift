// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import GatewayCore

/// One client's session: its login, its live and its open calls.
///
/// A call has an id, a purpose (what its success changes for the client) and a record, which is a string here.
/// `verdict` says what to do with a new call. `callAnswered` takes a machine's reply and returns the call that the
/// reply ends; the call's `action` is what the gateway must do. `kicked` returns whether the client was in the live and
/// is removed. Times are in milliseconds.
@Suite struct SessionCoreTests {
    private typealias Session = SessionCore<String>

    /// The reply to a join.
    private func joined(_ ticket: Int64, epoch: Int64 = 10) -> Outcome {
        .success(result: .joined(ticket: Ticket(ticket), epoch: epoch, confirmed: true))
    }

    /// A logged-in session that has joined `live` with `ticket`.
    private func sessionInLive(_ live: LiveID = "arena", ticket: Int64 = 100) -> Session {
        var session = Session(at: 0)
        session.loggedIn(until: 1_000_000)
        session.registerCall(1, .join(live), "join", at: 0)
        _ = session.callAnswered(1, self.joined(ticket))
        return session
    }

    @Test func `a connection is closed without a login within 10 s, and when its token expires`() {
        var session = Session(at: 0)
        #expect(session.disconnectCode(at: 9999) == nil)
        #expect(session.disconnectCode(at: 10_000) == .loginTimeout)

        session.loggedIn(until: 50_000)
        #expect(session.disconnectCode(at: 49_999) == nil)
        #expect(session.disconnectCode(at: 50_000) == .tokenExpired)

        session.loggedIn(until: 90_000)
        #expect(session.disconnectCode(at: 50_000) == nil, "a second login on the connection has a newer token")
    }

    @Test func `a client is in one live at a time`() {
        var session = Session(at: 0)
        session.registerCall(1, .join("arena"), "join", at: 0)
        guard case .rejected(let error) = session.verdict(on: 2, .join("bistro")) else {
            Issue.record("a second join was accepted while the first was open")
            return
        }
        #expect(error.code == .inAnotherRoom)
        _ = session.callAnswered(1, self.joined(100))
        #expect(session.live == "arena" && session.ticket == Ticket(100))
        guard case .rejected = session.verdict(on: 2, .join("bistro")) else {
            Issue.record("a join of a second live was accepted")
            return
        }
        #expect(
            session.verdict(on: 2, .join("arena")) == .proceed,
            "a second join of the same live is forwarded, because presence answers it")
        session.registerCall(3, .leave("arena"), "leave", at: 0)
        #expect(session.live == "arena", "until the leave is answered, the client is in arena")
        #expect(session.callAnswered(3, .success(result: .done))?.action == .left("arena", .success(result: .done)))
        #expect(session.verdict(on: 4, .join("bistro")) == .proceed)
    }

    @Test func `a call that acts in a live is rejected if the caller is not in it`() {
        let session = self.sessionInLive()
        #expect(session.verdict(on: 9, .plain, requiredLive: "arena") == .proceed)
        #expect(session.verdict(on: 9, .plain) == .proceed)
        guard case .rejected(let error) = session.verdict(on: 9, .plain, requiredLive: "bistro") else {
            Issue.record("a call in another live was accepted")
            return
        }
        #expect(error.code == .notInRoom)
        #expect(
            session.verdict(on: 9, .leave("bistro")) == .proceed,
            "the leave may be the repetition of one that succeeded, so presence must answer it")
    }

    @Test func `a client whose join is rejected is not in a live`() {
        var session = Session(at: 0)
        session.registerCall(1, .join("arena"), "join", at: 0)
        let rejection = Outcome.failure(error: ReplyError(.banned, "banned"))
        #expect(session.callAnswered(1, rejection)?.action == .reply(rejection))
        #expect(session.membership == .outside)
    }

    @Test
    func `I15 a call is sent again every 2 s with the same record, answered once, and late replies are ignored`() {
        var session = self.sessionInLive()
        session.registerCall(7, .plain, "text", at: 1000)
        #expect(session.verdict(on: 7, .plain) == .repeated, "call 7 is open already")
        #expect(session.takeRecordsToResend(at: 2999).isEmpty)
        #expect(session.takeRecordsToResend(at: 3000) == ["text"])
        #expect(session.takeRecordsToResend(at: 4999).isEmpty)
        #expect(session.takeRecordsToResend(at: 5000) == ["text"])
        let done = Outcome.success(result: .done)
        #expect(session.callAnswered(7, done)?.action == .reply(done))
        #expect(session.callAnswered(7, done)?.id == nil, "the call is not open any more")
        // At most 16 calls may be open, and calls that wait to be forwarded count as open. So beside 15 waiting calls
        // call 8 is accepted only if call 7 is not open any more.
        #expect(session.verdict(on: 8, .plain, waiting: 15) == .proceed)
    }

    @Test func `an unanswered call fails after 10 s, and its late reply is ignored`() {
        var session = Session(at: 0)
        session.loggedIn(until: 1_000_000)
        session.registerCall(1, .join("arena"), "join", at: 0)
        session.registerCall(2, .plain, "x", at: 500)
        #expect(session.failOverdueCalls(at: 9999).isEmpty)
        let overdue = session.failOverdueCalls(at: 10_000)
        #expect(overdue.map(\.id) == [1])
        guard case .reply(.failure(let error)) = overdue.first?.action else {
            Issue.record("the overdue join did not fail")
            return
        }
        #expect(error.code == .timedOut && error.retryAfter != nil)
        #expect(session.membership == .outside)
        #expect(session.callAnswered(1, self.joined(5))?.id == nil, "the join is not open any more")
        #expect(session.membership == .outside, "the late success of the join changes nothing")
        #expect(session.failOverdueCalls(at: 10_500).map(\.id) == [2])
    }

    @Test func `I16 a session has at most 16 open calls, and a further one is rejected with a time to retry`() {
        var session = self.sessionInLive()
        for id in Int64(10)..<26 {
            #expect(session.verdict(on: id, .plain) == .proceed)
            session.registerCall(id, .plain, "x", at: 0)
        }
        guard case .rejected(let error) = session.verdict(on: 26, .plain) else {
            Issue.record("a seventeenth call was accepted")
            return
        }
        #expect(error.code == .overloaded && error.retryAfter != nil)

        #expect(session.recordLost(12)?.id == 12, "call 12 fails, so it is not open any more")
        #expect(session.verdict(on: 26, .plain) == .proceed)
        guard case .rejected = session.verdict(on: 26, .plain, waiting: 1) else {
            Issue.record("a call that waits to be forwarded did not count as open")
            return
        }
    }

    @Test func `a call whose record is not delivered fails with the code unavailable`() {
        var session = Session(at: 0)
        session.registerCall(3, .join("arena"), "join", at: 0)
        guard case .reply(.failure(let error)) = session.recordLost(3)?.action else {
            Issue.record("the join whose record was lost did not fail")
            return
        }
        #expect(error.code == .unavailable && error.retryAfter != nil)
        #expect(session.membership == .outside)
        #expect(session.recordLost(3)?.id == nil, "the call fails only once")
    }

    @Test func `I6 a kick removes a client whose ticket is below the lowest valid one, once, and no other client`() {
        var session = self.sessionInLive("arena", ticket: 100)
        #expect(session.kicked(from: "bistro", lowestValidTicket: Ticket(101)) == false, "the client is not in bistro")
        #expect(
            session.kicked(from: "arena", lowestValidTicket: Ticket(100)) == false,
            "ticket 100 was issued after that kick")
        #expect(session.kicked(from: "arena", lowestValidTicket: Ticket(101)) == true)
        #expect(session.membership == .outside && session.ticket == nil)
        #expect(session.kicked(from: "arena", lowestValidTicket: Ticket(101)) == false, "the client is removed already")
    }

    @Test func `I6 a kick notice that overtakes the join's reply still removes the client`() {
        var session = Session(at: 0)
        session.registerCall(1, .join("arena"), "join", at: 0)
        #expect(session.kicked(from: "arena", lowestValidTicket: Ticket(101)) == false, "the client has not joined yet")
        guard case .reply(.failure(let error)) = session.callAnswered(1, self.joined(100))?.action else {
            Issue.record("the client joined with a revoked ticket")
            return
        }
        #expect(error.code == .staleTicket)
        #expect(session.membership == .outside)
    }

    @Test func `a resume restores the membership, fails if the client was kicked, or reports the live's missed end`() {
        let point = ResumePoint(live: "arena", ticket: Ticket(90), position: FeedPosition(epoch: 10, number: 4))
        var session = Session(at: 0)
        session.registerCall(1, .resume(point), "join", at: 0)
        #expect(
            session.callAnswered(1, self.joined(120))?.action == .resumed(point, ticket: Ticket(120), epoch: 10))
        #expect(session.live == "arena")

        var kickedSession = Session(at: 0)
        kickedSession.registerCall(1, .resume(point), "join", at: 0)
        let rejection = Outcome.failure(error: ReplyError(.staleTicket, "kicked"))
        #expect(kickedSession.callAnswered(1, rejection)?.action == .reply(rejection))
        #expect(kickedSession.membership == .outside)

        // The live ended while the client was away.
        var lateSession = Session(at: 0)
        lateSession.registerCall(1, .resume(point), "join", at: 0)
        let noSuchLive = Outcome.failure(error: ReplyError(.noSuchRoomOnEntry, "there is no such live"))
        #expect(lateSession.callAnswered(1, noSuchLive)?.action == .missedEnd(point, noSuchLive))
        #expect(lateSession.membership == .outside)
    }

    @Test func `I1 the end of a live removes its members, once`() {
        var session = self.sessionInLive("arena")
        #expect(session.liveEnded("bistro") == false)
        #expect(session.liveEnded("arena") == true)
        #expect(session.liveEnded("arena") == false)
        #expect(session.membership == .outside)
    }

    @Test func `session names differ between users who send the same name, and between HTTP requests that differ`() {
        let anna = UserKey("demo", "anna")
        // Without a secret key, as in this test, names are hashes.
        let namer = SessionNamer.unkeyed
        #expect(
            namer.name(of: "phone", for: anna).text == "s-69bcbcf6d5e8902035ee47e4eca43fa6",
            "the name must never change, so that old and new gateways agree on it during a rolling upgrade")
        let phoneOfAnna = namer.name(of: "phone", for: anna)
        #expect(phoneOfAnna == namer.name(of: "phone", for: anna))
        #expect(phoneOfAnna != namer.name(of: "phone", for: UserKey("demo", "bob")), "I17: another user")
        #expect(phoneOfAnna != namer.name(of: "phone", for: UserKey("other", "anna")), "I17: another app")
        #expect(SessionID(checking: phoneOfAnna.text) != nil)

        let randomName = SessionName.random(bits: (1, .max))
        #expect(SessionID(checking: randomName.text) == randomName)

        // The session of an HTTP request depends on caller, role, idempotency key and call.
        let request = namer.nameOfRequest(anna, role: .server, key: "k1", call: "live.create")
        #expect(request == namer.nameOfRequest(anna, role: .server, key: "k1", call: "live.create"))
        #expect(request != namer.nameOfRequest(anna, role: .user, key: "k1", call: "live.create"))
        #expect(request != namer.nameOfRequest(anna, role: .server, key: "k2", call: "live.create"))
        #expect(request != namer.nameOfRequest(anna, role: .server, key: "k1", call: "live.end"))
        #expect(SessionName.isHTTPRequest(request) && !SessionName.isHTTPRequest(phoneOfAnna))
        #expect(SessionID(checking: request.text) != nil)
    }
}
