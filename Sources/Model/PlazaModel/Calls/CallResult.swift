// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// The result of a successful call.
///
/// Large payloads are indirect, so that the frequent small results are cheap to copy.
package enum CallResult: Hashable, Sendable, Codable {
    /// The call has succeeded and has no other result.
    case done
    /// The live as it is after a create or an update; `revision` is nil in results of earlier versions (R3.65).
    ///
    /// The gateway sets `joined` if the create also joins the live (R3.66). Machines leave `joined` nil.
    indirect case live(info: LiveInfo, epoch: Int64, revision: Int64? = nil, joined: JoinedLive? = nil)
    /// A join: the ticket, which proves the join, and the feed's epoch, which distinguishes lives with the same id.
    ///
    /// `confirmed` is false while Redis, which stores who is present, is unavailable.
    ///
    /// The gateway sets `token`, so that a client can resume before it has received a feed frame (R15.14).
    /// Machines leave `token` nil.
    case joined(ticket: Ticket, epoch: Int64, confirmed: Bool, token: String? = nil)
    /// A page of a live's audience list.
    indirect case audience(page: AudiencePage)
    /// A message or gift was sent; `position` is its position in the feed.
    case sent(position: FeedPosition)
    /// A live's statistics: the final ones, or those at the time `at` while the live is running (R1.19).
    indirect case statistics(statistics: LiveStatistics, at: Timestamp? = nil)
    /// A page of a live's bans or mutes.
    case sanctions(page: SanctionPage)
    /// A result code for each requested live (R8.1, R10.1).
    case coHost(codes: [LiveCode])
    /// A requested battle, with a result code for each invited live. The times are nil until the battle starts.
    indirect case battle(battle: BattleID, startTime: Timestamp?, endTime: Timestamp?, codes: [LiveCode])
    /// The seat that the user took; nil when the call has become an application, which is pending.
    case seat(index: Int?)
    /// The applications and invitations of a live that were open at the time `at`, oldest first (R1.19).
    case seatRequests(applications: [OpenApplication], invitations: [OpenInvitation], at: Timestamp? = nil)
    /// The co-host requests that the live has sent and received and that were open at the time `at` (R8.25).
    indirect case coHostRequests(sent: [OpenCoHostRequest], received: [OpenCoHostRequest], at: Timestamp)
    /// The open requests of the battle that the live has requested or is invited to, at the time `at` (R10.21).
    indirect case battleRequests(sent: [OpenBattleRequest], received: [OpenBattleRequest], at: Timestamp)
    /// A result code for each live's score update.
    case scores(codes: [LiveCode])
    indirect case battleInfo(details: BattleDetails)
    // The results from here on are made by a gateway, most of them from its read model.
    /// A login without a resume. `notices` is the id of the user's last notice. `at` is the gateway's time, and nil in
    /// results of earlier versions (R2.27).
    indirect case loggedIn(
        session: SessionID, user: UserInfo, gateway: GatewayID, notices: String, at: Timestamp? = nil)
    /// The answer to a ping: the gateway's time (R2.27). Clients receive this result as `done` with `at`.
    case pong(at: Timestamp)
    /// A resumed live: the feed continues from `position`.
    ///
    /// If `replayed` is false, the missed items cannot be replayed, and the client must load the live's snapshot
    /// (`LiveDetails`).
    case resumed(ticket: Ticket, position: FeedPosition, replayed: Bool)
    /// A page of an app's lives; `cursor` leads to the next page, and is empty on the last page.
    case lives(items: [LiveListEntry], cursor: String)
    /// The snapshot of a live.
    indirect case room(details: LiveDetails)
    indirect case count(count: LiveCount)
    indirect case stage(record: StageRecord?)
    case metadata(values: [String: String])
    /// An app's settings, for its server.
    case app(settings: AppSettings, revision: Int64)
    case gifts(categories: [GiftCategory])
}

/// The join of a call that creates a live and joins it; the fields mean the same as in the result `joined`.
package struct JoinedLive: Hashable, Sendable, Codable {
    package var ticket: Ticket
    package var epoch: Int64
    package var confirmed: Bool
    package var token: String?

    package init(ticket: Ticket, epoch: Int64, confirmed: Bool, token: String? = nil) {
        self.ticket = ticket
        self.epoch = epoch
        self.confirmed = confirmed
        self.token = token
    }
}

/// A live in a list of lives.
package struct LiveListEntry: Hashable, Sendable, Codable {
    package var info: LiveInfo
    /// Users in the live now.
    package var audienceCount: Int
    /// All visits so far (R3.31); lists of lives are ordered by this number, highest first.
    package var totalViewerCount: Int

    package init(info: LiveInfo, audienceCount: Int, totalViewerCount: Int) {
        self.info = info
        self.audienceCount = audienceCount
        self.totalViewerCount = totalViewerCount
    }
}

/// The snapshot of a live, for a new viewer or for a client that cannot resume.
package struct LiveDetails: Hashable, Sendable, Codable {
    package var info: LiveInfo
    package var epoch: Int64
    /// The revision of `info`; nil from earlier versions.
    ///
    /// A client ignores changes in feed items up to this revision, because `info` contains them.
    package var revision: Int64?
    package var audience: LiveCount
    package var stage: StageRecord?

    package init(
        info: LiveInfo, epoch: Int64, revision: Int64? = nil, audience: LiveCount, stage: StageRecord?
    ) {
        self.info = info
        self.epoch = epoch
        self.revision = revision
        self.audience = audience
        self.stage = stage
    }
}

/// A live's audience count, and whether it is up to date.
package struct LiveCount: Hashable, Sendable, Codable {
    package var live: LiveID
    /// Users in the live, without the owner.
    package var count: Int
    /// All visits so far (R3.31).
    package var totalViewers: Int
    /// Whether the count may be out of date because presence cannot reach Redis.
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

    /// The fields of a count record that clients receive.
    package init(_ record: CountRecord) {
        self.init(
            live: record.live, count: record.count, totalViewers: record.totalViewers, stale: record.stale,
            at: record.at)
    }
}

/// The result of a call for one of the lives that the call names.
package struct LiveCode: Hashable, Sendable, Codable {
    package var live: LiveID
    /// 0 for success; what other numbers mean depends on the call's method.
    package var code: Int
    /// The reply code (PROTOCOL.md, section 13) behind a co-host or battle code other than 0.
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
    /// The cursor of the next page; empty on the last page.
    package var cursor: String
    /// Users in the live.
    package var count: Int
    /// The broker's time of the page (R1.19); nil from earlier versions.
    package var at: Timestamp?

    package init(members: [AudienceMember], cursor: String, count: Int, at: Timestamp? = nil) {
        self.members = members
        self.cursor = cursor
        self.count = count
        self.at = at
    }
}

/// A viewer in the audience list.
package struct AudienceMember: Hashable, Sendable, Codable {
    package var user: UserInfo
    /// Admin or general user; the list does not contain the owner.
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
