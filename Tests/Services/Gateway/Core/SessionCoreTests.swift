// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import GatewayCore

@Suite struct SessionCoreTests {
    private typealias Session = SessionCore<String>

    private func joined(_ ticket: Int64, epoch: Int64 = 10) -> Outcome {
        .success(result: .joined(ticket: Ticket(ticket), epoch: epoch, confirmed: true))
    }
    private func inRoom(_ live: LiveID = "a", ticket: Int64 = 100) -> Session {
        var session = Session(at: 0)
        session.loggedIn(until: 1_000_000)
        session.registerCall(1, .join(live), "join", at: 0)
        _ = session.answered(1, self.joined(ticket))
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
        #expect(session.disconnectCode(at: 50_000) == nil, "a newer token on the same connection")
    }

    @Test func `a client is in one live at a time`() {
        var session = Session(at: 0)
        session.registerCall(1, .join("a"), "join", at: 0)
        guard case .refused(let error) = session.verdict(on: 2, .join("b"), in: nil) else {
            Issue.record("a second live while the first is entered")
            return
        }
        #expect(error.code == .inAnotherRoom)
        _ = session.answered(1, self.joined(100))
        #expect(session.live == "a" && session.ticket == Ticket(100))
        guard case .refused = session.verdict(on: 2, .join("b"), in: nil) else {
            Issue.record("a second live")
            return
        }
        #expect(session.verdict(on: 2, .join("a"), in: nil) == .proceed, "joining again is presence's to answer")
        session.registerCall(3, .leave("a"), "leave", at: 0)
        #expect(session.live == "a", "until the leave is answered")
        #expect(session.answered(3, .success(result: .done))?.conclusion == .left("a", .success(result: .done)))
        #expect(session.verdict(on: 4, .join("b"), in: nil) == .proceed)
    }

    @Test func `a call that acts in a live is refused if the caller is not in it`() {
        let session = self.inRoom()
        #expect(session.verdict(on: 9, .plain, in: "a") == .proceed)
        #expect(session.verdict(on: 9, .plain, in: nil) == .proceed)
        guard case .refused(let error) = session.verdict(on: 9, .plain, in: "b") else {
            Issue.record("acting in a foreign live")
            return
        }
        #expect(error.code == .notInRoom)
        #expect(session.verdict(on: 9, .leave("b"), in: nil) == .proceed, "presence may know an earlier copy")
    }

    @Test func `a refused join leaves the client outside`() {
        var session = Session(at: 0)
        session.registerCall(1, .join("a"), "join", at: 0)
        let rejection = Outcome.failure(error: ReplyError(.banned, "banned"))
        #expect(session.answered(1, rejection)?.conclusion == .reply(rejection))
        #expect(session.membership == .outside)
    }

    @Test
    func `I15 a call is sent again each 2 s with the same record, answered once, and late replies count for nothing`() {
        var session = self.inRoom()
        session.registerCall(7, .plain, "text", at: 1000)
        #expect(session.verdict(on: 7, .plain, in: nil) == .repeated)
        #expect(session.takeRecordsToResend(at: 2999).isEmpty)
        #expect(session.takeRecordsToResend(at: 3000) == ["text"])
        #expect(session.takeRecordsToResend(at: 4999).isEmpty)
        #expect(session.takeRecordsToResend(at: 5000) == ["text"])
        let done = Outcome.success(result: .done)
        #expect(session.answered(7, done)?.conclusion == .reply(done))
        #expect(session.answered(7, done)?.id == nil)
        #expect(session.verdict(on: 8, .plain, in: nil, waiting: 15) == .proceed, "none is open")
    }

    @Test func `an unanswered call fails after 10 s, and its late reply is ignored`() {
        var session = Session(at: 0)
        session.loggedIn(until: 1_000_000)
        session.registerCall(1, .join("a"), "join", at: 0)
        session.registerCall(2, .plain, "x", at: 500)
        #expect(session.failOverdueCalls(at: 9999).isEmpty)
        let ended = session.failOverdueCalls(at: 10_000)
        #expect(ended.map(\.id) == [1])
        guard case .reply(.failure(let error)) = ended.first?.conclusion else {
            Issue.record("no rejection")
            return
        }
        #expect(error.code == .timedOut && error.retryAfter != nil)
        #expect(session.membership == .outside)
        #expect(session.answered(1, self.joined(5))?.id == nil)
        #expect(session.membership == .outside)
        #expect(session.failOverdueCalls(at: 10_500).map(\.id) == [2])
    }

    @Test func `I16 a session has at most 16 open calls, and further ones are refused with a hint`() {
        var session = self.inRoom()
        for id in Int64(10)..<26 {
            #expect(session.verdict(on: id, .plain, in: nil) == .proceed)
            session.registerCall(id, .plain, "x", at: 0)
        }
        guard case .refused(let error) = session.verdict(on: 26, .plain, in: nil) else {
            Issue.record("a seventeenth call")
            return
        }
        #expect(error.code == .overloaded && error.retryAfter != nil)
        #expect(session.recordLost(12)?.id == 12)
        #expect(session.verdict(on: 26, .plain, in: nil) == .proceed)
        guard case .refused = session.verdict(on: 26, .plain, in: nil, waiting: 1) else {
            Issue.record("a call that waits to be passed on counts")
            return
        }
    }

    @Test func `a call whose record is not delivered fails as unavailable`() {
        var session = Session(at: 0)
        session.registerCall(3, .join("a"), "join", at: 0)
        guard case .reply(.failure(let error)) = session.recordLost(3)?.conclusion else {
            Issue.record("no rejection")
            return
        }
        #expect(error.code == .unavailable && error.retryAfter != nil)
        #expect(session.membership == .outside)
        #expect(session.recordLost(3)?.id == nil)
    }

    @Test func `I6 a kick removes clients with tickets below its fence, once, and no others`() {
        var session = self.inRoom(ticket: 100)
        #expect(session.kicked(from: "b", floor: Ticket(101)) == false)
        #expect(session.kicked(from: "a", floor: Ticket(100)) == false, "it joined again since")
        #expect(session.kicked(from: "a", floor: Ticket(101)) == true)
        #expect(session.membership == .outside && session.ticket == nil)
        #expect(session.kicked(from: "a", floor: Ticket(101)) == false)
    }

    @Test func `I6 a kick notice that overtakes the join's reply still removes the client`() {
        var session = Session(at: 0)
        session.registerCall(1, .join("a"), "join", at: 0)
        #expect(session.kicked(from: "a", floor: Ticket(101)) == false)
        guard case .reply(.failure(let error)) = session.answered(1, self.joined(100))?.conclusion else {
            Issue.record("joined with a void ticket")
            return
        }
        #expect(error.code == .staleTicket)
        #expect(session.membership == .outside)
    }

    @Test func `a resume restores the membership, or fails with its error`() {
        let point = ResumePoint(live: "a", ticket: Ticket(90), position: FeedPosition(epoch: 10, number: 4))
        var session = Session(at: 0)
        session.registerCall(1, .resume(point), "join", at: 0)
        #expect(session.answered(1, self.joined(120))?.conclusion == .resumed(point, ticket: Ticket(120), epoch: 10))
        #expect(session.live == "a")
        var kicked = Session(at: 0)
        kicked.registerCall(1, .resume(point), "join", at: 0)
        let rejection = Outcome.failure(error: ReplyError(.staleTicket, "kicked"))
        #expect(kicked.answered(1, rejection)?.conclusion == .reply(rejection))
        #expect(kicked.membership == .outside)
        var missed = Session(at: 0)
        missed.registerCall(1, .resume(point), "join", at: 0)
        let over = Outcome.failure(error: ReplyError(.noSuchRoomOnEntry, "there is no such live"))
        #expect(missed.answered(1, over)?.conclusion == .missedEnd(point, over))
        #expect(missed.membership == .outside)
    }

    @Test func `I1 the end of a live removes its members, once`() {
        var session = self.inRoom("a")
        #expect(session.liveEnded("b") == false)
        #expect(session.liveEnded("a") == true)
        #expect(session.liveEnded("a") == false)
        #expect(session.membership == .outside)
    }

    @Test func `session names differ between users, even for the same name sent by clients`() {
        let anna = UserKey("demo", "anna")
        let names = SessionNamer.unkeyed
        #expect(
            names.name(of: "phone", of: anna).text == "s-69bcbcf6d5e8902035ee47e4eca43fa6",
            "a rolling upgrade keeps the names")
        let bound = names.name(of: "phone", of: anna)
        #expect(bound == names.name(of: "phone", of: anna))
        #expect(bound != names.name(of: "phone", of: UserKey("demo", "bob")), "I17")
        #expect(bound != names.name(of: "phone", of: UserKey("other", "anna")), "I17")
        #expect(SessionID(checking: bound.text) != nil)
        let fresh = SessionName.random(bits: (1, .max))
        #expect(SessionID(checking: fresh.text) == fresh)
        let request = names.nameOfRequest(anna, role: .server, key: "k1", call: "a")
        #expect(request == names.nameOfRequest(anna, role: .server, key: "k1", call: "a"))
        #expect(request != names.nameOfRequest(anna, role: .user, key: "k1", call: "a"))
        #expect(request != names.nameOfRequest(anna, role: .server, key: "k2", call: "a"))
        #expect(request != names.nameOfRequest(anna, role: .server, key: "k1", call: "b"))
        #expect(SessionName.isHTTPRequest(request) && !SessionName.isHTTPRequest(bound))
        #expect(SessionID(checking: request.text) != nil)
    }
}
