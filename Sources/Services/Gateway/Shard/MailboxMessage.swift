// SPDX-License-Identifier: Apache-2.0
internal import EventLoop
internal import GatewayCore
internal import PlazaModel
internal import PlazaWire
internal import Webhooks

/// A message that another thread posts to a shard.
enum MailboxMessage: Sendable {
    /// New items of a live's feed.
    case feed(LiveKey, epoch: Int64, [EncodedFeedItem])
    /// A feed partition was read up to its end; new items of its lives are posted from now on.
    case partitionLoaded(Int)
    /// The outcome of a replay request, and the reservation that accounts for the bytes of its items.
    case replay(ReplayOutcome, ReplayReservation?)
    /// A machine's reply to a call.
    case reply(Reply)
    /// A notice, and the encoded frame for all sessions of its user.
    case notice(NoticeRing.Entry, frame: SharedBytes)
    /// A live's new viewer count.
    case count(LiveKey, LiveCount)
    /// The directory has removed a live's record; viewers who are still in the live have missed its end.
    case liveRemoved(LiveKey)
    /// Presence, the machine that knows who is in a live, has lost this partition's state. The shard must assert its
    /// members, that is, report all of them again (I5, docs/RULES.md).
    case assertMembers(partition: Int)
    /// Another connection has taken over the session from the connection with this generation.
    case sessionReplaced(SessionID, generation: UInt32)
    /// The record of a WebSocket or HTTP call was lost.
    case recordLost(token: UInt64)
    /// An HTTP call for a machine.
    case request(HTTPCall)
    /// The answer to a shared read (one request to a service for the equal reads of several clients), and this shard's
    /// calls that wait for the answer.
    case sharedAnswer(SharedAnswer, [WaitingRead])
    /// The decision of an app's backend about a call of this session, on the connection with this generation.
    case webhookDecided(SessionID, generation: UInt32, call: Int64, WebhookDecision)
    /// The gateway shuts down.
    case drain
}

/// An HTTP call that was checked and parsed; a shard forwards the call, and completes it with the reply.
struct HTTPCall: Sendable {
    /// The session of this call alone; a repeated request (same idempotency key and call) gets the same session.
    var session: SessionID
    /// The app on whose behalf the request is made.
    var app: AppID
    /// The user who makes the call; nil for the app's server and for the gateway's own requests.
    var user: UserID?
    var method: String
    /// The record that passes the call to the machine.
    var record: TopicRecord
    /// Whether the metrics count the call; false for the gateway's own requests.
    var isInMetrics = true
    /// Called once with the reply, on the shard's thread.
    var complete: @Sendable (Outcome) -> Void
}

/// The record of an open call, with the token that identifies the record if it is lost.
struct SentRecord: Sendable {
    var record: TopicRecord
    var token: UInt64
    var method: String
    /// The call's tracing span; nil if the call is not traced.
    var span: CallSpan?
}
