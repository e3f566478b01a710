// SPDX-License-Identifier: Apache-2.0
package import ClientAddress
package import GatewayCore
package import MachineKit
package import Observability
package import PlazaModel

/// The settings of a gateway.
package struct GatewaySettings: Sendable {
    /// The gateway's id, to which replies are addressed.
    package var id: GatewayID
    /// The address that the gateway listens on.
    package var host: String
    /// The port for WebSocket connections; 0 chooses a free one.
    package var port: UInt16
    /// The port for HTTP; 0 chooses a free one.
    package var httpPort: UInt16
    /// The number of event loops, each with its own thread and connections.
    package var shards: Int
    /// The number of partitions of every topic.
    package var partitions: Int
    /// The lease of a member of a live: how long presence counts a silent client as watching.
    package var lease: Milliseconds
    /// The longest time that a stop takes.
    ///
    /// In the first half, connections are closed gradually; in the second half, the closed connections may end.
    package var drain: Milliseconds
    /// The policies of each app.
    ///
    /// The gateway uses the device limit and the number of earlier messages for new viewers.
    package var policies = Policies()
    /// The largest number of WebSockets of the process; further ones get status 503.
    package var maxConnections = 100_000
    /// How many bytes may be pending for one viewer's connection; the more bytes are pending, the fewer classes of
    /// items the viewer gets.
    package var budget = DeliveryBudget()
    /// The largest size of the output that all WebSockets together have queued for slow clients: 256 MiB.
    package var maxQueuedBytes = 256 << 20
    /// A client is disconnected if bytes are queued for it, and it takes none of them for this time.
    package var slowReaderTimeout = Milliseconds.seconds(20)
    /// The size of each socket's send buffer; 0 leaves it to the kernel.
    package var sendBufferBytes: Int32 = 0
    /// The limits of one address, user, connection or app.
    package var admission = AdmissionLimits()
    /// Whether several apps use the gateway; then no app gets more than half of what the apps share.
    package var hasSeveralApps = false
    /// Whether trusted proxies send a PROXY header at the start of each WebSocket connection.
    package var speaksProxyProtocol = false
    /// The largest size of all incomplete messages, those that were received only in part, of all WebSockets together:
    /// 256 MiB.
    package var maxUnfinishedBytes = 256 << 20
    /// How many HTTP requests per second an app's servers may make for one method; further requests get status 429
    /// (R13.2).
    package var serverCallsPerSecond = 200
    /// How many HTTP requests per second an app's servers may make for a list of lives.
    package let serverListsPerSecond = 10
    /// How many HTTP requests per second one user may make; further requests get status 429.
    package var userRequestsPerSecond = 20
    /// How many bytes the bodies of one user's HTTP requests may have per second: 1 MiB (R13.46).
    package var userBodyBytesPerSecond = 1 << 20
    /// How many bytes the bodies of the HTTP requests of an app's servers may have per second: 16 MiB.
    package var serverBodyBytesPerSecond = 16 << 20
    /// The largest number of open HTTP connections of one address; of a client behind a trusted proxy, the largest
    /// number of open requests.
    package var httpConnectionsPerAddress = 100
    /// Binds the names of sessions to their users, so that no user can continue another user's session.
    package var sessionNamer = SessionNamer.unkeyed
    /// The proxies that are trusted to state a client's address.
    package var trustedProxies = TrustedProxies()
    /// The browser pages and their settings; nil if no pages are served.
    package var pages: PagesSettings?
    /// The origins of web pages whose WebSockets are accepted.
    package var origins = WebOrigins()
    /// The number of malformed frames after which a connection is closed.
    package var maxBadFrames = 10
    /// How long feed items are cached, for clients that resume.
    package var feedCacheSpan = PartitionFeedCache.span
    /// Records the spans of calls and of the feed items that they cause.
    package var tracer = Tracer.off

    /// Creates settings with the default limits.
    package init(
        id: GatewayID, host: String = "127.0.0.1", port: UInt16 = 0, httpPort: UInt16 = 0, shards: Int = 1,
        partitions: Int = 12, lease: Milliseconds = .seconds(90), drain: Milliseconds = Milliseconds(1500)
    ) {
        self.id = id
        self.host = host
        self.port = port
        self.httpPort = httpPort
        // `FeedHub` stores a set of shards in 64 bits.
        self.shards = min(64, max(1, shards))
        self.partitions = max(1, partitions)
        self.lease = lease
        self.drain = drain
    }
}
