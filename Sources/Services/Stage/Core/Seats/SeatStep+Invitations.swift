// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Invitations to a seat (R6.13).
///
/// An invitation takes two steps. In the first step, this machine checks the call and passes it on to presence (the
/// machine that knows who is in the live) with an offer. Presence verifies that the guest is in the live and returns
/// the call and the offer. In the second step, this machine decides the call.
extension SeatStep {
    /// First step of an invitation: checks the call, then asks presence to verify that the guest is in the live.
    mutating func invite(
        _ user: UserID, seatIndex: Int, timeoutSeconds: Int64, extraInfo: String, _ caller: Caller
    ) throws(ReplyError) -> SeatOutcome.Result {
        try self.validateInvitation(
            of: user, seatIndex: seatIndex, timeoutSeconds: timeoutSeconds, extraInfo: extraInfo, caller)
        let offer = SeatOffer.invitation(
            seatIndex: seatIndex, timeoutSeconds: timeoutSeconds, extraInfo: extraInfo)
        return self.verifyMembership(offer, to: user, caller)
    }

    /// Asks presence to verify that `user` is in the live; presence then returns the call with `offer`.
    mutating func verifyMembership(_ offer: SeatOffer, to user: UserID, _ caller: Caller) -> SeatOutcome.Result {
        self.effects.append(
            .audience(AudienceInput(self.stage.key, .verifyGuestMembership(user: user, offer: offer, caller: caller))))
        return .passedOn
    }

    /// Second step: presence has verified that the guest is in the live.
    ///
    /// The caller's permission and the seat are checked again, because they may have changed since the first step.
    mutating func decideVerifiedOffer(
        _ guest: UserInfo, _ offer: SeatOffer, _ caller: Caller
    ) throws(ReplyError) -> SeatOutcome.Result {
        switch offer {
        case .placement(let seatIndex): return try self.place(guest, at: seatIndex, caller)
        case .invitation(let seatIndex, let timeoutSeconds, let extraInfo):
            let expiresAt = try self.validateInvitation(
                of: guest.userID, seatIndex: seatIndex, timeoutSeconds: timeoutSeconds, extraInfo: extraInfo, caller)
            try self.openRequest(
                SeatRequest(
                    kind: .invitation(host: caller.user), guest: guest, seatIndex: seatIndex, expiresAt: expiresAt))
            self.notify(
                guest.userID,
                .invitationReceived(
                    host: caller.user, seatIndex: seatIndex, expiresAt: expiresAt, extraInfo: extraInfo))
            return .done
        }
    }

    /// Rejects an invitation that is not allowed, and returns the time when an allowed invitation expires.
    @discardableResult
    private func validateInvitation(
        of user: UserID, seatIndex: Int, timeoutSeconds: Int64, extraInfo: String, _ caller: Caller
    ) throws(ReplyError) -> Timestamp {
        try self.requireHost(caller)
        let expiresAt = try RequestParameters.expiry(after: timeoutSeconds, from: self.moment.now)
        try RequestParameters.check(extraInfo: extraInfo)
        guard user != caller.userID else { throw ReplyError(.badParameter, "you cannot invite yourself") }
        try self.requireUnseated(user)
        _ = try self.stage.chooseSeat(seatIndex, for: user)
        guard self.requests.invitationIndex(of: user, by: caller.userID) == nil else {
            throw ReplyError(.requestConflict, "you have an open invitation to the user")
        }
        return expiresAt
    }

    /// Cancels the caller's own invitation; a former admin may do this too.
    mutating func cancelInvitation(of user: UserID, _ caller: Caller) throws(ReplyError) -> SeatOutcome.Result {
        guard let index = self.requests.invitationIndex(of: user, by: caller.userID) else {
            throw ReplyError(.failed, "you have no open invitation to the user")
        }
        self.requests.remove(at: index)
        self.notify(user, .invitationCancelled(host: caller.user))
        return .done
    }

    /// Accepts or rejects the invitation that `host` made to the caller; if the caller accepts, it gets the seat.
    mutating func answerInvitation(
        of host: UserID, isAccepted: Bool, _ caller: Caller
    ) throws(ReplyError) -> SeatOutcome.Result {
        try self.requireUser(caller)
        guard let index = self.requests.invitationIndex(of: caller.userID, by: host) else {
            throw ReplyError(.failed, "the user has no open invitation to you")
        }
        let seat =
            isAccepted ? try self.stage.chooseSeat(self.requests.open[index].seatIndex, for: caller.userID) : nil
        self.requests.remove(at: index)
        if let seat { self.putOnSeat(caller.user, at: seat) }
        self.notify(host, .invitationAnswered(guest: caller.user, accepted: isAccepted))
        return isAccepted ? .seat(index: seat) : .done
    }
}
