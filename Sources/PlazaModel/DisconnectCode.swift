// SPDX-License-Identifier: Apache-2.0

/// Why the server ends a connection: a WebSocket close code whose range says what the client should do.
///
/// 4000 to 4099: reconnect with jitter and resume. 4100 to 4199: do not reconnect before something is changed.
package struct DisconnectCode: Hashable, Sendable {
    package let code: UInt16
    package let reason: String

    package init(_ code: UInt16, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The gateway stops; reconnect elsewhere.
    package static let draining = DisconnectCode(4000, "gateway is stopping")
    /// The reader was too slow for too long; reconnect and resume.
    package static let slowReader = DisconnectCode(4001, "reader too slow")
    /// No login came in time.
    package static let loginTimeout = DisconnectCode(4003, "no login in time")
    /// The token is not valid here.
    package static let tokenRefused = DisconnectCode(4100, "token refused")
    /// The token's time is over.
    package static let tokenExpired = DisconnectCode(4101, "token expired")
    /// The same session logged in elsewhere.
    package static let replaced = DisconnectCode(4102, "session continued elsewhere")
    /// The client broke the protocol.
    package static let protocolViolation = DisconnectCode(4103, "protocol violation")
    /// The client sends more than any client may.
    package static let flooding = DisconnectCode(4104, "too many calls")

    /// The user signed in on another device, in an app that allows one (reference 2, kickedOffline).
    package static let kickedOffline = DisconnectCode(4105, "signed in on another device")

    /// Whether the user's stay in its live ends with the connection: it cannot come back as it is.
    package var endsStay: Bool { self == .kickedOffline || self == .tokenExpired || self == .tokenRefused }

    /// Whether a client that gets this code should connect again by itself.
    package var reconnects: Bool { !(4100...4199).contains(self.code) }
}
