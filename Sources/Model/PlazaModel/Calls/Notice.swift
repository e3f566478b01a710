// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// Why a user was kicked out of a live (R3.32, R3.33).
package enum KickReason: String, Hashable, Sendable, Codable {
    case byAdmin
    case byServer
    /// The user joined with another device, in an app that allows one.
    case byLoggedOnOtherDevice
}

/// Why an application or invitation got no answer (R6.18, R6.19).
package enum NoResponseReason: String, Hashable, Sendable, Codable {
    case timeout
    case alreadySeated
}

/// How a host opens the microphone or camera of another user (R7.9).
package enum RemoteOpenPolicy: String, Hashable, Sendable, Codable {
    /// The host only unlocks the device; the user must open it.
    case unlockOnly
}

/// The content of a notice.
package enum NoticeContent: Hashable, Sendable, Codable {
    // Presence.
    case kickedOut(reason: KickReason, by: UserID)
    /// Between gateways only, about no live: a user signed in to `session` on `connection`.
    ///
    /// The sign-in ends the session's older connections. If `isOnly`, the app allows one device, and the sign-in also
    /// ends the user's other sessions. `attempt` counts how often the notice was written.
    case signedInElsewhere(session: SessionID, connection: String, attempt: Int, isOnly: Bool)
    // Seats, to hosts (R6.9, R6.12, R6.17, R6.18).
    case applicationReceived(guest: UserInfo, seatIndex: Int, expiresAt: Timestamp, extraInfo: String)
    case applicationCancelled(guest: UserInfo)
    case applicationProcessed(guest: UserInfo, by: UserInfo, accepted: Bool)
    case applicationTimedOut(guest: UserInfo)
    case invitationAnswered(guest: UserInfo, accepted: Bool)
    case invitationNoResponse(guest: UserInfo, reason: NoResponseReason)
    // Seats, to guests (R6.13, R6.17, R6.12, R6.19, R6.22).
    case invitationReceived(host: UserInfo, seatIndex: Int, expiresAt: Timestamp, extraInfo: String)
    case invitationCancelled(host: UserInfo)
    case invitationTimedOut(host: UserInfo)
    case applicationAnswered(host: UserInfo, accepted: Bool)
    case applicationNoResponse(reason: NoResponseReason)
    case kickedOffSeat(seatIndex: Int, by: UserInfo)
    // Devices, to the occupant of the seat (R7.9, R7.11).
    case deviceClosedByAdmin(device: Device, by: UserInfo)
    case deviceOpenedByAdmin(device: Device, policy: RemoteOpenPolicy, by: UserInfo)
    // Co-hosting, to owners (R8.6, R8.7, R8.8).
    case coHostRequestReceived(inviter: ConnectionMember, expiresAt: Timestamp, extensionInfo: String)
    // Notices of earlier versions have no `inviterMember` and `inviteeMember` (R8.24).
    indirect case coHostRequestCancelled(
        inviter: ConnectionMember, invitee: LiveID, inviteeMember: ConnectionMember? = nil)
    case coHostRequestAccepted(invitee: ConnectionMember)
    case coHostRequestRejected(invitee: ConnectionMember)
    indirect case coHostRequestTimedOut(
        inviter: LiveID, invitee: LiveID, inviterMember: ConnectionMember? = nil,
        inviteeMember: ConnectionMember? = nil)
    // Battles, to owners (R10.2, R10.3, R10.6).
    case battleRequestReceived(
        battle: BattleID, inviter: ConnectionMember, expiresAt: Timestamp, durationSeconds: Int64, extensionInfo: String
    )
    indirect case battleRequestCancelled(
        battle: BattleID, inviter: LiveID, invitee: LiveID, inviterMember: ConnectionMember? = nil,
        inviteeMember: ConnectionMember? = nil)
    case battleRequestAccepted(battle: BattleID, invitee: ConnectionMember)
    case battleRequestRejected(battle: BattleID, invitee: ConnectionMember)
    indirect case battleRequestTimedOut(
        battle: BattleID, inviter: LiveID, invitee: LiveID, inviterMember: ConnectionMember? = nil,
        inviteeMember: ConnectionMember? = nil)
    /// Nobody accepted; the battle never started.
    case battleNotStarted(battle: BattleID)

    /// Whether clients receive the notice; false for notices between gateways.
    package var isForClients: Bool {
        if case .signedInElsewhere = self { return false }
        return true
    }

    /// Whether the notice is stored for clients that reconnect later; false for a sign-in that ends connections but no
    /// session.
    package var isStored: Bool {
        if case .signedInElsewhere(_, _, _, isOnly: false) = self { return false }
        return true
    }
}

/// A message to one user, separate from the feed.
package struct Notice: Hashable, Sendable, Codable {
    /// The version of the record's format.
    package var v = 1
    package var to: UserKey
    /// The live that the notice is about; empty for a notice between gateways.
    package var live: LiveID
    package var at: Timestamp
    /// For `kickedOut`: the user's revocation floor, the lowest ticket that is still valid.
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
