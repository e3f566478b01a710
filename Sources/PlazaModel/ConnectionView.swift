// SPDX-License-Identifier: Apache-2.0
package import CoreKit

/// One live of a co-host connection.
package struct ConnectionMember: Hashable, Sendable, Codable {
    package var live: LiveID
    package var host: UserInfo
    package var joinedAt: Timestamp
    /// Who sits in the live, told to the other members: its occupied seats, of a voice live all of its first six.
    ///
    /// Nil in what a live is told about itself, and until the live's seats have told; at most `Limits.seatCount`.
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

/// A co-host connection as each of its lives shows it; members in the order in which they joined (I12).
package struct ConnectionView: Hashable, Sendable, Codable {
    package var id: ConnectionID
    package var members: [ConnectionMember]
    /// The layout template that takes the place of each live's own while it is connected (reference 9).
    package var templateID: Int
    /// The members whose sound this live's mix leaves out; each live has its own.
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
