// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The decision whether a call may be forwarded to its machine, the part of a service that decides the call.
package enum CallVerdict: Hashable, Sendable {
    /// Forward the call.
    case proceed
    /// Ignore the call: the client has repeated an open call, and one reply answers both copies.
    case repeated
    /// Do not forward the call; reply with this error.
    case rejected(ReplyError)
}

/// The state of one connection: whether it has logged in, which live it is in, and which calls are open.
///
/// `Record` is the type of the inbox records in which calls are sent; the record of an open call is kept to be sent
/// again. A call is open from the writing of its record until the reply. Most connections are idle, so storage for open
/// calls is allocated only while a call is open. Each `retryAfter` is in milliseconds.
package struct SessionCore<Record: Sendable>: Sendable {
    /// Whether the client is in a live.
    package enum Membership: Hashable, Sendable {
        /// Not in a live. Next: `entering`.
        case outside
        /// A join or resume is open. Next: `inside`, or `outside` if the call fails.
        ///
        /// A ticket is the number that presence gives to a join. If the user was kicked while the call was open, all
        /// tickets below `lowestValidTicket` are revoked; `lowestValidTicket` is nil if the user was not kicked.
        case entering(LiveID, lowestValidTicket: Ticket?)
        /// In the live, with this ticket. Next: `outside`, by leaving, a kick or the live's end.
        case inside(LiveID, Ticket)
    }

    /// The action that follows the end of a call.
    package enum Action: Hashable, Sendable {
        /// Send the outcome.
        case reply(Outcome)
        /// The client is in the live: subscribe it to the feed, then send the outcome.
        case joined(LiveID, epoch: Int64, Outcome)
        /// The client is in the live again: replay the items that it missed.
        case resumed(ResumePoint, ticket: Ticket, epoch: Int64)
        /// The live is created; `CallResult` is the result of the create. Next, join the live as part of the same call.
        ///
        /// `isLateRetry`: whether the call was first sent so long ago that its outcome is no longer stored.
        case created(LiveID, CallResult, isLateRetry: Bool)
        /// The live that the client resumes has ended: send the live's last item if the feed cache still has it, else
        /// the outcome.
        case missedEnd(ResumePoint, Outcome)
        /// The user's name or avatar has changed: send the outcome.
        case profileUpdated(UserInfo, Outcome)
        /// The client has left the live: send the outcome, then unsubscribe.
        case left(LiveID, Outcome)
    }

    /// A call that has ended, or the first of the two steps of a create that joins: the create, before the join.
    package struct EndedCall: Sendable {
        /// The call's number.
        package let id: Int64
        /// The action that follows.
        package let action: Action
        /// The record that was written for the call.
        ///
        /// A create that joins has two records, the create's and the join's; this is the record of the ended step.
        package let record: Record
        /// When the call's first record was written.
        package let startedAt: MonotonicTime
    }

    /// How long a connection may take to log in.
    package static var loginTimeout: Milliseconds { .seconds(10) }

    /// Whether the client is in a live.
    package private(set) var membership = Membership.outside
    /// Whether the login succeeded.
    package private(set) var isLoggedIn = false
    /// When the connection must be closed: before the login, the login's deadline; after it, the token's expiry.
    private var closeDeadline: MonotonicTime
    private var calls = OpenCalls<Record>()

    /// Creates the state of a connection that has just opened.
    package init(at now: MonotonicTime) { self.closeDeadline = now + Self.loginTimeout }

    /// The number of open calls.
    package var openCallCount: Int { self.calls.count }

    /// The client's ticket in its live; nil if it is not in a live.
    package var ticket: Ticket? {
        if case .inside(_, let ticket) = self.membership { return ticket }
        return nil
    }

    /// The live that the client is in; nil if there is none.
    package var live: LiveID? {
        if case .inside(let live, _) = self.membership { return live }
        return nil
    }

    /// Records the first login or one with a newer token.
    package mutating func loggedIn(until expiry: MonotonicTime) {
        self.isLoggedIn = true
        self.closeDeadline = expiry
    }

    /// Returns the reason to close the connection now (R2.23); nil if the connection may stay open.
    package func disconnectCode(at now: MonotonicTime) -> DisconnectCode? {
        guard now >= self.closeDeadline else { return nil }
        return self.isLoggedIn ? .tokenExpired : .loginTimeout
    }

    /// Decides whether a call may be forwarded.
    ///
    /// - Parameters:
    ///   - id: The call's number.
    ///   - purpose: The change that the call makes to the client if it succeeds.
    ///   - requiredLive: The live that the caller must be in; nil if the caller need not be in a live. Only a `.plain`
    ///     call may require one.
    ///   - waiting: The number of the session's calls that are accepted but not yet forwarded; they count as open.
    /// - Returns: Whether to forward, ignore or reject the call.
    package func verdict(
        on id: Int64, _ purpose: CallPurpose, requiredLive: LiveID? = nil, waiting: Int = 0
    ) -> CallVerdict {
        switch self.calls.rejection(of: id, waiting: waiting) {
        case .repeated: return .repeated
        case .full:
            return .rejected(
                ReplyError(.overloaded, "\(OpenCalls<Record>.limit) calls are open already", retryAfter: 200))
        case nil: break
        }
        switch purpose {
        case .plain:
            if let requiredLive, self.live != requiredLive {
                return .rejected(ReplyError(.notInRoom, "join the live before acting in it"))
            }
            return .proceed
        case .leave:
            // Forwarded even if the client is not in a live: the call may repeat a leave that another gateway
            // forwarded, and only presence knows the outcome of that leave (R15.16).
            return .proceed
        case .updateProfile:
            // The join and the profile change could reach presence in either order, and the displayed name would depend
            // on that order.
            guard case .entering = self.membership else { return .proceed }
            return .rejected(ReplyError(.unavailable, "you are about to enter a live", retryAfter: 200))
        case .join(let live), .create(let live, _), .joinCreated(let live, _): return self.verdict(entering: live)
        case .resume(let point): return self.verdict(entering: point.live)
        }
    }

    /// Decides whether a join or resume may be forwarded: a client may be in one live at a time.
    private func verdict(entering live: LiveID) -> CallVerdict {
        switch self.membership {
        case .outside: return .proceed
        case .inside(let currentLive, _), .entering(let currentLive, _):
            if currentLive == live { return .proceed }
            return .rejected(ReplyError(.inAnotherRoom, "leave \(currentLive.text) before you join another live"))
        }
    }

    /// Registers a call whose record was written.
    ///
    /// - Parameters:
    ///   - id: The call's number.
    ///   - purpose: The change that a successful reply makes to the client.
    ///   - record: The record.
    ///   - now: The current time.
    ///   - start: When the call's first record was written; nil if `record` is the first one.
    package mutating func registerCall(
        _ id: Int64, _ purpose: CallPurpose, _ record: Record, at now: MonotonicTime, since start: MonotonicTime? = nil
    ) {
        self.calls.register(id, purpose, record, at: now, since: start)
        switch purpose {
        case .join(let live), .joinCreated(let live, _): self.beginEntering(live)
        case .resume(let point): self.beginEntering(point.live)
        case .plain, .leave, .create, .updateProfile: break
        }
    }

    /// Records that a join or resume is open; a client that is in the live already stays `inside` until the reply.
    private mutating func beginEntering(_ live: LiveID) {
        if self.membership == .outside { self.membership = .entering(live, lowestValidTicket: nil) }
    }

    /// Ends the call to which a machine has replied, or the first step of a create that joins.
    ///
    /// After the action `created`, the gateway registers the call again, with the record of the join.
    ///
    /// - Returns: The ended call; nil if the call is not open, or if the outcome is a second reply to an earlier record
    ///   of the call.
    package mutating func callAnswered(_ id: Int64, _ outcome: Outcome) -> EndedCall? {
        if let purpose = self.calls.purpose(of: id), !purpose.isAnswered(by: outcome) { return nil }
        return self.calls.remove(id).map { self.end($0, outcome) }
    }

    /// Whether a call with this id is open.
    package func hasOpenCall(_ id: Int64) -> Bool { self.calls.contains(id) }

    /// Returns the id of the first open call whose record satisfies the predicate.
    package func openCallID(where isMatch: (Record) -> Bool) -> Int64? { self.calls.firstID(where: isMatch) }

    /// Fails a call whose record could not be delivered.
    ///
    /// - Returns: The ended call; nil if the call is not open.
    package mutating func recordLost(_ id: Int64) -> EndedCall? {
        self.callAnswered(
            id, .failure(error: ReplyError(.unavailable, "the broker did not take the call", retryAfter: 1000)))
    }

    /// Fails the calls whose deadline has passed.
    package mutating func failOverdueCalls(at now: MonotonicTime) -> [EndedCall] {
        let overdue = self.calls.removeOverdue(at: now)
        return overdue.map { call in
            let error = ReplyError(
                .timedOut, "no answer in time; send the call again with the same id", retryAfter: 500)
            return self.end(call, .failure(error: error))
        }
    }

    /// Returns the records that must be resent now, and schedules their next resend.
    package mutating func takeRecordsToResend(at now: MonotonicTime) -> [Record] {
        self.calls.takeRecordsToResend(at: now)
    }

    /// Processes a kick of the user out of a live; the kick revokes all tickets below `lowestValidTicket`.
    ///
    /// - Returns: Whether the kick removed the client from the live.
    package mutating func kicked(from live: LiveID, lowestValidTicket: Ticket) -> Bool {
        switch self.membership {
        // An equal or higher ticket belongs to a join after the kick, and remains valid.
        case .inside(live, let ticket) where ticket < lowestValidTicket:
            self.membership = .outside
            return true
        case .entering(live, let earlierLimit):
            // Whether the kick removes the client depends on the ticket that the open join will get.
            self.membership = .entering(
                live, lowestValidTicket: max(earlierLimit ?? lowestValidTicket, lowestValidTicket))
            return false
        case .outside, .inside, .entering: return false
        }
    }

    /// Removes the client from the live if the client is in it, because the live has ended.
    ///
    /// - Returns: Whether the client was in the live.
    package mutating func liveEnded(_ live: LiveID) -> Bool {
        guard self.live == live else { return false }
        self.membership = .outside
        return true
    }

    /// Makes the `EndedCall` of a call that has been removed from the open calls, and updates the membership.
    private mutating func end(_ call: OpenCalls<Record>.Call, _ outcome: Outcome) -> EndedCall {
        EndedCall(
            id: call.id, action: self.complete(call.purpose, outcome), record: call.record,
            startedAt: call.startedAt)
    }

    /// Updates the membership by a call's outcome, and returns the action that follows.
    private mutating func complete(_ purpose: CallPurpose, _ outcome: Outcome) -> Action {
        switch purpose {
        case .plain: return .reply(outcome)
        case .updateProfile(let user):
            guard case .success = outcome else { return .reply(outcome) }
            return .profileUpdated(user, outcome)
        case .leave(let live):
            guard case .success = outcome, self.live == live else { return .reply(outcome) }
            self.membership = .outside
            return .left(live, outcome)
        case .join(let live):
            return self.completeJoin(live, outcome) { epoch, _ in .joined(live, epoch: epoch, outcome) }
        case .create(let live, let isLateRetry):
            guard case .success(let result) = outcome else { return .reply(outcome) }
            return .created(live, result, isLateRetry: isLateRetry)
        case .joinCreated(let live, let createResult):
            let action = self.completeJoin(live, outcome) { epoch, _ in
                .joined(live, epoch: epoch, .success(result: createResult.adding(join: outcome)))
            }
            guard case .reply(let reply) = action else { return action }
            // After a temporary error the client may repeat the call: the directory answers as before, and the join is
            // tried again. After any other error the live exists, but its owner is not in it; the owner learns the
            // reason from a separate join.
            if case .failure(let error) = reply, error.code.isTemporary { return action }
            return .reply(.success(result: createResult))
        case .resume(let point):
            if case .failure(let error) = outcome, error.code == .noSuchRoomOnEntry {
                if case .entering(point.live, _) = self.membership { self.membership = .outside }
                return .missedEnd(point, outcome)
            }
            return self.completeJoin(point.live, outcome) { epoch, ticket in
                .resumed(point, ticket: ticket, epoch: epoch)
            }
        }
    }

    /// Ends a join or resume: records the membership, and returns the result of `makeAction` if the client is in
    /// the live now, else a reply.
    private mutating func completeJoin(
        _ live: LiveID, _ outcome: Outcome, _ makeAction: (_ epoch: Int64, Ticket) -> Action
    ) -> Action {
        guard case .success(.joined(ticket: let ticket, epoch: let epoch, confirmed: _, token: _)) = outcome else {
            if case .entering(live, _) = self.membership { self.membership = .outside }
            return .reply(outcome)
        }
        // The user was kicked while the join was open, and the kick revokes the join's ticket.
        if case .entering(live, let lowestValidTicket?) = self.membership, ticket < lowestValidTicket {
            self.membership = .outside
            return .reply(.failure(error: ReplyError(.staleTicket, "you were removed from the live; join it again")))
        }
        // The reply is late: the client is in another live now.
        if case .inside(let current, _) = self.membership, current != live { return .reply(outcome) }
        self.membership = .inside(live, ticket)
        return makeAction(epoch, ticket)
    }
}

extension CallPurpose {
    /// Whether the outcome can be the reply to the call's last record.
    ///
    /// A create that joins has two records with the same id: the create's and the join's. A record that was resent has
    /// two replies. So while the join is open, a second reply to the create may come. While a client repeats the
    /// create, a late reply to the join of the earlier attempt may come.
    fileprivate func isAnswered(by outcome: Outcome) -> Bool {
        switch (self, outcome) {
        case (.create, .success(.joined)), (.joinCreated, .success(.live)): false
        default: true
        }
    }
}

extension CallResult {
    /// Returns the result of a create with the join that `outcome` contains; unchanged if it contains none.
    fileprivate func adding(join outcome: Outcome) -> CallResult {
        guard case .live(let info, let epoch, let revision, _) = self,
            case .success(.joined(let ticket, let joinedEpoch, let confirmed, let token)) = outcome
        else { return self }
        let joined = JoinedLive(ticket: ticket, epoch: joinedEpoch, confirmed: confirmed, token: token)
        return .live(info: info, epoch: epoch, revision: revision, joined: joined)
    }
}

extension ReplyCode {
    /// Whether the same call may succeed later.
    fileprivate var isTemporary: Bool { [.unavailable, .overloaded, .timedOut].contains(self) }
}
