// SPDX-License-Identifier: Apache-2.0

/// The direction of bytes through a proxy.
package enum Direction: Hashable, Sendable {
    /// From the client, which began the connection.
    case toServer
    case toClient
}

/// What a network does to the connections of one link.
package enum Interruption: Hashable, Sendable {
    /// Everything arrives at once.
    case none
    /// All connections end, and each new one ends at once.
    case cut
    /// Bytes of these directions do not arrive until the interruption is over; neither side is notified.
    ///
    /// New connections wait too, because their handshake needs both directions. What a connection that lives on had
    /// sent arrives late and in order, as with packets that TCP sends again.
    case silence(Set<Direction>)
    /// All bytes arrive this many milliseconds late, in both directions.
    case delay(milliseconds: Int)

    /// Whether bytes of a direction arrive.
    func passes(_ direction: Direction) -> Bool {
        if case .silence(let directions) = self { !directions.contains(direction) } else { self != .cut }
    }

    /// How late bytes arrive, in milliseconds.
    var delayMilliseconds: UInt64 {
        if case .delay(let milliseconds) = self { UInt64(max(0, milliseconds)) } else { 0 }
    }

    /// Whether a new connection can be made.
    var connects: Bool {
        switch self {
        case .none, .delay: true
        case .cut, .silence: false
        }
    }
}
