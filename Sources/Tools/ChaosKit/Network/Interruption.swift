// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

/// The direction of bytes through a proxy.
package enum Direction: Hashable, Sendable {
    /// From the client, which opened the connection, to the server.
    case toServer
    case toClient
}

/// What a network does to the connections of one link.
package enum Interruption: Hashable, Sendable {
    /// No interruption: bytes are forwarded at once.
    case none
    /// All connections are closed, and each new connection is closed at once.
    case cut
    /// Bytes in these directions are not forwarded until the interruption is over; neither side is notified.
    ///
    /// New connections wait too, because their handshake needs both directions. If a connection survives the
    /// interruption, its bytes arrive late and in order, as with TCP retransmissions.
    case silence(Set<Direction>)
    /// All bytes arrive this many milliseconds late, in both directions.
    case delay(milliseconds: Int)

    /// Whether bytes in a direction are forwarded.
    func forwards(_ direction: Direction) -> Bool {
        if case .silence(let directions) = self { !directions.contains(direction) } else { self != .cut }
    }

    /// The delay of forwarded bytes.
    var delay: Milliseconds {
        if case .delay(let milliseconds) = self { Milliseconds(Int64(max(0, milliseconds))) } else { Milliseconds(0) }
    }

    /// Whether a new connection can be made.
    var allowsNewConnections: Bool {
        switch self {
        case .none, .delay: true
        case .cut, .silence: false
        }
    }
}
