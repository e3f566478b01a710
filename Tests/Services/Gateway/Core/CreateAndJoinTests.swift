// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import GatewayCore

/// A create that joins, too: two records for one call.
@Suite struct CreateAndJoinTests {
    private typealias Session = SessionCore<String>

    private static let info = LiveInfo(liveID: "a", liveOwner: UserInfo(userID: "anna"))
    private static let created = CallResult.live(info: Self.info, epoch: 10, revision: 3)
    private static let join = Outcome.success(result: .joined(ticket: Ticket(100), epoch: 10, confirmed: true))
    private static let both = CallResult.live(
        info: Self.info, epoch: 10, revision: 3, joined: JoinedLive(ticket: Ticket(100), epoch: 10, confirmed: true))

    private static let joined = Session.Conclusion.joined("a", epoch: 10, .success(result: Self.both))

    /// A session whose live is created, and whose join is under way.
    private func joining() -> Session {
        var session = Session(at: 0)
        session.loggedIn(until: 1_000_000)
        session.registerCall(5, .create("a", isLateRetry: false), "create", at: 0)
        let ended = session.answered(5, .success(result: Self.created))?.conclusion
        let expected = Session.Conclusion.created("a", Self.created, isLateRetry: false)
        #expect(ended == expected)
        #expect(session.live == nil)
        let verdict = session.verdict(on: 5, .joinCreated("a", Self.created), in: nil)
        #expect(verdict == .proceed)
        session.registerCall(5, .joinCreated("a", Self.created), "join", at: 40, since: 0)
        return session
    }

    /// Rules: R3.66.
    @Test func `one reply holds the live and the join`() {
        var session = self.joining()
        let joined = session.answered(5, Self.join)?.conclusion
        #expect(joined == Self.joined)
        #expect(session.live == "a")
        #expect(session.ticket == Ticket(100))
        #expect(session.openCallCount == 0)
    }

    /// Rules: R3.66.
    @Test func `a failure that may pass is the call's answer, so that it is repeated`() {
        for code in [ReplyCode.unavailable, .overloaded, .timedOut] {
            var session = self.joining()
            let failure = Outcome.failure(error: ReplyError(code, "later"))
            let ended = session.answered(5, failure)?.conclusion
            #expect(ended == .reply(failure))
            let again = session.verdict(on: 5, .create("a", isLateRetry: false), in: nil)
            #expect(again == .proceed)
        }
    }

    /// Rules: R3.66.
    @Test func `a join that is refused leaves the live, and its owner outside`() {
        var session = self.joining()
        let refusal = Outcome.failure(error: ReplyError(.staleTicket, "you have left since"))
        let ended = session.answered(5, refusal)?.conclusion
        #expect(ended == .reply(.success(result: Self.created)))
        #expect(session.membership == .outside)
    }

    @Test func `a create that is refused joins nothing`() {
        var session = Session(at: 0)
        session.registerCall(5, .create("a", isLateRetry: false), "create", at: 0)
        let refusal = Outcome.failure(error: ReplyError(.roomExists, "taken"))
        let ended = session.answered(5, refusal)?.conclusion
        #expect(ended == .reply(refusal))
        #expect(session.membership == .outside)
        #expect(session.openCallCount == 0)
    }

    @Test func `a second reply to a record that was resent changes nothing`() {
        var session = self.joining()
        let repeated = session.answered(5, .success(result: Self.created))
        #expect(repeated == nil)
        let joined = session.answered(5, Self.join)?.conclusion
        #expect(joined == Self.joined)
        var again = Session(at: 0)
        again.registerCall(5, .create("a", isLateRetry: false), "create", at: 0)
        let early = again.answered(5, Self.join)
        #expect(early == nil, "the join of the call's first try")
        #expect(again.openCallCount == 1)
    }

    @Test func `both records together have 10 s`() {
        var session = Session(at: 0)
        session.loggedIn(until: 1_000_000)
        session.registerCall(5, .create("a", isLateRetry: false), "create", at: 0)
        session.registerCall(6, .plain, "other", at: 3000)
        _ = session.answered(5, .success(result: Self.created))
        session.registerCall(5, .joinCreated("a", Self.created), "join", at: 4000, since: 0)
        #expect(session.takeRecordsToResend(at: 6000) == ["join", "other"])
        #expect(session.failOverdueCalls(at: 9999).isEmpty)
        #expect(session.failOverdueCalls(at: 10_000).map(\.id) == [5])
        #expect(session.membership == .outside)
        #expect(session.openCallCount == 1)
    }

    @Test func `a client in another live cannot create and join`() {
        var session = Session(at: 0)
        session.registerCall(1, .join("b"), "join", at: 0)
        guard case .refused(let error) = session.verdict(on: 2, .create("a", isLateRetry: false), in: nil) else {
            Issue.record("taken")
            return
        }
        #expect(error.code == .inAnotherRoom)
    }
}
