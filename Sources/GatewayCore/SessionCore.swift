// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// Whether a call may be passed on to its machine.
package enum CallVerdict: Hashable, Sendable {
    /// It may.
    case goesOn
    /// The same call is open already: its answer comes once, and nothing is said now.
    case repeated
    /// It may not.
    case refused(ReplyError)
}

/// The state of one connection: whether it has logged in, which live it is in, and which calls are open.
///
/// Holds no table of its own until a call needs one, for most connections are idle. Times are of any clock that never
/// goes back.
package struct SessionCore<Record: Sendable>: Sendable {
    /// Where the client is.
    package enum Place: Hashable, Sendable {
        /// In no live; becomes `entering`.
        case outside
        /// A join or a resume is on its way; becomes `inside`, or `outside` when it is refused. `floor`: the client was
        /// put out meanwhile, of tickets below it.
        case entering(LiveID, floor: Ticket?)
        /// In the live, by that ticket; becomes `outside` by leaving, a kick or the live's end.
        case inside(LiveID, Ticket)
    }

    /// What to do about an answered call.
    package enum Conclusion: Hashable, Sendable {
        /// Pass the outcome on.
        case reply(Outcome)
        /// The client is in the live: subscribe it to the feed, then pass the outcome on.
        case joined(LiveID, epoch: Int64, Outcome)
        /// The client is in the live again: replay what it missed.
        case resumed(ResumePoint, ticket: Ticket, epoch: Int64)
        /// The client's user is shown otherwise from now on: pass the outcome on.
        case renamed(UserInfo, Outcome)
        /// The client is out of the live: pass the outcome on, then unsubscribe.
        case left(LiveID, Outcome)
    }

    /// A call that has come to its end.
    package struct Ended: Sendable {
        /// The call's number.
        package let id: Int64
        /// What to do.
        package let conclusion: Conclusion
        /// What was written for it.
        package let record: Record
        /// When it came.
        package let began: Timestamp
    }

    /// How long a connection may take to log in.
    package static var loginPatience: Milliseconds { .seconds(10) }

    /// Where the client is.
    package private(set) var place = Place.outside
    /// Whether the login succeeded.
    package private(set) var isLoggedIn = false
    /// The login's deadline, or the token's end.
    private var endsAt: Timestamp
    private var calls = OpenCalls<Record>()

    /// A connection that has just opened.
    package init(at now: Timestamp) { self.endsAt = now + Self.loginPatience }

    /// How many calls are open.
    package var openCalls: Int { self.calls.count }

    /// The ticket of the live that the client is in.
    package var ticket: Ticket? {
        if case .inside(_, let ticket) = self.place { return ticket }
        return nil
    }

    /// The live that the client is in.
    package var live: LiveID? {
        if case .inside(let live, _) = self.place { return live }
        return nil
    }

    /// The login succeeded, or was made anew with a later token.
    package mutating func loggedIn(until end: Timestamp) {
        self.isLoggedIn = true
        self.endsAt = end
    }

    /// Why the connection must end now, if it must.
    package func overdue(at now: Timestamp) -> DisconnectCode? {
        guard now >= self.endsAt else { return nil }
        return self.isLoggedIn ? .tokenExpired : .loginTimeout
    }

    /// Whether a call may be passed on.
    ///
    /// - Parameters:
    ///   - id: the call's number.
    ///   - purpose: what it does to the client's place.
    ///   - room: the live that the caller must be in, if any.
    ///   - waiting: calls of the session that wait to be passed on, which count as open.
    /// - Returns: go on, say nothing, or refuse.
    package func verdict(
        on id: Int64, _ purpose: CallPurpose, inRoom room: LiveID?, waiting: Int = 0
    ) -> CallVerdict {
        switch self.calls.refusal(of: id, waiting: waiting) {
        case .repeated: return .repeated
        case .full:
            return .refused(
                ReplyError(.overloaded, "\(OpenCalls<Record>.limit) calls are open already", retryAfter: 200))
        case nil: break
        }
        switch purpose {
        case .plain:
            guard let room, self.live != room else { return .goesOn }
            return .refused(ReplyError(.notInRoom, "join the live before acting in it"))
        case .leave(let live):
            if self.live == live { return .goesOn }
            return .refused(ReplyError(.notInRoom, "you are not in the live"))
        case .rename:
            // What the live would show depends on which comes first there.
            guard case .entering = self.place else { return .goesOn }
            return .refused(ReplyError(.unavailable, "you are about to enter a live", retryAfter: 200))
        case .join(let live): return self.verdict(entering: live)
        case .resume(let point): return self.verdict(entering: point.live)
        }
    }

    /// A client is in one live at a time.
    private func verdict(entering live: LiveID) -> CallVerdict {
        switch self.place {
        case .outside: return .goesOn
        case .inside(let other, _), .entering(let other, _):
            if other == live { return .goesOn }
            return .refused(ReplyError(.inAnotherRoom, "leave \(other.text) before you join another live"))
        }
    }

    /// A call was sent to its machine.
    package mutating func began(_ id: Int64, _ purpose: CallPurpose, _ record: Record, at now: Timestamp) {
        self.calls.began(id, purpose, record, at: now)
        switch purpose {
        case .join(let live): if self.place == .outside { self.place = .entering(live, floor: nil) }
        case .resume(let point): if self.place == .outside { self.place = .entering(point.live, floor: nil) }
        case .plain, .leave, .rename: break
        }
    }

    /// A machine answered.
    ///
    /// - Returns: what follows; nil when nobody waits for the answer (any more).
    package mutating func answered(_ id: Int64, _ outcome: Outcome) -> Ended? {
        self.calls.ended(id).map { self.end($0, outcome) }
    }

    /// The open call whose record fits.
    package func openCall(where fits: (Record) -> Bool) -> Int64? { self.calls.first(where: fits) }

    /// A call's record could not be delivered.
    ///
    /// - Returns: the refusal to pass on; nil when the call is not open.
    package mutating func notDelivered(_ id: Int64) -> Ended? {
        self.answered(
            id, .failure(error: ReplyError(.unavailable, "the broker did not take the call", retryAfter: 1000)))
    }

    /// Time has passed: ends the calls whose deadline is over.
    package mutating func sweep(at now: Timestamp) -> [Ended] {
        let overdue = self.calls.overdue(at: now)
        return overdue.map { call in
            let error = ReplyError(
                .timedOut, "no answer in time; send the call again with the same id", retryAfter: 500)
            return self.end(call, .failure(error: error))
        }
    }

    /// The records that should be sent again now.
    package mutating func dueAgain(at now: Timestamp) -> [Record] { self.calls.dueAgain(at: now) }

    /// The client's user was put out of a live: tickets below `floor` are void.
    ///
    /// - Returns: whether this client was in it, and is out now.
    package mutating func kicked(from live: LiveID, floor: Ticket) -> Bool {
        switch self.place {
        case .inside(live, let ticket) where ticket < floor:
            self.place = .outside
            return true
        case .entering(live, let known):
            self.place = .entering(live, floor: max(known ?? floor, floor))
            return false
        case .outside, .inside, .entering: return false
        }
    }

    /// The live is over.
    ///
    /// - Returns: whether this client was in it, and is out now.
    package mutating func liveEnded(_ live: LiveID) -> Bool {
        guard self.live == live else { return false }
        self.place = .outside
        return true
    }

    private mutating func end(_ call: OpenCalls<Record>.Call, _ outcome: Outcome) -> Ended {
        Ended(
            id: call.id, conclusion: self.conclude(call.purpose, outcome), record: call.record, began: call.began)
    }

    private mutating func conclude(_ purpose: CallPurpose, _ outcome: Outcome) -> Conclusion {
        switch purpose {
        case .plain: return .reply(outcome)
        case .rename(let user):
            guard case .success = outcome else { return .reply(outcome) }
            return .renamed(user, outcome)
        case .leave(let live):
            guard case .success = outcome, self.live == live else { return .reply(outcome) }
            self.place = .outside
            return .left(live, outcome)
        case .join(let live):
            return self.entered(live, outcome) { epoch, _ in .joined(live, epoch: epoch, outcome) }
        case .resume(let point):
            return self.entered(point.live, outcome) { epoch, ticket in
                .resumed(point, ticket: ticket, epoch: epoch)
            }
        }
    }

    private mutating func entered(
        _ live: LiveID, _ outcome: Outcome, _ conclusion: (Int64, Ticket) -> Conclusion
    ) -> Conclusion {
        guard case .success(.joined(let ticket, let epoch, _)) = outcome else {
            if case .entering(live, _) = self.place { self.place = .outside }
            return .reply(outcome)
        }
        if case .entering(live, let floor?) = self.place, ticket < floor {
            self.place = .outside
            return .reply(.failure(error: ReplyError(.staleTicket, "you were put out of the live; join it again")))
        }
        if case .inside(let other, _) = self.place, other != live { return .reply(outcome) }
        self.place = .inside(live, ticket)
        return conclusion(epoch, ticket)
    }
}
