// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// A running live as the connection machine knows it.
package struct HostedLive: Equatable, Sendable, Codable {
    package var owner: UserInfo
    package var isVoice: Bool
    package var admins: [UserID] = []
    /// The revision of the last word to the live's seat machine.
    package var revision: Int64
    package var connection: ConnectionID?
    /// The lives that this one asks to connect, in the order of asking; at most `Limits.coHostTargets`.
    package var outgoing: [LiveID] = []
    /// The live that asks this one; one at a time.
    package var incoming: LiveID?
    /// The battle that the live shows: the one it fights in, else the one of its connection that began last, over or not.
    package var battle: BattleID?
    /// The battle that is being agreed on with this live.
    package var battleRequest: BattleID?
    /// What the other members see of this live's seats; nil until its seat machine has told, once it is connected.
    package var seats: [Seat]?
    /// A voice live with more than `Limits.voiceCoHostSeats` occupied seats.
    package var isCrowded = false
    /// The members whose sound this live's mix leaves out.
    package var muted: [LiveID] = []
    /// Some user of the live has a floor (I6); others' calls need no look at the floors.
    package var hasFloors = false
    /// How often it asked to connect.
    package var coHostPace = Pace()
    /// How often it asked to battle.
    package var battlePace = Pace()

    init(owner: UserInfo, isVoice: Bool, revision: Int64) {
        self.owner = owner
        self.isVoice = isVoice
        self.revision = revision
    }

    /// Rows that were written before admins, seats, mutes and paces were known have none.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.owner = try values.decode(UserInfo.self, forKey: .owner)
        self.isVoice = try values.decode(Bool.self, forKey: .isVoice)
        self.admins = try values.decodeIfPresent([UserID].self, forKey: .admins) ?? []
        self.revision = try values.decode(Int64.self, forKey: .revision)
        self.connection = try values.decodeIfPresent(ConnectionID.self, forKey: .connection)
        self.outgoing = try values.decode([LiveID].self, forKey: .outgoing)
        self.incoming = try values.decodeIfPresent(LiveID.self, forKey: .incoming)
        self.battle = try values.decodeIfPresent(BattleID.self, forKey: .battle)
        self.battleRequest = try values.decodeIfPresent(BattleID.self, forKey: .battleRequest)
        self.seats = try values.decodeIfPresent([Seat].self, forKey: .seats)
        self.isCrowded = try values.decodeIfPresent(Bool.self, forKey: .isCrowded) ?? false
        self.muted = try values.decodeIfPresent([LiveID].self, forKey: .muted) ?? []
        self.hasFloors = try values.decodeIfPresent(Bool.self, forKey: .hasFloors) ?? true
        self.coHostPace = try values.decodeIfPresent(Pace.self, forKey: .coHostPace) ?? Pace()
        self.battlePace = try values.decodeIfPresent(Pace.self, forKey: .battlePace) ?? Pace()
    }
}

/// An open request of one live's host to another's; ends exactly once (I13).
package struct CoHostRequest: Equatable, Sendable, Codable {
    package var inviter: LiveID
    package var invitee: LiveID
    /// The template of the connection that an acceptance begins.
    package var templateID: Int
    package var expiresAt: Timestamp
}
