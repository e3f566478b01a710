// SPDX-License-Identifier: Apache-2.0
package import EventLoop

/// What connections tell their owner, always on their loop's thread.
///
/// One delegate may serve many connections and keep what belongs to one in its `context`, or each may have its own.
package protocol WebSocketDelegate: AnyObject {
    /// The WebSocket is open. A server gets the request, and may set another delegate here, or close.
    func webSocketOpened(_ connection: WebSocketConnection, _ request: UpgradeRequest?)
    /// A whole text came. The bytes are UTF-8 and only lent.
    func webSocket(_ connection: WebSocketConnection, receivedText text: Span<UInt8>)
    /// A whole binary message came. The bytes are only lent.
    func webSocket(_ connection: WebSocketConnection, receivedBinary bytes: Span<UInt8>)
    /// Nothing is pending any more, after something was.
    func webSocketWritable(_ connection: WebSocketConnection)
    /// Nothing will come any more, nor can anything be sent. Exactly once, never from within a call to the connection.
    func webSocketClosed(_ connection: WebSocketConnection, _ closure: WebSocketClosure)
}

extension WebSocketDelegate {
    /// Refuses: most speak text alone.
    package func webSocket(_ connection: WebSocketConnection, receivedBinary bytes: Span<UInt8>) {
        connection.close(.unsupportedData, reason: "text only")
    }

    /// Nothing to do for owners who do not wait for it.
    package func webSocketWritable(_ connection: WebSocketConnection) {}
}

/// How a WebSocket ended.
package struct WebSocketClosure: Equatable, Sendable {
    /// The code: the peer's if it closed, else ours; `abnormal` when no close frame said anything.
    package var code: CloseCode
    /// The text beside the code.
    package var reason: String
    /// What brought it about.
    package var cause: Cause

    /// Puts a closure together.
    package init(code: CloseCode, reason: String, cause: Cause) {
        self.code = code
        self.reason = reason
        self.cause = cause
    }

    /// What ended a WebSocket.
    package enum Cause: Equatable, Sendable {
        /// The peer's close frame.
        case peer
        /// Our own `close`, answered by the peer.
        case own
        /// Our own `close`, which the peer did not answer in time.
        case closeTimeout
        /// The peer broke the protocol.
        case violation(ProtocolViolation)
        /// More was pending for the peer than may be.
        case slowReader
        /// The peer gave no sign of life.
        case pingTimeout
        /// The peer did not finish the handshake in time.
        case handshakeTimeout
        /// The server's answer opened nothing.
        case handshakeFailed(HandshakeFailure)
        /// The TCP connection ended or never stood.
        case connection(LoopError)
    }
}

/// What became of something that was to be sent.
package enum SendOutcome: Sendable {
    /// The system has taken it.
    case sent
    /// It waits, wholly or in part, for the peer to read.
    case queued
    /// The peer was too far behind; the connection is being closed.
    case overflow
    /// The WebSocket is not open.
    case notOpen
}
