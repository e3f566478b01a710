// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import GatewayCore
package import PlazaModel

/// What a gateway is told at its start.
package struct GatewaySettings: Sendable {
    /// The gateway's name; replies are addressed to it.
    package var id: GatewayID
    /// The address that clients connect to.
    package var host: String
    /// The port of WebSockets; 0 takes a free one.
    package var port: UInt16
    /// The port of HTTP; 0 takes a free one.
    package var httpPort: UInt16
    /// Event loops, each with a thread and connections of its own.
    package var shards: Int
    /// Partitions of every topic.
    package var partitions: Int
    /// How long presence takes a silent client for present.
    package var lease: Milliseconds
    /// How long a stop may take.
    package var drain: Milliseconds
    /// What each app allows; on how many devices a user may be signed in is the gateways' part of it.
    package var policies = Policies()
    /// Connections of the whole process; further ones are answered with 503.
    package var maxConnections = 100_000
    /// What may wait for a slow reader.
    package var budget = DeliveryBudget()
    /// Bounds what the kernel keeps for a peer that does not read; 0 leaves it to the kernel.
    package var sendBufferBytes: Int32 = 0
    /// Calls of one connection in a second; beyond, it is disconnected.
    package var callsPerSecond = 200
    /// Requests over HTTP of an app's server in a second, for each call; beyond, 429 (reference 13).
    package var serverCallsPerSecond = 200
    /// The same for the list of lives.
    package var serverListsPerSecond = 10
    /// Requests over HTTP of one user in a second; beyond, 429.
    package var userRequestsPerSecond = 20
    /// Frames of one connection that are no calls; beyond, it is disconnected.
    package var badFrames = 10
    /// How long feed items are kept in memory, for those who come back.
    package var ring = FeedShelf.span

    /// Settings with the usual limits.
    package init(
        id: GatewayID, host: String = "127.0.0.1", port: UInt16 = 0, httpPort: UInt16 = 0, shards: Int = 1,
        partitions: Int = 12, lease: Milliseconds = .seconds(90), drain: Milliseconds = Milliseconds(1500)
    ) {
        self.id = id
        self.host = host
        self.port = port
        self.httpPort = httpPort
        self.shards = min(64, max(1, shards))
        self.partitions = max(1, partitions)
        self.lease = lease
        self.drain = drain
    }
}

/// What a valid token allows.
package struct Admission: Hashable, Sendable {
    /// The token's app.
    package var app: AppID
    /// The token's user.
    package var user: UserID
    /// What the token is for.
    package var role: CallerRole
    /// How the user is shown, if the token says so.
    package var name: String?
    /// The user's picture, if the token says so.
    package var avatarURL: String?
    /// The token's end, by the wall clock, in milliseconds since 1970.
    package var expiresAt: Int64

    /// An admission.
    package init(
        app: AppID, user: UserID, role: CallerRole, name: String? = nil, avatarURL: String? = nil, expiresAt: Int64
    ) {
        self.app = app
        self.user = user
        self.role = role
        self.name = name
        self.avatarURL = avatarURL
        self.expiresAt = expiresAt
    }

    /// Whose token it is.
    package var key: UserKey { UserKey(self.app, self.user) }
}

/// Checks tokens (I17).
package protocol TokenGate: Sendable {
    /// What `token` allows; called on the shards' and the HTTP server's threads.
    ///
    /// - Throws: `tokenExpired` or `tokenInvalid`.
    func admit(_ token: String) throws(ReplyError) -> Admission
}
