// SPDX-License-Identifier: Apache-2.0
package import CoreKit

/// What a successful call gives.
///
/// What is large lies apart, so that the frequent small results are quick to pass on.
package enum CallResult: Hashable, Sendable, Codable {
    case done
    /// The live as it is after a create or an update.
    indirect case live(info: LiveInfo, epoch: Int64)
    /// A join: the ticket, and the feed's epoch. `confirmed` is false while Redis is away.
    case joined(ticket: Ticket, epoch: Int64, confirmed: Bool)
    indirect case audience(page: AudiencePage)
    /// The message's place in the feed.
    case sent(position: FeedPosition)
    /// A live's figures, so far or at its end.
    indirect case statistics(statistics: LiveStatistics)
    /// A page of a live's bans or mutes.
    case sanctions(page: SanctionPage)
    /// A code for each live that was asked (reference 8, TUIConnectionCode; reference 10, TUIBattleCode).
    case coHost(codes: [LiveCode])
    indirect case battle(battle: BattleID, startTime: Timestamp?, endTime: Timestamp?, codes: [LiveCode])
    /// The seat that was taken, or none when the application waits for an answer.
    case seat(index: Int?)
    /// The open applications and invitations of a live, in the order in which they were made.
    case seatRequests(applications: [OpenApplication], invitations: [OpenInvitation])
    /// A code for each live's score update.
    case scores(codes: [LiveCode])
    indirect case battleInfo(details: BattleDetails)
    // From a gateway's memory.
    indirect case loggedIn(session: SessionID, user: UserInfo, gateway: GatewayID, notices: String)
    /// A resumed room: from here on the feed goes on; `replayed` is false when the client must take the snapshot.
    case resumed(ticket: Ticket, position: FeedPosition, replayed: Bool)
    case lives(items: [LiveListEntry], cursor: String)
    indirect case room(details: LiveDetails)
    indirect case count(count: LiveCount)
    indirect case stage(record: StageRecord?)
    case metadata(values: [String: String])
    /// An app's settings, for its server.
    case app(settings: AppSettings, revision: Int64)
    case gifts(categories: [GiftCategory])
}

/// A live as lists show it.
package struct LiveListEntry: Hashable, Sendable, Codable {
    package var info: LiveInfo
    /// Users in the live now.
    package var audienceCount: Int
    /// All entries so far; lists are ordered by it, most first.
    package var totalViewerCount: Int

    package init(info: LiveInfo, audienceCount: Int, totalViewerCount: Int) {
        self.info = info
        self.audienceCount = audienceCount
        self.totalViewerCount = totalViewerCount
    }
}

/// All that a gateway knows of a live: what a newcomer, or a client that cannot resume, begins from.
package struct LiveDetails: Hashable, Sendable, Codable {
    package var info: LiveInfo
    package var epoch: Int64
    package var audience: LiveCount
    package var stage: StageRecord?

    package init(info: LiveInfo, epoch: Int64, audience: LiveCount, stage: StageRecord?) {
        self.info = info
        self.epoch = epoch
        self.audience = audience
        self.stage = stage
    }
}

/// A live's count with its freshness.
package struct LiveCount: Hashable, Sendable, Codable {
    package var live: LiveID
    package var count: Int
    package var totalViewers: Int
    /// Presence cannot vouch for the count just now.
    package var stale: Bool
    /// The broker's time of the count.
    package var at: Timestamp

    package init(live: LiveID, count: Int, totalViewers: Int, stale: Bool, at: Timestamp) {
        self.live = live
        self.count = count
        self.totalViewers = totalViewers
        self.stale = stale
        self.at = at
    }

    /// The part of a record that clients get.
    package init(_ record: CountRecord) {
        self.init(
            live: record.live, count: record.count, totalViewers: record.totalViewers, stale: record.stale,
            at: record.at)
    }
}

/// An application that waits for an answer, as hosts see it.
package struct OpenApplication: Hashable, Sendable, Codable {
    package var guest: UserInfo
    /// The seat that it asks for; -1: any.
    package var seatIndex: Int
    package var expiresAt: Timestamp

    package init(guest: UserInfo, seatIndex: Int, expiresAt: Timestamp) {
        self.guest = guest
        self.seatIndex = seatIndex
        self.expiresAt = expiresAt
    }
}

/// An invitation that waits for an answer, as hosts see it.
package struct OpenInvitation: Hashable, Sendable, Codable {
    package var guest: UserInfo
    package var host: UserInfo
    /// The seat that it offers; -1: any.
    package var seatIndex: Int
    package var expiresAt: Timestamp

    package init(guest: UserInfo, host: UserInfo, seatIndex: Int, expiresAt: Timestamp) {
        self.guest = guest
        self.host = host
        self.seatIndex = seatIndex
        self.expiresAt = expiresAt
    }
}

/// A result for one of several lives of a call.
package struct LiveCode: Hashable, Sendable, Codable {
    package var live: LiveID
    package var code: Int
    /// The code of section 16 that stands behind a co-host or battle code other than 0.
    package var reason: ReplyCode?

    package init(live: LiveID, code: Int, reason: ReplyCode? = nil) {
        self.live = live
        self.code = code
        self.reason = reason
    }
}

/// Part of a live's audience list, in the order of joining.
package struct AudiencePage: Hashable, Sendable, Codable {
    package var members: [AudienceMember]
    /// Where the next page begins; empty: there is none.
    package var cursor: String
    /// Users in the live.
    package var count: Int

    package init(members: [AudienceMember], cursor: String, count: Int) {
        self.members = members
        self.cursor = cursor
        self.count = count
    }
}

/// A viewer as the audience list shows it.
package struct AudienceMember: Hashable, Sendable, Codable {
    package var user: UserInfo
    /// Admin, or general user: the owner is in no list.
    package var role: LiveRole
    package var joinedAt: Timestamp

    package init(user: UserInfo, role: LiveRole = .generalUser, joinedAt: Timestamp) {
        self.user = user
        self.role = role
        self.joinedAt = joinedAt
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.user = try values.decode(UserInfo.self, forKey: .user)
        self.role = try values.decodeIfPresent(LiveRole.self, forKey: .role) ?? .generalUser
        self.joinedAt = try values.decode(Timestamp.self, forKey: .joinedAt)
    }
}

/// How a call came out.
package enum Outcome: Hashable, Sendable, Codable {
    case success(result: CallResult)
    case failure(error: ReplyError)
}

/// What a reader must have seen before the reply is shown, so that a client reads what it wrote.
package struct Seen: Hashable, Sendable, Codable {
    /// Which topic's record of the live.
    package enum Table: String, Hashable, Sendable, Codable {
        case rooms
        case stages
        /// An app's settings; `live` is empty.
        case apps
    }
    package var table: Table
    package var live: LiveID
    package var revision: Int64

    package init(_ table: Table, _ live: LiveID, revision: Int64) {
        self.table = table
        self.live = live
        self.revision = revision
    }
}

/// The answer to a call, addressed to the gateway that asked.
package struct Reply: Hashable, Sendable, Codable {
    package var v = 1
    package var to: GatewayID
    package var app: AppID
    package var request: RequestID
    package var outcome: Outcome
    package var seen: Seen?
}

extension Reply {
    package init(to caller: Caller, app: AppID, _ outcome: Outcome, seen: Seen? = nil) {
        // In one step: filled field by field, it would be copied once it is whole.
        self.init(to: caller.replyTo, app: app, request: caller.request, outcome: outcome, seen: seen)
    }
}
