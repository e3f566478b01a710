// SPDX-License-Identifier: Apache-2.0
internal import CoreKit
internal import GatewayCore
internal import PlazaModel
internal import WebSocket

/// One connection of a shard; plain, small, and touched on its loop's thread only.
final class Client {
    let socket: WebSocketConnection
    var core: SessionCore<SentRecord>
    var app: AppID
    var user: UserInfo
    var role = CallerRole.user
    /// The session's name in the cluster.
    var session: SessionID
    /// What the client calls its session.
    var given: SessionID
    /// Tells connections of one session apart.
    var generation: UInt32 = 0
    /// Whether the shard has let go of it; its socket may take a while to close.
    var isDetached = false
    /// Whether it stands in the shard's list of clients with open calls.
    var isSwept = false
    /// Whether it is the connection of its session, or of its user, that counts.
    var signIn = SignIn(connection: 0, isOnly: false)
    /// Whether the token says how the user is shown; then the user does not.
    var hasFixedName = false
    var hasFixedAvatar = false
    /// Calls that wait for the app's backend, in the order in which they came.
    var asked: [AskedCall] = []
    /// How its feed is held back.
    var backlog: Backlog?
    /// The live that it gets the feed of, and where it stands among the viewers.
    var room: Room?
    var indexInRoom = 0
    /// Items up to this number are not for it: it has them, or they are from before it came.
    var from: Int64 = 0
    /// The next connection of the same user on this shard.
    var nextOfUser: Client?
    /// The offset of the last notice that it has.
    var lastNotice: Int64 = -1
    /// The second in which calls are counted, and how many there were.
    var countedSecond: UInt32 = 0
    var callsInSecond: UInt16 = 0
    var badFrames: UInt8 = 0

    /// A reader that gets nothing of its feed now: it is too far behind, or the past comes first.
    struct Backlog {
        var since: Timestamp
        /// Items that it has yet to get.
        var owed: Int
        /// What comes before the items in memory.
        var past = Past.through
    }

    /// What a reader gets of the past.
    enum Past {
        /// Nothing (more): memory has all that it lacks.
        case through
        /// The reader of the past was asked this question.
        case asked(UInt64)
        /// These items, which the stock counts.
        case items(ArraySlice<FeedPiece>, ReplayStock?)
    }

    init(_ socket: WebSocketConnection, at now: Timestamp) {
        self.socket = socket
        self.core = SessionCore(at: now)
        self.app = AppID("")
        self.user = UserInfo(userID: UserID(""))
        self.session = SessionID("")
        self.given = SessionID("")
    }

    /// The client's user within its app.
    var userKey: UserKey { UserKey(self.app, self.user.userID) }
    /// A live of the client's app.
    func key(_ live: LiveID) -> LiveKey { LiveKey(self.app, live) }
}
