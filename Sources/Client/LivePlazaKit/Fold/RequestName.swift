// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// A request, as the notice of its end names it: by its maker, by its receiver, or by its battle.
enum RequestName: Hashable, Sendable {
    /// Another user's application for a seat, by the id of the guest.
    case application(String)
    /// An invitation of this user to a seat, by the id of the host.
    case invitation(String)
    /// A request of another live to connect, by the id of that live.
    case coHost(String)
    /// A request of another live for a battle, by the id of the battle.
    case battle(String)
    /// This user's own application for a seat.
    case ownApplication
    /// This user's invitation of a viewer to a seat, by the id of the viewer.
    case ownInvitation(String)
    /// A request of this live to connect, by the id of the live that was asked.
    case ownCoHost(String)
    /// A request of this live for a battle, by the id of the battle and the id of the live that was asked.
    case ownBattle(String, invitee: String)

    /// The snapshot that contains the request while it is open.
    var snapshot: SnapshotName {
        switch self {
        case .application, .invitation, .ownApplication, .ownInvitation: .seatRequests
        case .coHost, .ownCoHost: .coHostRequests
        case .battle, .ownBattle: .battleRequests
        }
    }

    /// Whether a list of a store shows the request as soon as the app makes the call, before the server has answered.
    var isShownBeforeReply: Bool {
        switch self {
        case .ownInvitation, .ownCoHost: true
        case .application, .invitation, .coHost, .battle, .ownApplication, .ownBattle: false
        }
    }
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
    /// The requests that the input ends; none for most inputs.
    ///
    /// The end of a request between lives gives two names: one for a request to this live, one for a request of this
    /// live. Only one of the two can be open, because a live makes no request to itself.
    var endedRequests: [RequestName] {
        switch self {
        case .notice(let content, _): content.endedRequests
        case .local(let change): change.endedRequests
        default: []
        }
    }
}

extension NoticeContent {
    fileprivate var endedRequests: [RequestName] {
        switch self {
        case .applicationCancelled(let guest), .applicationTimedOut(let guest), .applicationProcessed(let guest, _, _):
            [.application(guest.userID.text)]
        case .applicationAnswered, .applicationNoResponse: [.ownApplication]
        case .invitationCancelled(let host), .invitationTimedOut(let host): [.invitation(host.userID.text)]
        case .invitationAnswered(let guest, _), .invitationNoResponse(let guest, _):
            [.ownInvitation(guest.userID.text)]
        case .coHostRequestCancelled(let inviter, let invitee, _):
            [.coHost(inviter.live.text), .ownCoHost(invitee.text)]
        case .coHostRequestTimedOut(let inviter, let invitee, _, _): [.coHost(inviter.text), .ownCoHost(invitee.text)]
        case .coHostRequestAccepted(let invitee), .coHostRequestRejected(let invitee): [.ownCoHost(invitee.live.text)]
        case .battleRequestCancelled(let battle, _, let invitee, _, _),
            .battleRequestTimedOut(let battle, _, let invitee, _, _):
            [.battle(battle.text), .ownBattle(battle.text, invitee: invitee.text)]
        case .battleRequestAccepted(let battle, let invitee), .battleRequestRejected(let battle, let invitee):
            [.ownBattle(battle.text, invitee: invitee.live.text)]
        default: []
        }
    }
}

extension LocalChange {
    fileprivate var endedRequests: [RequestName] {
        switch self {
        case .applicationAnswered(let user): [.application(user)]
        case .applicationCancelled: [.ownApplication]
        case .invitationAnswered(let host): [.invitation(host)]
        case .invitationCancelled(let user): [.ownInvitation(user)]
        case .coHostRequestEnded(let inviter, let invitee): [.coHost(inviter), .ownCoHost(invitee)]
        case .battleAnswered(let battle): [.battle(battle)]
        case .battleRequestCancelled(let battle, let lives): lives.map { .ownBattle(battle, invitee: $0) }
        default: []
        }
    }
}
