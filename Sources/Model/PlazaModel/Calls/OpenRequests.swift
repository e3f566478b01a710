// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// A pending application for a seat, in the list of open requests.
package struct OpenApplication: Hashable, Sendable, Codable {
    package var guest: UserInfo
    /// The requested seat; -1 means any free seat.
    package var seatIndex: Int
    package var expiresAt: Timestamp

    package init(guest: UserInfo, seatIndex: Int, expiresAt: Timestamp) {
        self.guest = guest
        self.seatIndex = seatIndex
        self.expiresAt = expiresAt
    }
}

/// A pending invitation to a seat, in the list of open requests.
package struct OpenInvitation: Hashable, Sendable, Codable {
    package var guest: UserInfo
    package var host: UserInfo
    /// The offered seat; -1 means any free seat.
    package var seatIndex: Int
    package var expiresAt: Timestamp

    package init(guest: UserInfo, host: UserInfo, seatIndex: Int, expiresAt: Timestamp) {
        self.guest = guest
        self.host = host
        self.seatIndex = seatIndex
        self.expiresAt = expiresAt
    }
}

/// An open request to connect two lives, in the list for their owners.
package struct OpenCoHostRequest: Hashable, Sendable, Codable {
    package var inviter: ConnectionMember
    package var invitee: ConnectionMember
    package var expiresAt: Timestamp
    /// Empty in requests that an earlier version opened.
    package var extensionInfo: String

    package init(
        inviter: ConnectionMember, invitee: ConnectionMember, expiresAt: Timestamp, extensionInfo: String
    ) {
        self.inviter = inviter
        self.invitee = invitee
        self.expiresAt = expiresAt
        self.extensionInfo = extensionInfo
    }
}

/// The invitation of one live to a battle that has not started, in the list for the owners of both lives.
package struct OpenBattleRequest: Hashable, Sendable, Codable {
    package var battle: BattleID
    package var inviter: ConnectionMember
    package var invitee: ConnectionMember
    /// Whether the invitee has accepted and waits for the other invitees.
    package var hasAccepted: Bool
    package var expiresAt: Timestamp
    package var durationSeconds: Int64
    package var extensionInfo: String

    package init(
        battle: BattleID, inviter: ConnectionMember, invitee: ConnectionMember, hasAccepted: Bool,
        expiresAt: Timestamp, durationSeconds: Int64, extensionInfo: String
    ) {
        self.battle = battle
        self.inviter = inviter
        self.invitee = invitee
        self.hasAccepted = hasAccepted
        self.expiresAt = expiresAt
        self.durationSeconds = durationSeconds
        self.extensionInfo = extensionInfo
    }
}
