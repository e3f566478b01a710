// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// A request of another user to this one, as the notice of its end names it: by who has made it, or by its battle.
enum RequestName: Hashable {
    /// An application for a seat, by the id of the guest.
    case application(String)
    /// An invitation to a seat, by the id of the host.
    case invitation(String)
    /// A request to connect, by the id of the live that has made it.
    case coHost(String)
    /// A request for a battle, by the id of the battle.
    case battle(String)
}

extension StoreEvent {
    /// The request that the event announces; nil for other events.
    var announcedRequest: RequestName? {
        switch self {
        case .host(.onGuestApplicationReceived(let guest)): .application(guest.userID)
        case .guest(.onHostInvitationReceived(let host)): .invitation(host.userID)
        case .coHost(.onCoHostRequestReceived(let inviter, _)): .coHost(inviter.liveID)
        case .battle(.onBattleRequestReceived(let battleID, _, _)): .battle(battleID)
        default: nil
        }
    }
}

extension FoldInput {
    /// The request of another user that the input ends; nil for other inputs.
    var endedRequest: RequestName? {
        switch self {
        case .notice(let content, _): content.endedRequest
        case .local(.applicationAnswered(let user)): .application(user)
        case .local(.coHostRequestEnded(let inviter, _)): .coHost(inviter)
        default: nil
        }
    }
}

extension NoticeContent {
    fileprivate var endedRequest: RequestName? {
        switch self {
        case .applicationCancelled(let guest), .applicationTimedOut(let guest), .applicationProcessed(let guest, _, _):
            .application(guest.userID.text)
        case .invitationCancelled(let host), .invitationTimedOut(let host): .invitation(host.userID.text)
        case .coHostRequestCancelled(let inviter, _, _): .coHost(inviter.live.text)
        case .coHostRequestTimedOut(let inviter, _, _, _): .coHost(inviter.text)
        case .battleRequestCancelled(let battle, _, _, _, _), .battleRequestTimedOut(let battle, _, _, _, _):
            .battle(battle.text)
        default: nil
        }
    }
}
