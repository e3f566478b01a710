// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import MachineKit
internal import PlazaModel
internal import WebSocket
internal import Webhooks

/// One client connection of a shard, an event loop of the gateway.
///
/// The object is accessed only on the loop's thread. It is kept small, because there are many connections.
final class Client {
    let socket: WebSocketConnection
    /// The state of the connection, without IO: login, membership of a live, and open calls.
    var core: SessionCore<SentRecord>
    /// The client's app; empty before the login, like `user` and `session`.
    var app: AppID
    var user: UserInfo
    var role = CallerRole.user
    /// The session's cluster-wide name.
    var session: SessionID
    /// The session name that the client knows: the one that it sent at login, or the one that the gateway assigned.
    var clientSession: SessionID
    /// Distinguishes the connections of one session.
    var generation: UInt32 = 0
    /// Whether the shard has removed the client; its socket may not be closed yet.
    var isDetached = false
    /// Whether `ShardCalls` has the client in its list of clients with open calls, which its sweep checks.
    var isInCallSweep = false
    /// Whether `ShardWebhooks` has the client in its list of clients with pending calls, which its sweep checks.
    var isInPendingSweep = false
    /// The sign-in state, which decides whether a later sign-in closes this connection; set at the login.
    var signIn = DeviceSignIn(connection: 0, endsOtherSessions: false)
    /// Whether the token sets the user's name, so that the user cannot change it.
    var hasFixedName = false
    /// Whether the token sets the user's avatar, so that the user cannot change it.
    var hasFixedAvatar = false
    /// The calls that are not forwarded yet, because the app's backend has not decided about them or about an earlier
    /// call; in the order in which they were received.
    var pendingCalls = PendingCalls<PendingCall, WebhookDecision>()
    /// The calls that wait for the answer to a shared read (`SharedReads`): their ids, and since when they wait.
    var waitingReads: [(id: Int64, waitsSince: MonotonicTime)] = []
    /// The state of a client whose feed is held back; nil while new items are sent to the client immediately.
    var backlog: Backlog?
    /// The live whose feed is sent to the client.
    ///
    /// It is set when the feed's partition is loaded; `core.live` is set earlier, when presence grants the join.
    var live: ShardLive?
    /// The client's index among the live's viewers.
    var indexInLive = 0
    /// The number of the last item that need not be sent to the client.
    ///
    /// All items up to this number were sent, or precede the client's join. A flush, which sends the live's buffered
    /// items, does not change the number; the number is set again when the client falls behind.
    var caughtUpTo: Int64 = 0
    /// The next client in the linked list of the same user's clients on this shard (`ShardSessions`).
    var nextOfUser: Client?
    /// The offset of the last notice that was sent to the client; -1 if none was sent.
    var lastNoticeOffset: Int64 = -1
    /// Whether the admission control counts this connection among the connections of its user.
    var isCounted = false
    /// The number of malformed frames that the client has sent.
    var badFrameCount: UInt8 = 0
    /// Detects late retries: calls that were first sent longer ago than an idempotency window lasts.
    var retryAges = RetryAges()

    /// The state of a client whose feed is held back, because the client is too slow or must first get a replay.
    struct Backlog {
        /// When items were last sent to the client, or when the backlog began.
        var lastProgressAt: MonotonicTime
        /// The number of items that the `DeliveryLedger` counts as deferred for the client.
        var deferredCount: Int
        /// The replay that must be sent before the items in the cache.
        var replay = ReplayState.finished
    }

    /// The progress of a client's replay.
    enum ReplayState {
        /// No item is left to replay: the cache has all items that the client lacks.
        case finished
        /// The missed items are being read, or this gateway has not read the feed up to the client's position yet.
        /// `ShardReplay` has the pending replay under this number.
        case reading(UInt64)
        /// These items must still be sent; the reservation, if any, accounts for their bytes.
        case items(ArraySlice<EncodedFeedItem>, ReplayReservation?)
    }

    init(_ socket: WebSocketConnection, at now: MonotonicTime) {
        self.socket = socket
        self.core = SessionCore(at: now)
        self.app = AppID("")
        self.user = UserInfo(userID: UserID(""))
        self.session = SessionID("")
        self.clientSession = SessionID("")
    }

    /// Returns whether a call with this id waits for the answer to a shared read.
    func isWaitingRead(_ id: Int64) -> Bool { self.waitingReads.contains { $0.id == id } }

    /// The client's user within its app.
    var userKey: UserKey { UserKey(self.app, self.user.userID) }
    /// When the last bytes were received from the client, in the loop's time.
    var lastReceived: MonotonicTime { self.socket.lastReceivedAt }
    /// Returns the key of a live of the client's app.
    func key(_ live: LiveID) -> LiveKey { LiveKey(self.app, live) }
}
