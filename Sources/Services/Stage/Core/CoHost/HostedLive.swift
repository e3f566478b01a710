// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// A running live as the connection machine knows it.
package struct HostedLive: Equatable, Sendable, Codable {
    package var owner: UserInfo
    /// Whether the live is a voice live; otherwise it is a video live.
    package var isVoice: Bool
    package var admins: [UserID] = []
    /// The revision of the last report to the live's seat machine.
    package var revision: Int64
    /// The connection of lives in which this live is; nil when it is in none.
    package var connection: ConnectionID?
    /// The lives to which this live has open co-host requests, oldest first; at most `Limits.coHostTargets`.
    package var outgoing: [LiveID] = []
    /// The live that has sent this live an open co-host request; at most one.
    package var incoming: LiveID?
    /// The battle that the live shows: the running battle in which the live takes part, otherwise the latest battle of
    /// the live's connection.
    package var battle: BattleID?
    /// The battle request in which this live is the inviter or an invitee, until the battle starts or is cancelled.
    package var battleRequest: BattleID?
    /// The seats of this live as the other members of the connection see them.
    ///
    /// Nil from the time when the live joins a connection until the seat machine reports the seats.
    package var seats: [Seat]?
    /// Whether this is a voice live with more than `Limits.voiceCoHostSeats` occupied seats.
    package var isCrowded = false
    /// The members of the connection that this live has muted.
    package var muted: [LiveID] = []
    /// Whether the live has a revocation fence: the lowest tickets (proofs of a join) that kicked users may still use
    /// (I6, docs/RULES.md).
    ///
    /// If false, calls need not read the fence.
    package var hasRevocations = false
    /// Limits how often the live sends co-host requests.
    package var coHostRequestLimiter = RequestRateLimiter()
    /// Limits how often the live sends battle requests.
    package var battleRequestLimiter = RequestRateLimiter()

    /// Two names differ from their cases, because stored names never change.
    private enum CodingKeys: String, CodingKey {
        case owner, isVoice, admins, revision, connection, outgoing, incoming, battle, battleRequest, seats, isCrowded,
            muted, hasRevocations
        case coHostRequestLimiter = "coHostPace"
        case battleRequestLimiter = "battlePace"
    }

    init(owner: UserInfo, isVoice: Bool, revision: Int64) {
        self.owner = owner
        self.isVoice = isVoice
        self.revision = revision
    }

    /// Decodes a row; rows of older versions have no admins, seats, mutes and limiters.
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
        // Rows of older versions lack the field, even if the live has a fence. `true` makes calls read the fence.
        self.hasRevocations = try values.decodeIfPresent(Bool.self, forKey: .hasRevocations) ?? true
        self.coHostRequestLimiter =
            try values.decodeIfPresent(RequestRateLimiter.self, forKey: .coHostRequestLimiter) ?? RequestRateLimiter()
        self.battleRequestLimiter =
            try values.decodeIfPresent(RequestRateLimiter.self, forKey: .battleRequestLimiter) ?? RequestRateLimiter()
    }
}
