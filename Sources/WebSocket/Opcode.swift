// SPDX-License-Identifier: Apache-2.0

/// What a frame carries (RFC 6455, section 5.2).
package enum Opcode: UInt8, Sendable {
    /// The next piece of a message.
    case continuation = 0
    /// A text, or its first piece.
    case text = 1
    /// Bytes, or their first piece.
    case binary = 2
    /// The end of the connection.
    case close = 8
    /// A question for a sign of life.
    case ping = 9
    /// Its answer.
    case pong = 10

    /// Whether it may stand between the pieces of a message.
    var isControl: Bool { self.rawValue >= 8 }
}

/// Which side of a connection we are.
///
/// Clients mask what they send, servers do not (RFC 6455, section 5.1).
package enum Role: Sendable {
    /// We asked for the connection.
    case client
    /// We were asked.
    case server
}
