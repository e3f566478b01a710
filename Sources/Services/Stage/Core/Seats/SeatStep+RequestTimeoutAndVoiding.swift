// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Ends open requests that time out, or whose guest has taken a seat or left the live (R1.14, R6.18, R6.19).
extension SeatStep {
    /// Ends the requests that have timed out.
    mutating func expireRequests() {
        let now = self.moment.now
        for request in self.requests.removeAll(where: { $0.expiresAt <= now }) {
            switch request.kind {
            case .application:
                self.notify(request.guest.userID, .applicationNoResponse(reason: .timeout))
                self.notifyHosts(
                    except: request.guest.userID, content: .applicationTimedOut(guest: request.guest))
            case .invitation(let host):
                self.notify(host.userID, .invitationNoResponse(guest: request.guest, reason: .timeout))
                self.notify(request.guest.userID, .invitationTimedOut(host: host))
            }
        }
    }

    /// Voids the requests of a guest who has taken a seat.
    mutating func endRequests(ofSeated guest: UserInfo) {
        for request in self.requests.removeAll(where: { $0.guest.userID == guest.userID }) {
            switch request.kind {
            case .application:
                self.notify(guest.userID, .applicationNoResponse(reason: .alreadySeated))
                self.notifyHosts(except: guest.userID, content: .applicationCancelled(guest: guest))
            case .invitation(let host):
                self.notify(host.userID, .invitationNoResponse(guest: guest, reason: .alreadySeated))
                self.notify(guest.userID, .invitationCancelled(host: host))
            }
        }
    }

    /// Ends the requests of a user who has left the live.
    ///
    /// The user's application counts as cancelled, the invitations to the user count as rejected, and the invitations
    /// by the user count as cancelled.
    mutating func endRequests(ofLeaver user: UserID) {
        for request in self.requests.removeAll(where: { $0.guest.userID == user || $0.host?.userID == user }) {
            switch request.kind {
            case .application:
                self.notifyHosts(except: user, content: .applicationCancelled(guest: request.guest))
            case .invitation(let host) where host.userID == user:
                self.notify(request.guest.userID, .invitationCancelled(host: host))
            case .invitation(let host):
                self.notify(host.userID, .invitationAnswered(guest: request.guest, accepted: false))
            }
        }
    }
}
