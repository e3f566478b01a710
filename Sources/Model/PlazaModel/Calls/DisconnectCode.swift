// SPDX-License-Identifier: Apache-2.0

/// Why the server ends a connection: a WebSocket close code whose range says what the client should do.
///
/// 4000 to 4099: reconnect after a random delay and resume. 4100 to 4199: do not reconnect automatically.
package struct DisconnectCode: Hashable, Sendable {
    package let code: UInt16
    package let reason: String

    package init(_ code: UInt16, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The gateway is stopping; reconnect to another gateway.
    package static let draining = DisconnectCode(4000, "gateway is stopping")
    /// The reader was too slow for too long; reconnect and resume.
    package static let slowReader = DisconnectCode(4001, "reader too slow")
    /// The client did not log in in time.
    package static let loginTimeout = DisconnectCode(4003, "no login in time")
    /// The gateway cannot serve the connection now; reconnect, preferably to another gateway.
    package static let overloaded = DisconnectCode(4004, "too much for this gateway")
    /// The token is not valid on this cluster.
    package static let tokenRefused = DisconnectCode(4100, "token refused")
    /// The token has expired.
    package static let tokenExpired = DisconnectCode(4101, "token expired")
    /// The same session logged in on another connection.
    package static let replaced = DisconnectCode(4102, "session continued elsewhere")
    /// The client violated the protocol.
    package static let protocolViolation = DisconnectCode(4103, "protocol violation")
    /// The client exceeded the rate limit of a connection.
    package static let flooding = DisconnectCode(4104, "too many calls")

    /// The user signed in on another device, in an app that allows one (R2.18).
    package static let kickedOffline = DisconnectCode(4105, "signed in on another device")
    /// The user has reached its limit of connections.
    package static let tooManyConnections = DisconnectCode(4106, "too many connections")

    /// Whether the end of the connection removes the user from its live, because the session cannot be resumed (R2.23).
    package var endsMembership: Bool { self == .kickedOffline || self == .tokenExpired || self == .tokenRefused }

    /// Whether a client should reconnect automatically after this code.
    package static func allowsReconnect(after code: UInt16) -> Bool { !(4100...4199).contains(code) }
}
