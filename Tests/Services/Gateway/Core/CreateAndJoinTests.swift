// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import GatewayCore

/// A create whose owner joins as well: call 5 writes the record of the create, then the record of the join.
///
/// In a test a record is a string. In `verdict`, the argument `in` is the live in which a call acts; a create and a
/// join act in none. Times are in milliseconds.
@Suite struct CreateAndJoinTests {
    private typealias Session = SessionCore<String>

    private static let info = LiveInfo(liveID: "arena", liveOwner: UserInfo(userID: "anna"))
    /// The result with which the directory answers the create.
    private static let created = CallResult.live(info: Self.info, epoch: 10, revision: 3)
    /// The outcome with which presence answers the join.
    private static let joinOutcome = Outcome.success(result: .joined(ticket: Ticket(100), epoch: 10, confirmed: true))
    /// The one result that the client gets for both.
    private static let createdAndJoined = CallResult.live(
        info: Self.info, epoch: 10, revision: 3, joined: JoinedLive(ticket: Ticket(100), epoch: 10, confirmed: true))

    private static let joinedConclusion = Session.Conclusion.joined(
        "arena", epoch: 10, .success(result: Self.createdAndJoined))

    /// A session whose live is created, and whose join is under way.
    private func sessionWithOpenJoin() -> Session {
        var session = Session(at: 0)
        session.loggedIn(until: 1_000_000)
        session.registerCall(5, .create("arena", isLateRetry: false), "create", at: 0)
        let conclusion = session.callAnswered(5, .success(result: Self.created))?.conclusion
        let expected = Session.Conclusion.created("arena", Self.created, isLateRetry: false)
        #expect(conclusion == expected)
        #expect(session.live == nil)
        let verdict = session.verdict(on: 5, .joinCreated("arena", Self.created), in: nil)
        #expect(verdict == .proceed)
        // The join's record is sent at 40 ms; the call's timeout counts from 0 ms.
        session.registerCall(5, .joinCreated("arena", Self.created), "join", at: 40, since: 0)
        return session
    }

    /// Rules: R3.66.
    @Test func `one reply contains the live and the join`() {
        var session = self.sessionWithOpenJoin()
        let joined = session.callAnswered(5, Self.joinOutcome)?.conclusion
        #expect(joined == Self.joinedConclusion)
        #expect(session.live == "arena")
        #expect(session.ticket == Ticket(100))
        #expect(session.openCallCount == 0)
    }

    /// Rules: R3.66.
    @Test func `a temporary failure of the join is the call's reply, so that the client repeats the call`() {
        for code in [ReplyCode.unavailable, .overloaded, .timedOut] {
            var session = self.sessionWithOpenJoin()
            let failure = Outcome.failure(error: ReplyError(code, "later"))
            let conclusion = session.callAnswered(5, failure)?.conclusion
            #expect(conclusion == .reply(failure))
            let verdictOnRepetition = session.verdict(on: 5, .create("arena", isLateRetry: false), in: nil)
            #expect(verdictOnRepetition == .proceed)
        }
    }

    /// Rules: R3.66.
    @Test func `when the join is rejected, the reply has the created live, and the owner is outside`() {
        var session = self.sessionWithOpenJoin()
        let rejection = Outcome.failure(error: ReplyError(.staleTicket, "you have left since"))
        let conclusion = session.callAnswered(5, rejection)?.conclusion
        #expect(conclusion == .reply(.success(result: Self.created)))
        #expect(session.membership == .outside)
    }

    @Test func `a create that is refused joins nothing`() {
        var session = Session(at: 0)
        session.registerCall(5, .create("arena", isLateRetry: false), "create", at: 0)
        let rejection = Outcome.failure(error: ReplyError(.roomExists, "taken"))
        let conclusion = session.callAnswered(5, rejection)?.conclusion
        #expect(conclusion == .reply(rejection))
        #expect(session.membership == .outside)
        #expect(session.openCallCount == 0)
    }

    @Test func `a reply to another record than the one that the call waits for changes nothing`() {
        var session = self.sessionWithOpenJoin()
        // The record of the create was resent and is answered twice.
        let endedBySecondReply = session.callAnswered(5, .success(result: Self.created))
        #expect(endedBySecondReply == nil)
        let joined = session.callAnswered(5, Self.joinOutcome)?.conclusion
        #expect(joined == Self.joinedConclusion)

        // The client has sent the call again: the join of the first copy is answered while the create of the second
        // copy is open.
        var retrying = Session(at: 0)
        retrying.registerCall(5, .create("arena", isLateRetry: false), "create", at: 0)
        let endedByEarlyReply = retrying.callAnswered(5, Self.joinOutcome)
        #expect(endedByEarlyReply == nil)
        #expect(retrying.openCallCount == 1)
    }

    @Test func `a create and its join together time out after 10 s`() {
        var session = Session(at: 0)
        session.loggedIn(until: 1_000_000)
        session.registerCall(5, .create("arena", isLateRetry: false), "create", at: 0)
        session.registerCall(6, .plain, "other", at: 3000)
        _ = session.callAnswered(5, .success(result: Self.created))
        session.registerCall(5, .joinCreated("arena", Self.created), "join", at: 4000, since: 0)
        // A record without an answer is sent again after 2 s.
        #expect(session.takeRecordsToResend(at: 6000) == ["join", "other"])
        #expect(session.failOverdueCalls(at: 9999).isEmpty)
        #expect(session.failOverdueCalls(at: 10_000).map(\.id) == [5])
        #expect(session.membership == .outside)
        #expect(session.openCallCount == 1, "call 6 is still open")
    }

    @Test func `a client in another live cannot create and join`() {
        var session = Session(at: 0)
        session.registerCall(1, .join("bistro"), "join", at: 0)
        guard case .refused(let error) = session.verdict(on: 2, .create("arena", isLateRetry: false), in: nil) else {
            Issue.record("the create was accepted")
            return
        }
        #expect(error.code == .inAnotherRoom)
    }
}
