// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// The requests of other users to this user that the app already knows from an event.
///
/// Each request leads to only one event. Usually a notice announces the request. The server keeps a notice for only a
/// minute; if the client missed the notice, a later snapshot of the open requests announces the request.
struct AnnouncedRequests: Sendable {
    /// How long a request is remembered after its expiry.
    ///
    /// The time is longer than the server keeps notices, and longer than a read of a snapshot takes.
    private static let timeKeptAfterExpiry = Milliseconds.seconds(120)

    /// The expiry of each known request.
    private var expiries: [Request: Timestamp] = [:]

    /// A request, identified by its battle, or by its maker and its expiry.
    private enum Request: Hashable {
        /// An application for a seat, to a host.
        case application(guest: UserID, expiresAt: Timestamp)
        /// An invitation to a seat, to a viewer.
        case invitation(host: UserID, expiresAt: Timestamp)
        /// A request to connect, by the live that has made it.
        case coHost(inviter: LiveID, expiresAt: Timestamp)
        case battle(BattleID)
    }

    /// Adds an event to `context` for each request that the input contains and that was not announced before.
    mutating func reduce(_ input: FoldInput, _ context: inout FoldContext) {
        switch input {
        case .notice(let content, let at):
            self.forgetRequests(at: at)
            self.reduce(content, &context)
        case .snapshot(let snapshot):
            if let at = snapshot.at { self.forgetRequests(at: at) }
            self.reduce(snapshot, &context)
        case .item, .counts, .local: break
        }
    }

    /// Forgets the requests that had expired long before a time.
    private mutating func forgetRequests(at now: Timestamp) {
        self.expiries = self.expiries.filter { $0.value + Self.timeKeptAfterExpiry >= now }
    }

    private mutating func reduce(_ snapshot: Snapshot, _ context: inout FoldContext) {
        switch snapshot {
        case .battleRequests(_, let received, _):
            for request in received where !request.hasAccepted {
                self.announceBattle(
                    request.battle, inviter: request.inviter, invitee: SeatUserInfo(request.invitee),
                    expiresAt: request.expiresAt, &context)
            }
        case .seatRequests(let applications, let invitations, _):
            // A viewer's snapshot contains the viewer's own application.
            for application in applications where context.isHost {
                self.announceApplication(of: application.guest, expiresAt: application.expiresAt, &context)
            }
            // A host's snapshot also contains the invitations to others.
            for invitation in invitations where invitation.guest.userID == context.selfID {
                self.announceInvitation(of: invitation.host, expiresAt: invitation.expiresAt, &context)
            }
        case .coHostRequests(_, let received, _):
            for request in received {
                self.announceCoHostRequest(
                    of: request.inviter, expiresAt: request.expiresAt, extensionInfo: request.extensionInfo, &context)
            }
        default: break
        }
    }

    private mutating func reduce(_ content: NoticeContent, _ context: inout FoldContext) {
        switch content {
        case .battleRequestReceived(let id, let inviter, let expiresAt, _, _):
            self.announceBattle(
                id, inviter: inviter, invitee: context.host(of: context.liveID), expiresAt: expiresAt, &context)
        case .applicationReceived(let guest, _, let expiresAt, _):
            self.announceApplication(of: guest, expiresAt: expiresAt, &context)
        case .invitationReceived(let host, _, let expiresAt, _):
            self.announceInvitation(of: host, expiresAt: expiresAt, &context)
        case .coHostRequestReceived(let inviter, let expiresAt, let extensionInfo):
            self.announceCoHostRequest(of: inviter, expiresAt: expiresAt, extensionInfo: extensionInfo, &context)
        default: break
        }
    }

    /// Remembers a request.
    ///
    /// - Returns: whether the request is new; false if it was known before.
    private mutating func insert(_ request: Request, expiresAt: Timestamp) -> Bool {
        self.expiries.updateValue(expiresAt, forKey: request) == nil
    }

    private mutating func announceBattle(
        _ battle: BattleID, inviter: ConnectionMember, invitee: SeatUserInfo, expiresAt: Timestamp,
        _ context: inout FoldContext
    ) {
        guard self.insert(.battle(battle), expiresAt: expiresAt) else { return }
        context.events.append(
            .battle(
                .onBattleRequestReceived(battleID: battle.text, inviter: SeatUserInfo(inviter), invitee: invitee)))
    }

    private mutating func announceApplication(
        of guest: UserInfo, expiresAt: Timestamp, _ context: inout FoldContext
    ) {
        // An admin may apply for a seat, too; this user's own application is not announced.
        guard guest.userID != context.selfID,
            self.insert(.application(guest: guest.userID, expiresAt: expiresAt), expiresAt: expiresAt)
        else { return }
        context.events.append(.host(.onGuestApplicationReceived(guestUser: LiveUserInfo(guest))))
    }

    private mutating func announceInvitation(
        of host: UserInfo, expiresAt: Timestamp, _ context: inout FoldContext
    ) {
        guard self.insert(.invitation(host: host.userID, expiresAt: expiresAt), expiresAt: expiresAt) else { return }
        context.events.append(.guest(.onHostInvitationReceived(hostUser: LiveUserInfo(host))))
    }

    private mutating func announceCoHostRequest(
        of inviter: ConnectionMember, expiresAt: Timestamp, extensionInfo: String, _ context: inout FoldContext
    ) {
        guard self.insert(.coHost(inviter: inviter.live, expiresAt: expiresAt), expiresAt: expiresAt) else { return }
        context.events.append(
            .coHost(.onCoHostRequestReceived(inviter: SeatUserInfo(inviter), extensionInfo: extensionInfo)))
    }
}
