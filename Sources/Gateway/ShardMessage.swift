// SPDX-License-Identifier: Apache-2.0
internal import EventLoop
internal import GatewayCore
internal import PlazaModel
internal import PlazaWire
internal import Webhooks

/// What other threads tell a shard.
enum ShardMessage: Sendable {
    /// New items of a live's feed.
    case feed(LiveKey, epoch: Int64, [FeedPiece])
    /// A feed partition has been read up to its end: from now on its lives' items come as they are written.
    case loaded(partition: Int)
    /// What the reader of the past found, and what counts its bytes.
    case replayed(ReplayOutcome, ReplayStock?)
    /// A machine's answer.
    case reply(Reply)
    /// A notice, and the frame that all sessions of its user get.
    case notice(NoticeRing.Entry, frame: SharedBytes)
    /// A live's new count.
    case count(LiveKey, LiveCount)
    /// A live's record is gone; who is still in it missed its end.
    case gone(LiveKey)
    /// Presence began anew in this partition: tell it who is here (I5).
    case assert(partition: Int)
    /// Another connection continues the session.
    case replaced(SessionID, generation: UInt32)
    /// A record is lost.
    case notDelivered(token: UInt64)
    /// A call over HTTP.
    case request(RequestCall)
    /// What an app's backend says of a call.
    case asked(SessionID, generation: UInt32, call: Int64, HookVerdict)
    /// The gateway stops.
    case drain
}

/// A call over HTTP, checked and parsed: a shard waits for its answer.
struct RequestCall: Sendable {
    /// Names the request; the same for the same idempotency key.
    var session: SessionID
    var method: String
    var record: TopicRecord
    /// Takes the answer, on the shard's thread; called once.
    var complete: @Sendable (Outcome) -> Void
}

/// A record of an open call, with the token by which its loss would be told.
struct SentRecord: Sendable {
    var record: TopicRecord
    var token: UInt64
    var method: String
}
