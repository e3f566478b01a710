// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// A JSON text frame from a gateway to a client: `{"<kind>": {…}}` (PROTOCOL.md, section 2).
package enum ServerFrame: Hashable, Sendable {
    /// The answer to the call `id`.
    case reply(id: Int64, Outcome)
    /// Items of a live's feed, in order, without gaps; a resume with `token` continues after the last item.
    case feed(live: LiveID, epoch: Int64, items: [FeedEntry], token: String)
    /// Earlier messages for a new viewer, in order but with gaps; `token` is the current position of the feed.
    case history(live: LiveID, epoch: Int64, items: [FeedEntry], token: String)
    /// A live's audience count; not part of the feed.
    case counts(LiveCount)
    /// A message to this user alone; a login that names `id` gets only later notices.
    case notice(id: String, Notice)
    /// The gateway is stopping: the client reconnects after a random delay of at most `reconnectWithin` milliseconds.
    case drain(reconnectWithin: Int64)
}

/// One item of a feed in a client's frame: `{"n":12,"at":1700000000000,"content":{"text":{…}}}`.
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

/// A client's last position in a live, sent when it logs in again.
package struct ResumePoint: Hashable, Sendable, Codable {
    package var live: LiveID
    package var ticket: Ticket
    /// The last feed position that the client has.
    package var position: FeedPosition
    /// The token of the frame with this position, by which a gateway finds items in Kafka that it no longer caches.
    package var token: String?

    package init(live: LiveID, ticket: Ticket, position: FeedPosition, token: String? = nil) {
        self.live = live
        self.ticket = ticket
        self.position = position
        self.token = token
    }
}
