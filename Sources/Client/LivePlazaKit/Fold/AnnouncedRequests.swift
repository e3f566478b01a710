// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// The requests of others to this user that the app already knows from an event.
///
/// Each request leads to only one event. Usually a notice announces the request. The server keeps a notice for only a
/// minute; if the client missed the notice, a later snapshot of the open requests announces the request.
struct AnnouncedRequests: Sendable {
    private var battles: Set<BattleID> = []
    /// Applications for seats, to a host.
    private var applications: Set<SeatRequest> = []
    /// Invitations to a seat, to a viewer.
    private var invitations: Set<SeatRequest> = []
    private var coHostRequests: Set<CoHostRequest> = []

    /// A request for a seat, identified by who has made it and by its expiry.
    private struct SeatRequest: Hashable {
        let maker: UserID
        let expiresAt: Timestamp
    }

    /// A request to connect, identified by the live that has made it and by its expiry.
    private struct CoHostRequest: Hashable {
        let inviter: LiveID
        let expiresAt: Timestamp
    }

    /// Adds an event to `context` for each request that the input contains and that was not announced before.
    mutating func reduce(_ input: FoldInput, _ context: inout FoldContext) {
        switch input {
        case .notice(let content, _): self.reduce(content, &context)
        case .snapshot(.battleRequests(_, let received, _)):
            for request in received where !request.hasAccepted {
                self.announceBattle(
                    request.battle, inviter: request.inviter, invitee: SeatUserInfo(request.invitee), &context)
            }
        case .snapshot(.seatRequests(let applications, let invitations, _)):
            // A viewer's snapshot contains the viewer's own application.
            for application in applications where context.isHost {
                self.announceApplication(of: application.guest, expiresAt: application.expiresAt, &context)
            }
            // A host's snapshot also contains the invitations to others.
            for invitation in invitations where invitation.guest.userID == context.selfID {
                self.announceInvitation(of: invitation.host, expiresAt: invitation.expiresAt, &context)
            }
        case .snapshot(.coHostRequests(_, let received, _)):
            for request in received {
                self.announceCoHostRequest(of: request.inviter, request.expiresAt, request.extensionInfo, &context)
            }
        default: break
        }
    }

    private mutating func reduce(_ content: NoticeContent, _ context: inout FoldContext) {
        switch content {
        case .battleRequestReceived(let id, let inviter, _, _, _):
            self.announceBattle(id, inviter: inviter, invitee: context.host(of: context.liveID), &context)
        case .applicationReceived(let guest, _, let expiresAt, _):
            self.announceApplication(of: guest, expiresAt: expiresAt, &context)
        case .invitationReceived(let host, _, let expiresAt, _):
            self.announceInvitation(of: host, expiresAt: expiresAt, &context)
        case .coHostRequestReceived(let inviter, let expiresAt, let extensionInfo):
            self.announceCoHostRequest(of: inviter, expiresAt, extensionInfo, &context)
        default: break
        }
    }

    private mutating func announceBattle(
        _ battle: BattleID, inviter: ConnectionMember, invitee: SeatUserInfo, _ context: inout FoldContext
    ) {
        guard self.battles.insert(battle).inserted else { return }
        context.events.append(
            .battle(
                .onBattleRequestReceived(battleID: battle.text, inviter: SeatUserInfo(inviter), invitee: invitee)))
    }

    private mutating func announceApplication(
        of guest: UserInfo, expiresAt: Timestamp, _ context: inout FoldContext
    ) {
        let application = SeatRequest(maker: guest.userID, expiresAt: expiresAt)
        guard self.applications.insert(application).inserted else { return }
        context.events.append(.host(.onGuestApplicationReceived(guestUser: LiveUserInfo(guest))))
    }

    private mutating func announceInvitation(
        of host: UserInfo, expiresAt: Timestamp, _ context: inout FoldContext
    ) {
        let invitation = SeatRequest(maker: host.userID, expiresAt: expiresAt)
        guard self.invitations.insert(invitation).inserted else { return }
        context.events.append(.guest(.onHostInvitationReceived(hostUser: LiveUserInfo(host))))
    }

    private mutating func announceCoHostRequest(
        of inviter: ConnectionMember, _ expiresAt: Timestamp, _ extensionInfo: String, _ context: inout FoldContext
    ) {
        let request = CoHostRequest(inviter: inviter.live, expiresAt: expiresAt)
        guard self.coHostRequests.insert(request).inserted else { return }
        context.events.append(
            .coHost(.onCoHostRequestReceived(inviter: SeatUserInfo(inviter), extensionInfo: extensionInfo)))
    }
}
