// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The events with which a request may end if no notice tells how it ended.
struct RequestEnds: Sendable {
    /// The event if the live's state shows that the request was accepted; nil for a request to this user, who knows it.
    let accepted: StoreEvent?
    /// The event if the live's state does not show that the request was accepted.
    let unanswered: StoreEvent

    /// The ends of this user's application for a seat.
    ///
    /// The live's state does not name the host who has accepted, so the event names the live's owner.
    static func ofOwnApplication(_ context: FoldContext) -> RequestEnds {
        let owner = context.states.live.info.liveOwner
        return RequestEnds(
            accepted: .guest(.onGuestApplicationResponded(isAccept: true, hostUser: owner)),
            unanswered: .guest(.onGuestApplicationNoResponse(reason: .timeout)))
    }

    static func ofOwnInvitation(_ guest: LiveUserInfo) -> RequestEnds {
        RequestEnds(
            accepted: .host(.onHostInvitationResponded(isAccept: true, guestUser: guest)),
            unanswered: .host(.onHostInvitationNoResponse(guestUser: guest, reason: .timeout)))
    }

    static func ofOwnCoHost(_ invitee: SeatUserInfo, _ context: FoldContext) -> RequestEnds {
        RequestEnds(
            accepted: .coHost(.onCoHostRequestAccepted(invitee: invitee)),
            unanswered: .coHost(
                .onCoHostRequestTimeout(inviter: context.host(of: context.liveID), invitee: invitee)))
    }

    static func ofOwnBattle(_ battleID: String, _ invitee: SeatUserInfo, _ context: FoldContext) -> RequestEnds {
        let inviter = context.host(of: context.liveID)
        return RequestEnds(
            accepted: .battle(.onBattleRequestAccept(battleID: battleID, inviter: inviter, invitee: invitee)),
            unanswered: .battle(.onBattleRequestTimeout(battleID: battleID, inviter: inviter, invitee: invitee)))
    }
}

extension RequestEnds {
    /// The ends of a request that this user has made; nil for requests of others.
    init?(of name: RequestName, _ context: FoldContext) {
        switch name {
        case .ownApplication: self = .ofOwnApplication(context)
        case .ownInvitation(let guest):
            let known = context.states.coGuest.invitees + context.states.audience.audienceList
            self = .ofOwnInvitation(known.first { $0.userID == guest } ?? LiveUserInfo(userID: guest))
        case .ownCoHost(let live):
            let invitee = context.states.coHost.invitees.first { $0.liveID == live }
            self = .ofOwnCoHost(invitee ?? SeatUserInfo(liveID: live), context)
        case .ownBattle(let battle, let live):
            self = .ofOwnBattle(battle, context.host(of: LiveID(live)), context)
        case .application, .invitation, .coHost, .battle: return nil
        }
    }

    /// The ends of another user's request that `event` announces; nil for an application, because hosts get no event of
    /// its timeout.
    init?(ofAnnounced event: StoreEvent, _ context: FoldContext) {
        switch event {
        case .guest(.onHostInvitationReceived(let host)):
            self.init(accepted: nil, unanswered: .guest(.onHostInvitationCancelled(hostUser: host)))
        case .coHost(.onCoHostRequestReceived(let inviter, _)):
            let invitee = context.host(of: context.liveID)
            self.init(
                accepted: nil, unanswered: .coHost(.onCoHostRequestTimeout(inviter: inviter, invitee: invitee)))
        case .battle(.onBattleRequestReceived(let battle, let inviter, let invitee)):
            self.init(
                accepted: nil,
                unanswered: .battle(.onBattleRequestTimeout(battleID: battle, inviter: inviter, invitee: invitee)))
        default: return nil
        }
    }
}

extension RequestName {
    /// Whether the live's stage shows that the request was accepted.
    func isAccepted(in context: FoldContext) -> Bool {
        let (selfID, liveID) = (context.selfID.text, context.liveID.text)
        return switch self {
        case .ownApplication, .invitation: Self.isSeated(selfID, context)
        case .application(let user), .ownInvitation(let user): Self.isSeated(user, context)
        case .coHost(let live), .ownCoHost(let live): Self.areConnected([live, liveID], context)
        case .battle(let battle): Self.isInBattle(liveID, battle, context)
        case .ownBattle(let battle, let live): Self.isInBattle(live, battle, context)
        }
    }

    private static func isSeated(_ user: String, _ context: FoldContext) -> Bool {
        context.states.stage.record?.seats.contains { $0.occupant?.user.userID.text == user } ?? false
    }

    private static func areConnected(_ lives: Set<String>, _ context: FoldContext) -> Bool {
        let connection = context.states.stage.record?.connection
        return lives.isSubset(of: (connection?.members ?? []).map(\.live.text))
    }

    private static func isInBattle(_ live: String, _ battle: String, _ context: FoldContext) -> Bool {
        guard let record = context.states.stage.record else { return false }
        let battles = ([record.battle].compactMap { $0 }) + (record.otherBattles ?? [])
        return battles.contains { $0.id.text == battle && $0.sides.contains { $0.live.text == live } }
    }
}
