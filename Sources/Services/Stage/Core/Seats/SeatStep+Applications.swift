// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Applications for a seat (R6.1, R6.8, R6.13).
///
/// Each application ends exactly once (I13, docs/RULES.md), because whatever ends an application also removes it.
extension SeatStep {
    /// Makes an application for a seat, or gives the caller the seat at once if users of the live may take free seats.
    ///
    /// In both cases the seat must be free now; if the caller asks for any seat, one seat must be free.
    mutating func apply(
        seatIndex: Int, timeoutSeconds: Int64, extraInfo: String, _ caller: Caller
    ) throws(ReplyError) -> SeatOutcome.Result {
        if self.stage.role(of: caller.userID) == .owner { throw self.permissionError("the owner cannot apply") }
        let expiresAt = try RequestParameters.expiry(after: timeoutSeconds, from: self.moment.now)
        try RequestParameters.check(extraInfo: extraInfo)
        let index = try self.requestedSeat(for: caller, seatIndex)
        if self.stage.mode == .free {
            self.putOnSeat(caller.user, at: index)
            return .seat(index: index)
        }
        if let openIndex = self.requests.applicationIndex(of: caller.userID) {
            throw self.requests.open[openIndex].seatIndex == seatIndex
                ? ReplyError(.requestRepeated, "your application is already open")
                : ReplyError(.requestConflict, "you have an open application for another seat")
        }
        try self.openRequest(
            SeatRequest(kind: .application, guest: caller.user, seatIndex: seatIndex, expiresAt: expiresAt))
        self.notifyHosts(
            except: caller.userID,
            content: .applicationReceived(
                guest: caller.user, seatIndex: seatIndex, expiresAt: expiresAt, extraInfo: extraInfo))
        return .seat(index: nil)
    }

    /// Cancels the caller's open application.
    mutating func cancelApplication(_ caller: Caller) throws(ReplyError) -> SeatOutcome.Result {
        guard caller.role == .user, let index = self.requests.applicationIndex(of: caller.userID) else {
            throw ReplyError(.failed, "you have no open application")
        }
        self.requests.remove(at: index)
        self.notifyHosts(except: caller.userID, content: .applicationCancelled(guest: caller.user))
        return .done
    }

    /// Accepts or rejects an application; the caller must be a host.
    ///
    /// The first answer that succeeds ends the application; the other hosts get a notice.
    mutating func answerApplication(
        of user: UserID, isAccepted: Bool, _ caller: Caller
    ) throws(ReplyError) -> SeatOutcome.Result {
        try self.requireHost(caller)
        guard let index = self.requests.applicationIndex(of: user) else {
            throw ReplyError(.requestGone, "the user has no open application")
        }
        let guest = self.requests.open[index].guest
        // If the seat has been taken or locked meanwhile, the host's call fails and the application stays open.
        let seat = isAccepted ? try self.stage.chooseSeat(self.requests.open[index].seatIndex, for: user) : nil
        self.requests.remove(at: index)
        if let seat { self.putOnSeat(guest, at: seat) }
        self.notify(user, .applicationAnswered(host: caller.user, accepted: isAccepted))
        for host in self.stage.hosts where host != caller.userID && host != user {
            self.notify(host, .applicationProcessed(guest: guest, by: caller.user, accepted: isAccepted))
        }
        return isAccepted ? .seat(index: seat) : .done
    }
}
