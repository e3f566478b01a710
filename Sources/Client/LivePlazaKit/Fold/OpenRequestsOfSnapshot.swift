// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The open requests that a snapshot contains, by their names.
struct OpenRequestsOfSnapshot {
    /// All open requests by this user and to this user.
    private(set) var open: Set<RequestName> = []
    /// The open requests by this user, with the events of their possible ends.
    private(set) var own: [(name: RequestName, ends: RequestEnds)] = []
    /// The requests that were accepted and stay in the snapshot until their battle begins.
    private(set) var accepted: Set<RequestName> = []
    /// Whether the user is a host; only a host's snapshot contains the invitations that the user has made.
    private let isHost: Bool

    init(_ snapshot: Snapshot, _ context: FoldContext) {
        self.isHost = context.isHost
        switch snapshot {
        case .seatRequests(let applications, let invitations, _):
            if applications.contains(where: { $0.guest.userID == context.selfID }) {
                self.addOwn(.ownApplication, .ofOwnApplication(context))
            }
            for invitation in invitations {
                let (guest, host) = (invitation.guest, invitation.host)
                if host.userID == context.selfID {
                    self.addOwn(.ownInvitation(guest.userID.text), .ofOwnInvitation(LiveUserInfo(guest)))
                }
                if guest.userID == context.selfID { self.open.insert(.invitation(host.userID.text)) }
            }
        case .coHostRequests(let sent, let received, _):
            for request in sent {
                self.addOwn(
                    .ownCoHost(request.invitee.live.text), .ofOwnCoHost(SeatUserInfo(request.invitee), context))
            }
            self.open.formUnion(received.map { .coHost($0.inviter.live.text) })
        case .battleRequests(let sent, let received, _):
            for request in sent { self.addOwnBattle(request, context) }
            self.open.formUnion(received.map { .battle($0.battle.text) })
        default: break
        }
    }

    /// Whether the snapshot would contain the request while the request is open.
    func wouldContain(_ name: RequestName) -> Bool {
        if case .ownInvitation = name { self.isHost } else { true }
    }

    private mutating func addOwn(_ name: RequestName, _ ends: RequestEnds) {
        self.open.insert(name)
        self.own.append((name, ends))
    }

    private mutating func addOwnBattle(_ request: OpenBattleRequest, _ context: FoldContext) {
        let name = RequestName.ownBattle(request.battle.text, invitee: request.invitee.live.text)
        if request.hasAccepted {
            self.accepted.insert(name)
        } else {
            self.addOwn(name, .ofOwnBattle(request.battle.text, SeatUserInfo(request.invitee), context))
        }
    }
}
