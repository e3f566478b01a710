// SPDX-License-Identifier: Apache-2.0
package import CoreKit

/// What a server sends to a client, each as one JSON text frame `{"<kind>": {…}}` (PROTOCOL.md).
package enum ServerFrame: Hashable, Sendable {
    /// The answer to the call `id`.
    case reply(id: Int64, Outcome)
    /// Items of a live's feed, in order, without holes; `token` resumes after the last of them.
    case feed(live: LiveID, epoch: Int64, items: [FeedEntry], token: String)
    /// Messages of before for a newcomer, in order, not without holes; `token` says where the feed stands.
    case history(live: LiveID, epoch: Int64, items: [FeedEntry], token: String)
    /// A live's count, beside the feed.
    case counts(LiveCount)
    /// A message for this user alone; `id` resumes after it.
    case notice(id: String, Notice)
    /// The gateway stops: reconnect within so many milliseconds, at a moment of the client's choice.
    case drain(reconnectWithin: Int64)
}

/// One item of a feed as clients get it: `{"n":12,"at":1700000000000,"content":{"text":{…}}}`.
package struct FeedEntry: Hashable, Sendable, Codable {
    /// The item's number in its live and epoch.
    package var n: Int64
    package var at: Timestamp
    package var content: FeedContent

    package init(n: Int64, at: Timestamp, content: FeedContent) {
        self.n = n
        self.at = at
        self.content = content
    }
}

/// Where a client left a live, named when it logs in again.
package struct ResumePoint: Hashable, Sendable, Codable {
    package var live: LiveID
    package var ticket: Ticket
    /// The last feed position that the client has.
    package var position: FeedPosition
    /// The token of the frame that it is from, by which what the gateway does not keep any more can be found.
    package var token: String?

    package init(live: LiveID, ticket: Ticket, position: FeedPosition, token: String? = nil) {
        self.live = live
        self.ticket = ticket
        self.position = position
        self.token = token
    }
}
