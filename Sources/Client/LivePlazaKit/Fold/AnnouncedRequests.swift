// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// The battle requests and seat invitations to this user that the app already knows from an event.
///
/// No store's state lists such requests, so they are remembered here.
///
/// Each request leads to only one event. Usually a notice announces the request. The server keeps a notice for only a
/// minute; if the client missed the notice, a later snapshot of the open requests announces the request.
struct AnnouncedRequests: Sendable {
    private var battles: Set<BattleID> = []
    private var invitations: Set<Invitation> = []

    /// An invitation to a seat, identified by its host and its expiry.
    private struct Invitation: Hashable {
        let host: UserID
        let expiresAt: Timestamp
    }

    /// Adds an event to `context` for each request that the input contains and that was not announced before.
    mutating func reduce(_ input: FoldInput, _ context: inout FoldContext) {
        switch input {
        case .notice(.battleRequestReceived(let id, let inviter, _, _, _), _):
            self.announceBattle(id, inviter: inviter, invitee: context.host(of: context.liveID), &context)
        case .notice(.invitationReceived(let host, _, let expiresAt, _), _):
            self.announceInvitation(of: host, expiresAt: expiresAt, &context)
        case .snapshot(.battleRequests(_, let received, _)):
            for request in received where !request.hasAccepted {
                self.announceBattle(
                    request.battle, inviter: request.inviter, invitee: SeatUserInfo(request.invitee), &context)
            }
        case .snapshot(.seatRequests(_, let invitations, _)):
            // A host's snapshot also contains the invitations to others.
            for invitation in invitations where invitation.guest.userID == context.selfID {
                self.announceInvitation(of: invitation.host, expiresAt: invitation.expiresAt, &context)
            }
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

    private mutating func announceInvitation(
        of host: UserInfo, expiresAt: Timestamp, _ context: inout FoldContext
    ) {
        guard self.invitations.insert(Invitation(host: host.userID, expiresAt: expiresAt)).inserted else { return }
        context.events.append(.guest(.onHostInvitationReceived(hostUser: LiveUserInfo(host))))
    }
}
