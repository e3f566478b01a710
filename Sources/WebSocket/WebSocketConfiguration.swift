// SPDX-License-Identifier: Apache-2.0

/// Limits and times that all connections of a group share.
package struct WebSocketConfiguration: Sendable {
    /// Most bytes of one message that is received; a larger one closes with 1009.
    package var maxMessageBytes = 65_536
    /// Most bytes of a handshake's head; a longer one is answered with 431.
    package var maxHandshakeBytes = 8_192
    /// Most bytes that wait for a peer that reads slowly; beyond it the connection closes with `overflowCode`.
    package var maxPendingBytes = 1_048_576
    /// The code for a peer that reads too slowly.
    package var overflowCode = CloseCode.policyViolation
    /// Most connections, those in their handshake included; further ones are answered with 503.
    package var maxConnections = 100_000
    /// When a client that found no room should come back.
    package var retryAfterSeconds = 5
    /// How long a handshake may take.
    package var handshakeTimeoutMilliseconds: UInt64 = 10_000
    /// After how long a silence a peer is asked for a sign of life; 0 for never.
    package var pingIntervalMilliseconds: UInt64 = 30_000
    /// How long it has to give one; then it counts as gone.
    package var pongTimeoutMilliseconds: UInt64 = 10_000
    /// How long the peer has to answer a close frame, and then to end the TCP connection.
    package var closeTimeoutMilliseconds: UInt64 = 5_000
    /// Bounds what the kernel keeps for a peer that does not read; 0 leaves that to the kernel.
    package var sendBufferBytes: Int32 = 0
    /// What a server agrees to in a handshake.
    package var policy = HandshakePolicy()

    /// The defaults.
    package init() {}
}
