// SPDX-License-Identifier: Apache-2.0
package import ClientAddress
internal import MachineKit

/// The limits and timeouts that all WebSocket connections of a group share.
///
/// A sweep, which `WebSocketGroup` runs a few times a second, ends the connections that exceed them.
package struct WebSocketConfiguration: Sendable {
    /// The maximum size of a received message in bytes; a larger one closes the connection with 1009.
    package var maxMessageBytes = 65_536
    /// The maximum size of a handshake's head in bytes; a longer one is answered with 431.
    package let maxHandshakeBytes = 8_192
    /// The maximum number of bytes that may be pending for one peer: queued, because the system has not accepted them.
    ///
    /// Above it the connection is closed with `overflowCode`.
    package var maxPendingBytes = 1_048_576
    /// The maximum memory of the queues of all connections of the loop together, in bytes.
    ///
    /// Beyond the limit, a connection may queue only up to its share: the limit divided by the number of queues. The
    /// sweeps of the group then end the connections with the largest queues.
    package var maxQueuedBytes = Int.max
    /// How long a peer may accept none of its pending bytes, before the connection is ended; zero for no limit.
    package var outputTimeout = Duration.zero
    /// The close code for a peer that reads too slowly.
    package var overflowCode = CloseCode.policyViolation
    /// The maximum number of connections, including those in their handshake; further ones are answered with 503.
    package var maxConnections = 100_000
    /// The value of `Retry-After` in a 503 response, in whole seconds.
    package var retryAfter = Duration.seconds(5)
    /// The rate limits of each peer; nil for no limit.
    package var inbound: InboundLimits?
    /// The maximum number of bytes of unfinished messages that all connections of the group buffer together.
    ///
    /// Beyond the limit, connections are closed until an eighth of the limit is free again. The next connection to
    /// close always belongs to the client address whose connections buffer the most bytes together. Of this address it
    /// is the connection that buffers the most.
    package var maxUnfinishedBytes = Int.max
    /// The proxies that are trusted to report the addresses of their clients.
    package var trustedProxies = TrustedProxies()
    /// Whether trusted proxies begin each connection with a PROXY header of version 2.
    ///
    /// If false, the client's address is taken from the field `X-Forwarded-For` instead. A client can send the bytes of
    /// either form, so the server must not infer from the received bytes which form the proxy uses.
    package var speaksProxyProtocol = false
    /// How long a handshake may take.
    package var handshakeTimeout = Duration.seconds(10)
    /// A ping is sent when no byte was received for this time; zero disables pings.
    package var pingInterval = Duration.seconds(30)
    /// How long the peer may take to answer a ping; then the connection is ended.
    package var pongTimeout = Duration.seconds(10)
    /// How long the peer may take to answer a close frame.
    ///
    /// The peer may then take as long again to end the TCP connection.
    package var closeTimeout = Duration.seconds(5)
    /// The size of the kernel's send buffer for each connection; 0 keeps the kernel's default.
    package var sendBufferBytes: Int32 = 0
    /// The paths and subprotocols that a server accepts in a handshake.
    package var policy = HandshakePolicy()

    /// Creates a configuration with the default values.
    package init() {}
}

/// The timeouts of a configuration in milliseconds, the unit of the loop's clock.
///
/// The durations are converted only once, because each sweep compares them with the state of every connection.
struct SweepTimes {
    let handshakeTimeout: Milliseconds
    /// Zero means that no pings are sent.
    let pingInterval: Milliseconds
    let pongTimeout: Milliseconds
    let closeTimeout: Milliseconds
    /// Zero means that a peer may read as slowly as it likes.
    let outputTimeout: Milliseconds

    init(_ configuration: WebSocketConfiguration) {
        self.handshakeTimeout = max(Milliseconds(0), Milliseconds(configuration.handshakeTimeout))
        self.pingInterval = max(Milliseconds(0), Milliseconds(configuration.pingInterval))
        self.pongTimeout = max(Milliseconds(0), Milliseconds(configuration.pongTimeout))
        self.closeTimeout = max(Milliseconds(0), Milliseconds(configuration.closeTimeout))
        self.outputTimeout = max(Milliseconds(0), Milliseconds(configuration.outputTimeout))
    }
}
