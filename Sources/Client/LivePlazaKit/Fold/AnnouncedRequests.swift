// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// The requests to this user that were reported to the app by an event and that no store's state contains.
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

    mutating func reduce(_ input: FoldInput, _ context: inout FoldContext) {
        switch input {
        case .notice(.battleRequestReceived(let id, let inviter, _, _, _), _):
            self.announce(id, inviter, invitee: context.host(of: context.liveID), &context)
        case .notice(.invitationReceived(let host, _, let expiresAt, _), _):
            self.announce(host, expiresAt, &context)
        case .snapshot(.battleRequests(_, let received, _)):
            for request in received where !request.hasAccepted {
                self.announce(request.battle, request.inviter, invitee: SeatUserInfo(request.invitee), &context)
            }
        case .snapshot(.seatRequests(_, let invitations, _)):
            for invitation in invitations where invitation.guest.userID == context.selfID {
                self.announce(invitation.host, invitation.expiresAt, &context)
            }
        default: break
        }
    }

    private mutating func announce(
        _ battle: BattleID, _ inviter: ConnectionMember, invitee: SeatUserInfo, _ context: inout FoldContext
    ) {
        guard self.battles.insert(battle).inserted else { return }
        context.events.append(
            .battle(
                .onBattleRequestReceived(battleID: battle.text, inviter: SeatUserInfo(inviter), invitee: invitee)))
    }

    private mutating func announce(_ host: UserInfo, _ expiresAt: Timestamp, _ context: inout FoldContext) {
        guard self.invitations.insert(Invitation(host: host.userID, expiresAt: expiresAt)).inserted else { return }
        context.events.append(.guest(.onHostInvitationReceived(hostUser: LiveUserInfo(host))))
    }
}
