// SPDX-License-Identifier: Apache-2.0

/// The kind of a WebSocket frame (RFC 6455, section 5.2).
package enum Opcode: UInt8, Sendable {
    /// A further fragment of a message.
    case continuation = 0
    /// A text message, or its first fragment.
    case text = 1
    /// A binary message, or its first fragment.
    case binary = 2
    /// The close frame.
    case close = 8
    /// A ping, which the peer must answer with a pong.
    case ping = 9
    /// A pong: the response to a ping.
    case pong = 10

    /// Whether the frame is a control frame, which may be sent between the fragments of a message.
    var isControl: Bool { self.rawValue >= 8 }
}

/// One of the two sides of a WebSocket connection.
///
/// Clients mask what they send, servers do not (RFC 6455, section 5.1).
package enum Role: Sendable {
    /// The side that opened the connection.
    case client
    /// The side that accepted the connection.
    case server
}
