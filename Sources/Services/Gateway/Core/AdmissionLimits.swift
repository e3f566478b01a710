// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The limits of one address, user, connection, app or app's servers at a gateway (R12.6 to R12.10, R12.13 to R12.15,
/// R12.19 to R12.22).
package struct AdmissionLimits: Hashable, Sendable {
    /// Open WebSockets of one address; many phones may share the address of a mobile network.
    package var connectionsPerAddress = 1_000
    /// Handshakes of one address per second, including malformed ones; also the limit of its malformed HTTP requests.
    package var handshakes = RateLimit(100)
    /// Open WebSockets of one user.
    package var connectionsPerUser = 20
    /// Open WebSockets of one app; if nil, only the gateway's limit of all connections applies.
    package var connectionsPerApp: Int?
    /// Lives of one app, including those that ended minutes ago; each gateway has them all in memory (R12.21).
    package var livesPerApp = 100_000
    /// Calls of one app per second that a gateway forwards to the services; if nil, there is no limit (R12.13).
    package var callsPerApp: Int?
    /// Calls of one user per second that a gateway forwards to the services, on all connections together (R12.15).
    package var callsPerUser = 100
    /// Open WebSockets of an app's servers, all together (R12.14).
    package var serverConnections = 50
    /// Logins of an app's servers per minute.
    package var serverLogins = RateLimit(600, per: .seconds(60))
    /// Calls of an app's servers per second by WebSocket, reads included.
    package var serverCalls = RateLimit(1_000)
    /// Reads of an app's servers per second by WebSocket.
    package var serverReads = RateLimit(200)
    /// Changes of an app's settings per second, by WebSocket and HTTP together; each publishes all settings of the app
    /// (R12.20).
    package var serverSettings = RateLimit(20)
    /// Frames of a connection per second, including control frames.
    package var frames = RateLimit(200)
    /// Bytes of a connection per second: 1 MiB.
    package var bytes = RateLimit(1 << 20)
    /// Frames of a connection before its login.
    package var framesBeforeLogin = 10
    /// Bytes of a connection before its login: 16 KiB.
    package var bytesBeforeLogin = 16 << 10
    /// Logins of a user per minute, on all connections together.
    package var logins = RateLimit(60, per: .seconds(60))
    /// Joins, leaves and resumes of a user per minute, on all connections together.
    package var memberships = RateLimit(60, per: .seconds(60))
    /// Joins and resumes of a user to the same live per minute; each may increase the live's viewer count (R12.8).
    package var joinsOfLive = RateLimit(30, per: .seconds(60))
    /// Replays of a user per minute that read the feed topic again; a replay of many records counts several times
    /// (`ReplayRequest.costForUser`, R12.22).
    package var replays = RateLimit(20, per: .seconds(60))
    /// Lives that a user creates per second, by WebSocket and HTTP together; each causes work in all services, and
    /// calls of the app's backend (R12.19).
    package var creations = RateLimit(5)
    /// Gifts of a user per second.
    package var gifts = RateLimit(20)
    /// Changes of a user's microphone and camera per second.
    package var deviceChanges = RateLimit(10)
    /// Users whom a user bans, unbans, mutes or kicks per second; each of them causes work in several services.
    package var sanctions = RateLimit(10)
    /// Reads of a user per second.
    package var reads = RateLimit(20)
    /// The share of a shard's processor time, in percent, that its clients' reads may use (R12.18).
    package var readPercent = 40
    /// When this many bytes, 64 KiB, wait to be sent to a client, the client's further reads are rejected (R12.24).
    package var unreadBytes = 64 << 10
    /// HTTP requests of one address per second that carry no token, or ask for resources that need no token, such as
    /// pages.
    package var anonymousRequests = RateLimit(100)
    /// HTTP requests of one address per second for files of the browser pages.
    ///
    /// The limit is ten times `anonymousRequests`, because a browser asks for about 15 files to show a page, and many
    /// people may have one address. A file is served from memory, so it costs little.
    package var pageFiles: RateLimit { RateLimit(self.anonymousRequests.count * 10) }
    /// HTTP requests of one address per second whose tokens are rejected; further tokens are not checked.
    package var refusedTokens = RateLimit(20)
    /// Tokens of one address per second whose signatures are checked for HTTP requests (R13.41).
    ///
    /// A token that `VerifiedTokens` remembers is not checked again, and does not count.
    package var tokenChecks = RateLimit(200)

    /// The defaults.
    package init() {}
}

/// A kind of call with its own rate limit.
package enum MeteredCall: Hashable, Sendable {
    case login
    /// A join, leave or resume of any live.
    case membership
    /// A join or resume of this live, which has a limit of its own.
    case join(LiveID)
    /// A replay of feed items that are no longer cached, for a client that resumes or joins.
    case replay
    /// The creation of a live.
    case creation
    case gift
    case deviceChange
    case read
    /// A kick, ban, unban or mute; a call counts once for each user that it names.
    case sanction

    /// Creates the kind that follows from a method's name alone; nil if there is none.
    ///
    /// The callers add `.login` and `.replay`, and kinds that need the call's parameters: `.join`, and `.sanction` for
    /// a ban, unban or mute, which may name several users. All other methods are limited by the rates of frames
    /// and of forwarded calls alone.
    package init?(method: String) {
        switch method {
        case "live.join", "live.leave": self = .membership
        case "live.create": self = .creation
        case "gift.send": self = .gift
        case "seat.device", "seat.lockDevice": self = .deviceChange
        case "live.list", "live.get", "live.summary", "metadata.get", "audience.list", "audience.count",
            "live.bans", "live.mutes", "stage.get", "seat.requests", "cohost.requests", "battle.requests",
            "cohost.candidates", "battle.get",
            "gift.list", "app.get":
            self = .read
        case "audience.kick": self = .sanction
        default: return nil
        }
    }

    /// How many entries of a page of `live.list` a user gets for one read.
    private static let entriesPerRead = 20

    /// How many reads of a user a page of `live.list` counts as: one for each 20 entries that it may have.
    ///
    /// An entry may have 40 KB, so a page of 50 entries is much larger than the answer to any other read. A page of the
    /// default size counts as one read.
    ///
    /// - Parameter entryCount: The largest number of entries of the page.
    /// - Returns: The number of reads, at least 1.
    package static func readCount(ofPageWith entryCount: Int) -> Int {
        // Pages above `Limits.listPage` are rejected anyway. With this limit, the addition cannot overflow.
        (min(max(1, entryCount), Limits.listPage) + Self.entriesPerRead - 1) / Self.entriesPerRead
    }

    /// The reason with which a call of this kind is rejected.
    package var reason: RefusalReason {
        switch self {
        case .login: .logins
        case .membership, .join: .memberships
        case .replay: .replays
        case .creation: .creations
        case .gift: .gifts
        case .deviceChange: .deviceChanges
        case .read: .reads
        case .sanction: .sanctions
        }
    }
}

/// A kind of call of an app's servers by WebSocket; the servers of an app share a rate limit for each kind (R12.14).
package enum ServerCall: Hashable, Sendable {
    case login
    /// Any call after the login. A kick, ban, unban or mute counts once for each user that it names.
    case call
    /// A read.
    case read
    /// A change of the app's settings: its words or its gifts.
    case settings

    /// Whether a call of this method changes the app's settings.
    package static func isChangeOfSettings(method: String) -> Bool {
        method.hasPrefix("app.") && MeteredCall(method: method) != .read
    }

    /// How many reads a call of this method counts as; nil if it is not a read.
    ///
    /// A page of the list of lives is the largest answer, so it counts as 20, as over HTTP.
    package static func readCount(method: String) -> Int? {
        guard MeteredCall(method: method) == .read else { return nil }
        return method == "live.list" ? 20 : 1
    }

    /// The reason with which a call of this kind is rejected.
    package var reason: RefusalReason {
        switch self {
        case .login: .serverLogins
        case .call: .serverCalls
        case .read: .serverReads
        case .settings: .serverSettings
        }
    }
}
