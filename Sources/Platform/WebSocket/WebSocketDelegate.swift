// SPDX-License-Identifier: Apache-2.0
package import EventLoop

/// Receives the events of WebSocket connections, always on the thread of their event loop.
///
/// A delegate may serve one connection or many. If it serves many, it can store the data of each connection in the
/// connection's `context`.
package protocol WebSocketDelegate: AnyObject {
    /// The WebSocket is open. `request` is nil on the client's side. The delegate of a server may set another delegate
    /// here, or close the connection.
    func webSocketOpened(_ connection: WebSocketConnection, _ request: UpgradeRequest?)
    /// A whole text was received. The bytes are UTF-8 and valid during this call only.
    func webSocket(_ connection: WebSocketConnection, receivedText text: Span<UInt8>)
    /// A whole binary message was received. The bytes are valid during this call only.
    func webSocket(_ connection: WebSocketConnection, receivedBinary bytes: Span<UInt8>)
    /// The peer exceeded a limit; the connection should be closed now.
    func webSocket(_ connection: WebSocketConnection, exceeded limit: InboundExcess)
    /// The system has accepted all pending bytes.
    func webSocketWritable(_ connection: WebSocketConnection)
    /// The WebSocket has ended. Called exactly once, and never from within `send` or `close`.
    func webSocketClosed(_ connection: WebSocketConnection, _ closure: WebSocketClosure)
}

extension WebSocketDelegate {
    /// Closes the connection: the default for delegates that expect text only.
    package func webSocket(_ connection: WebSocketConnection, receivedBinary bytes: Span<UInt8>) {
        connection.close(.unsupportedData, reason: "text only")
    }

    /// Closes the connection.
    package func webSocket(_ connection: WebSocketConnection, exceeded limit: InboundExcess) {
        connection.close(.policyViolation, reason: "too much")
    }

    /// Does nothing: the default for delegates that do not need the event.
    package func webSocketWritable(_ connection: WebSocketConnection) {}
}

/// How a WebSocket ended.
package struct WebSocketClosure: Equatable, Sendable {
    /// The close code of the side that ended the WebSocket first; `noCode` when the peer's close frame had none, and
    /// `abnormal` when neither side has given a code.
    package var code: CloseCode
    /// The reason text of the close frame.
    package var reason: String
    /// The cause of the end.
    package var cause: Cause

    /// Makes a closure.
    package init(code: CloseCode, reason: String, cause: Cause) {
        self.code = code
        self.reason = reason
        self.cause = cause
    }

    /// The cause of the end of a WebSocket.
    package enum Cause: Equatable, Sendable {
        /// The peer sent the first close frame.
        case peer
        /// This side called `close`. The cause is `closeTimeout` instead if the peer did not answer in time.
        case thisSide
        /// This side called `close`, and the peer did not answer in time.
        case closeTimeout
        /// The peer broke the protocol.
        case violation(ProtocolViolation)
        /// More bytes were pending for the peer than the limit.
        case slowReader
        /// The peer accepted none of its pending bytes for `outputTimeout`.
        case stalledReader
        /// More bytes were pending for all peers than the limit, and this peer had more than its share.
        case outputLimit
        /// The peer did not answer a ping in time.
        case pingTimeout
        /// The peer did not finish the handshake in time.
        case handshakeTimeout
        /// The server did not accept the handshake.
        case handshakeFailed(HandshakeFailure)
        /// The TCP connection ended or was never established.
        case connection(LoopError)
    }
}

/// The result of sending a frame.
package enum SendOutcome: Sendable {
    /// The system has accepted all bytes.
    case sent
    /// At least a part of the frame is queued until the peer has read earlier bytes.
    case queued
    /// More bytes would be pending than a limit; the frame was dropped, and the connection is being closed.
    case overflow
    /// The WebSocket is not open.
    case notOpen
}
