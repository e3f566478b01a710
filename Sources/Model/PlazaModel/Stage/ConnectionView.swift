// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// One live of a co-host connection.
package struct ConnectionMember: Hashable, Sendable, Codable {
    package var live: LiveID
    package var host: UserInfo
    package var joinedAt: Timestamp
    /// The live's seats as the other members see them.
    ///
    /// For a video live these are the occupied seats, at most `Limits.seatCount`. For a voice live these are the first
    /// six (`Limits.voiceCoHostSeats`). Nil in the live's own view, and until the seat machine has reported the seats.
    package var seats: [Seat]?

    package init(live: LiveID, host: UserInfo, joinedAt: Timestamp, seats: [Seat]? = nil) {
        self.live = live
        self.host = host
        self.joinedAt = joinedAt
        self.seats = seats
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.live = try values.decode(LiveID.self, forKey: .live)
        self.host = try values.decode(UserInfo.self, forKey: .host)
        self.joinedAt = try values.decode(Timestamp.self, forKey: .joinedAt)
        self.seats = try values.decodeIfPresent([Seat].self, forKey: .seats)
    }
}

/// A co-host connection, as each of its lives displays it.
package struct ConnectionView: Hashable, Sendable, Codable {
    package var id: ConnectionID
    /// The connected lives in the order in which they joined (I12).
    package var members: [ConnectionMember]
    /// The layout template of all connected lives, in place of their own (R9.11); by default 600, the dynamic grid.
    package var templateID: Int
    /// The lives whose hosts are muted for the viewers of this live; each live has its own list.
    package var mutedLives: [LiveID]

    package init(id: ConnectionID, members: [ConnectionMember], templateID: Int = 600, mutedLives: [LiveID] = []) {
        self.id = id
        self.members = members
        self.templateID = templateID
        self.mutedLives = mutedLives
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.id = try values.decode(ConnectionID.self, forKey: .id)
        self.members = try values.decode([ConnectionMember].self, forKey: .members)
        self.templateID = try values.decodeIfPresent(Int.self, forKey: .templateID) ?? 600
        self.mutedLives = try values.decodeIfPresent([LiveID].self, forKey: .mutedLives) ?? []
    }
}
