// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Limits the number of open requests of a live, and lists them for hosts (R17.3, R1.15).
extension SeatStep {
    /// Opens a request, unless the live has reached its limit of open requests.
    mutating func openRequest(_ request: SeatRequest) throws(ReplyError) {
        guard self.requests.open.count < Limits.openSeatRequests else {
            throw ReplyError(
                .overloaded, "a live has at most \(Limits.openSeatRequests) open requests",
                retryAfter: Milliseconds.seconds(1).count)
        }
        self.requests.append(request)
    }

    /// Lists all open requests for a host; for any other user, the requests whose guest is that user (R6.25).
    ///
    /// A host needs the list, because a host who joined later has received no notice of earlier requests.
    func listOpenRequests(for caller: Caller) -> CallResult {
        let isHost = self.isHost(caller)
        var applications: [OpenApplication] = []
        var invitations: [OpenInvitation] = []
        for request in self.requests.open where isHost || request.guest.userID == caller.userID {
            switch request.kind {
            case .application:
                applications.append(
                    OpenApplication(
                        guest: request.guest, seatIndex: request.seatIndex, expiresAt: request.expiresAt))
            case .invitation(let host):
                invitations.append(
                    OpenInvitation(
                        guest: request.guest, host: host, seatIndex: request.seatIndex,
                        expiresAt: request.expiresAt))
            }
        }
        return .seatRequests(applications: applications, invitations: invitations, at: self.moment.now)
    }
}
