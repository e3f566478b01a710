// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The limits of one address, user, connection or app at a gateway (R12.6 to R12.10).
package struct AdmissionLimits: Hashable, Sendable {
    /// Open WebSockets of one address; many phones may share the address of a mobile network.
    package var connectionsPerAddress = 1_000
    /// Handshakes of one address per second.
    package var handshakes = RateLimit(100)
    /// Open WebSockets of one user.
    package var connectionsPerUser = 20
    /// Open WebSockets of one app; nil: only the gateway's limit applies.
    package var connectionsPerApp: Int?
    /// Calls of one app per second that a gateway forwards to the services; nil: no limit (R12.13).
    package var callsPerApp: Int?
    /// Frames of a connection per second, including control frames.
    package var frames = RateLimit(200)
    /// Bytes of a connection per second.
    package var bytes = RateLimit(1 << 20)
    /// Frames of a connection before its login.
    package var framesBeforeLogin = 10
    /// Bytes of a connection before its login.
    package var bytesBeforeLogin = 16 << 10
    /// Logins of a user per minute, on all connections together.
    package var logins = RateLimit(60, per: .seconds(60))
    /// Joins and leaves of a user per minute, on all connections together.
    package var memberships = RateLimit(60, per: .seconds(60))
    /// Joins of a user to the same live per minute; each join counts as a viewer (R12.8).
    package var joinsOfLive = RateLimit(30, per: .seconds(60))
    /// Gifts of a user per second.
    package var gifts = RateLimit(20)
    /// Changes of a user's microphone and camera per second.
    package var deviceChanges = RateLimit(10)
    /// Users whom a user bans, unbans, mutes or kicks per second; each of them causes work in several services.
    package var sanctions = RateLimit(10)
    /// Reads of a user per second.
    package var reads = RateLimit(20)

    /// The defaults.
    package init() {}
}

/// A kind of call with its own rate limit.
package enum MeteredCall: Hashable, Sendable {
    case login
    /// A join or leave of any live.
    case membership
    /// A join of this live, which has a limit of its own.
    case join(LiveID)
    case gift
    case deviceChange
    case read
    /// A kick, ban, unban or mute; a call counts once for each user that it names.
    case sanction

    /// Creates the kind of a method; nil if only the rate of frames limits the method.
    package init?(method: String) {
        switch method {
        case "live.join", "live.leave": self = .membership
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

    /// The reason with which a call of this kind is refused.
    package var reason: RefusalReason {
        switch self {
        case .login: .logins
        case .membership, .join: .memberships
        case .gift: .gifts
        case .deviceChange: .deviceChanges
        case .read: .reads
        case .sanction: .sanctions
        }
    }
}
