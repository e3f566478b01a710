// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
package import PlazaModel

/// The names of sessions inside the cluster.
///
/// Each of the three factory methods makes one kind of name. `bound` hashes the app, the user and the session name that
/// the client sent, so that no user can continue another user's session, and every gateway computes the same name.
/// `fresh` is random, for a client that sent no name. `ofRequest` names the session of one HTTP request.
package enum SessionName {
    /// Returns a random name, for a client that sent no session name.
    ///
    /// - Parameter bits: Random bits.
    /// - Returns: A name that cannot be guessed.
    package static func fresh(bits: (UInt64, UInt64)) -> SessionID {
        SessionID(Self.hex(bits.0) + Self.hex(bits.1))
    }

    /// Returns the cluster-wide name of a client's session.
    ///
    /// - Parameters:
    ///   - given: The session name that the client sent, or that `fresh` made.
    ///   - user: The session's user.
    /// - Returns: The same name for the same user and session, on every gateway.
    package static func bound(_ given: SessionID, to user: UserKey) -> SessionID {
        let text = "\(user.text)|\(given.text)"
        return SessionID("s-\(Self.hex(Self.hash(text, 1)))\(Self.hex(Self.hash(text, 2)))")
    }

    /// Returns the session name of one HTTP request.
    ///
    /// The name is the same for the same key and call of the same user, so that a repeated request is recognized (I15,
    /// idempotent calls) and never gets another request's answer.
    ///
    /// - Parameters:
    ///   - user: The user who makes the request.
    ///   - role: The user's role.
    ///   - key: The caller's idempotency key.
    ///   - call: The call's method and parameters, as text.
    /// - Returns: The same name on every gateway.
    package static func ofRequest(_ user: UserKey, role: CallerRole, key: String, call: String) -> SessionID {
        let text = "\(role.rawValue)|\(user.text)|\(key)|\(call)"
        return SessionID("\(Self.requestPrefix)\(Self.hex(Self.hash(text, 1)))\(Self.hex(Self.hash(text, 2)))")
    }

    /// Returns whether the session belongs to an HTTP request.
    package static func isOfRequest(_ session: SessionID) -> Bool { session.text.hasPrefix(Self.requestPrefix) }

    private static let requestPrefix = "h-"

    private static func hash(_ text: String, _ seed: UInt64) -> UInt64 {
        var hash = FNV1a.hash(text, basis: FNV1a.offsetBasis ^ (seed &* 0x9E37_79B9_7F4A_7C15))
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        return hash ^ (hash >> 31)
    }

    private static func hex(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
