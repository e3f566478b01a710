// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import GatewayCore

/// `live.create` with `join`: one call that creates a live, and then lets the owner join it.
///
/// Such a call, here the one with id 5, writes the record of the create and then the record of the join. In a test a
/// record is a string. `verdict` says what to do with a new call. `callAnswered` takes a machine's reply to the call's
/// last record and returns the step that the reply ends; the step's `action` is what the gateway must do. The reply to
/// the create ends only the first step: the gateway then writes the record of the join, and the client's call stays
/// open. Times are in milliseconds.
@Suite struct CreateAndJoinTests {
    private typealias Session = SessionCore<String>

    private static let info = LiveInfo(liveID: "arena", liveOwner: UserInfo(userID: "anna"))
    /// The result with which the directory answers the create.
    private static let created = CallResult.live(info: Self.info, epoch: 10, revision: 3)
    /// The outcome with which presence answers the join.
    private static let joinOutcome = Outcome.success(result: .joined(ticket: Ticket(100), epoch: 10, confirmed: true))
    /// The one result that the client gets for the create and the join.
    private static let createdAndJoined = CallResult.live(
        info: Self.info, epoch: 10, revision: 3, joined: JoinedLive(ticket: Ticket(100), epoch: 10, confirmed: true))

    /// What the gateway must do when the join has succeeded.
    private static let joinedAction = Session.Action.joined(
        "arena", epoch: 10, .success(result: Self.createdAndJoined))

    /// A session whose call 5 has created the live, and waits for the reply to the join.
    private func sessionWithOpenJoin() -> Session {
        var session = Session(at: 0)
        session.loggedIn(until: 1_000_000)
        session.registerCall(5, .create("arena", isLateRetry: false), "create", at: 0)
        let action = session.callAnswered(5, .success(result: Self.created))?.action
        let expected = Session.Action.created("arena", Self.created, isLateRetry: false)
        #expect(action == expected, "the client gets no reply yet, because the join comes next")
        #expect(session.live == nil, "the owner has not joined yet")
        let verdict = session.verdict(on: 5, .joinCreated("arena", Self.created))
        #expect(verdict == .proceed)
        // The join's record is sent at 40 ms, but the call's timeout counts from 0 ms, when the create was sent.
        session.registerCall(5, .joinCreated("arena", Self.created), "join", at: 40, since: 0)
        return session
    }

    /// Rules: R3.66.
    @Test func `when the join succeeds, one reply contains the live and the join`() {
        var session = self.sessionWithOpenJoin()
        let joined = session.callAnswered(5, Self.joinOutcome)?.action
        #expect(joined == Self.joinedAction)
        #expect(session.live == "arena")
        #expect(session.ticket == Ticket(100))
        #expect(session.openCallCount == 0)
    }

    /// Rules: R3.66.
    @Test func `a temporary failure of the join is the call's reply, so that the client repeats the call`() {
        for code in [ReplyCode.unavailable, .overloaded, .timedOut] {
            var session = self.sessionWithOpenJoin()
            let failure = Outcome.failure(error: ReplyError(code, "later"))
            let action = session.callAnswered(5, failure)?.action
            #expect(action == .reply(failure))
            let verdictOnRepetition = session.verdict(on: 5, .create("arena", isLateRetry: false))
            #expect(verdictOnRepetition == .proceed)
        }
    }

    /// Rules: R3.66.
    @Test func `when the join is rejected, the reply has the created live, and the owner is not in a live`() {
        var session = self.sessionWithOpenJoin()
        let rejection = Outcome.failure(error: ReplyError(.staleTicket, "you have left since"))
        let action = session.callAnswered(5, rejection)?.action
        #expect(action == .reply(.success(result: Self.created)))
        #expect(session.membership == .outside)
    }

    @Test func `when the create is rejected, no join is made`() {
        var session = Session(at: 0)
        session.registerCall(5, .create("arena", isLateRetry: false), "create", at: 0)
        let rejection = Outcome.failure(error: ReplyError(.roomExists, "taken"))
        let action = session.callAnswered(5, rejection)?.action
        #expect(action == .reply(rejection))
        #expect(session.membership == .outside)
        #expect(session.openCallCount == 0)
    }

    @Test func `a reply to another record than the one that the call waits for changes nothing`() {
        var session = self.sessionWithOpenJoin()
        // The create's record was sent twice. Its second reply comes while the call waits for the join's reply.
        let endedBySecondReply = session.callAnswered(5, .success(result: Self.created))
        #expect(endedBySecondReply == nil)
        let joined = session.callAnswered(5, Self.joinOutcome)?.action
        #expect(joined == Self.joinedAction)

        // The client has sent the call on an earlier connection, and again on this one. While the second copy waits for
        // the create's reply, the reply to the first copy's join arrives.
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
        // A record without an answer is sent again after 2 s, so at 6000 both records are due.
        #expect(session.takeRecordsToResend(at: 6000) == ["join", "other"])
        #expect(session.failOverdueCalls(at: 9999).isEmpty)
        #expect(session.failOverdueCalls(at: 10_000).map(\.id) == [5], "10 s after the create was sent, not the join")
        #expect(session.membership == .outside)
        #expect(session.openCallCount == 1, "call 6 is still open")
    }

    @Test func `a create with a join is rejected while the client joins another live`() {
        var session = Session(at: 0)
        session.registerCall(1, .join("bistro"), "join", at: 0)
        guard case .rejected(let error) = session.verdict(on: 2, .create("arena", isLateRetry: false)) else {
            Issue.record("the create was accepted, although the client joins another live")
            return
        }
        #expect(error.code == .inAnotherRoom)
    }
}
