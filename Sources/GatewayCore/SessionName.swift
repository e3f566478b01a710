// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// How sessions are named inside the cluster: bound to app and user by a hash of all three names, so that nobody continues
/// another's session, whatever it calls its own, and every gateway comes to the same name.
package enum SessionName {
    /// What a client calls a session that it did not name itself.
    ///
    /// - Parameter bits: unforeseeable bits.
    /// - Returns: a name that nobody guesses.
    package static func fresh(bits: (UInt64, UInt64)) -> SessionID {
        SessionID(Self.hex(bits.0) + Self.hex(bits.1))
    }

    /// The session's name in the cluster.
    ///
    /// - Parameters:
    ///   - given: what the client calls it.
    ///   - user: whose it is.
    /// - Returns: the same name for the same user and session, on every gateway.
    package static func bound(_ given: SessionID, to user: UserKey) -> SessionID {
        let text = "\(user.text)|\(given.text)"
        return SessionID("s-\(Self.hex(Self.hash(text, 1)))\(Self.hex(Self.hash(text, 2)))")
    }

    /// The session of one request over HTTP: the same for the same key and call of the same user, so that a request that is
    /// sent again is known as such (I15), and none gets another's answer.
    ///
    /// - Parameters:
    ///   - user: whose request it is.
    ///   - role: as what.
    ///   - key: what the caller calls the request.
    ///   - call: what it asks for, whole.
    /// - Returns: the same name on every gateway.
    package static func ofRequest(_ user: UserKey, role: CallerRole, key: String, call: String) -> SessionID {
        let text = "\(role.rawValue)|\(user.text)|\(key)|\(call)"
        return SessionID("\(Self.requestPrefix)\(Self.hex(Self.hash(text, 1)))\(Self.hex(Self.hash(text, 2)))")
    }

    /// Whether the session is of a request over HTTP.
    package static func isOfRequest(_ session: SessionID) -> Bool { session.text.hasPrefix(Self.requestPrefix) }

    private static let requestPrefix = "h-"

    private static func hash(_ text: String, _ seed: UInt64) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ (seed &* 0x9E37_79B9_7F4A_7C15)
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        return hash ^ (hash >> 31)
    }

    private static func hex(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
