// SPDX-License-Identifier: Apache-2.0
package import CoreKit

/// Why a user lost a room (reference 3.3).
package enum KickReason: String, Hashable, Sendable, Codable {
    case byAdmin
    case byServer
    /// The user joined with another device, in an app that allows one.
    case byLoggedOnOtherDevice
}

/// Why a request found no answer (reference 6).
package enum NoResponseReason: String, Hashable, Sendable, Codable {
    case timeout
    case alreadySeated
}

/// How a host's opening of another's device is meant (reference 7): the user itself must open it.
package enum RemoteOpenPolicy: String, Hashable, Sendable, Codable {
    case unlockOnly
}

/// What a notice tells its one user.
package enum NoticeContent: Hashable, Sendable, Codable {
    // Presence.
    case kickedOut(reason: KickReason, by: UserID)
    /// Among gateways alone: the user signed in with this session on a connection, which ends its older ones; `isOnly`: and
    /// all other sessions of the user, for the app allows one device. `attempt` counts how often it was written. It names
    /// no live, and no client gets it.
    case signedInElsewhere(session: SessionID, connection: String, attempt: Int, isOnly: Bool)
    // Seats, to hosts (reference 6, HostEvent).
    case applicationReceived(guest: UserInfo, seatIndex: Int, expiresAt: Timestamp, extraInfo: String)
    case applicationCancelled(guest: UserInfo)
    case applicationProcessed(guest: UserInfo, by: UserInfo, accepted: Bool)
    case applicationTimedOut(guest: UserInfo)
    case invitationAnswered(guest: UserInfo, accepted: Bool)
    case invitationNoResponse(guest: UserInfo, reason: NoResponseReason)
    // Seats, to guests (reference 6, GuestEvent).
    case invitationReceived(host: UserInfo, seatIndex: Int, expiresAt: Timestamp, extraInfo: String)
    case invitationCancelled(host: UserInfo)
    case invitationTimedOut(host: UserInfo)
    case applicationAnswered(host: UserInfo, accepted: Bool)
    case applicationNoResponse(reason: NoResponseReason)
    case kickedOffSeat(seatIndex: Int, by: UserInfo)
    // Devices, to whoever sits on the seat (reference 7).
    case deviceClosedByAdmin(device: Device, by: UserInfo)
    case deviceOpenedByAdmin(device: Device, policy: RemoteOpenPolicy, by: UserInfo)
    // Co-host, to owners (reference 8).
    case coHostRequestReceived(inviter: ConnectionMember, expiresAt: Timestamp, extensionInfo: String)
    case coHostRequestCancelled(inviter: ConnectionMember, invitee: LiveID)
    case coHostRequestAccepted(invitee: ConnectionMember)
    case coHostRequestRejected(invitee: ConnectionMember)
    case coHostRequestTimedOut(inviter: LiveID, invitee: LiveID)
    // Battles, to owners (reference 10).
    case battleRequestReceived(
        battle: BattleID, inviter: ConnectionMember, expiresAt: Timestamp, durationSeconds: Int64, extensionInfo: String
    )
    case battleRequestCancelled(battle: BattleID, inviter: LiveID, invitee: LiveID)
    case battleRequestAccepted(battle: BattleID, invitee: ConnectionMember)
    case battleRequestRejected(battle: BattleID, invitee: ConnectionMember)
    case battleRequestTimedOut(battle: BattleID, inviter: LiveID, invitee: LiveID)
    /// Nobody accepted; the battle never started.
    case battleNotStarted(battle: BattleID)

    /// Whether clients get it; what is not is among gateways.
    package var isForClients: Bool {
        if case .signedInElsewhere = self { return false }
        return true
    }

    /// Whether those who come back later must know of it: all but sign-ins that end nothing but connections.
    package var isKept: Bool {
        if case .signedInElsewhere(_, _, _, isOnly: false) = self { return false }
        return true
    }
}

/// A message for one user, about one live.
package struct Notice: Hashable, Sendable, Codable {
    package var v = 1
    package var to: UserKey
    package var live: LiveID
    package var at: Timestamp
    /// For `kickedOut`: tickets below it are void from now on.
    package var floor: Ticket?
    package var content: NoticeContent

    package init(to: UserKey, live: LiveID, at: Timestamp, floor: Ticket? = nil, content: NoticeContent) {
        self.to = to
        self.live = live
        self.at = at
        self.floor = floor
        self.content = content
    }
}
