// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The close codes that a client treats specially (PROTOCOL.md, section 14).
enum ClientCloseCode {
    static let normal = 1000
    /// The connection ended without a close frame, or could not be opened.
    static let lost = 1006
    static let tokenRefused = Int(DisconnectCode.tokenRefused.code)
    static let tokenExpired = Int(DisconnectCode.tokenExpired.code)
    /// The same session logged in on another connection.
    static let replaced = Int(DisconnectCode.replaced.code)
    /// The user signed in on another device, which the protocol calls `kickedOffline`.
    static let signedInElsewhere = Int(DisconnectCode.kickedOffline.code)
    /// The user has reached the limit of connections.
    static let tooManyConnections = Int(DisconnectCode.tooManyConnections.code)

    /// Whether a client may reconnect by itself after a connection ended with this code.
    static func allowsReconnect(after code: Int) -> Bool {
        UInt16(exactly: code).map { DisconnectCode.allowsReconnect(after: $0) } ?? true
    }
}
