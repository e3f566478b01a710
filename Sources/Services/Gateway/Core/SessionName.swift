// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
package import PlazaModel

/// The names of sessions inside the cluster.
///
/// `random` makes names for clients that sent none. `SessionNamer` makes the names that are bound to a user.
package enum SessionName {
    /// Returns a random name, for a client that sent no session name.
    ///
    /// - Parameter bits: Random bits.
    /// - Returns: A name that cannot be guessed.
    package static func random(bits: (UInt64, UInt64)) -> SessionID {
        SessionID(Self.hex(bits.0) + Self.hex(bits.1))
    }

    /// Returns whether the session belongs to an HTTP request; such a session has a single call.
    package static func isHTTPRequest(_ session: SessionID) -> Bool { session.text.hasPrefix(Self.requestPrefix) }

    /// The beginning of the session names of HTTP requests; the names of clients' sessions begin with `s-`.
    fileprivate static let requestPrefix = "h-"

    /// Returns the number as 16 hexadecimal digits.
    fileprivate static func hex(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}

/// Binds the names of sessions to their users, so that no user can continue another user's session.
///
/// Every gateway of a cluster computes the same names, from the same key.
package struct SessionNamer: Sendable {
    /// Returns 32 hexadecimal digits for a text.
    private let digest: @Sendable (String) -> String

    /// Creates a namer.
    ///
    /// - Parameter digest: Computes a message authentication code of a text as 32 hexadecimal digits, the same on every
    ///   gateway. Anyone who can compute the code can continue a session whose name they know.
    package init(digest: @escaping @Sendable (String) -> String) { self.digest = digest }

    /// The namer of a cluster without a session key; its hash is not cryptographic.
    package static let unkeyed = SessionNamer { Self.hash($0, seed: 1) + Self.hash($0, seed: 2) }

    /// Returns the cluster-wide name of a client's session.
    ///
    /// - Parameters:
    ///   - clientSession: The session name that the client sent, or that `SessionName.random` made.
    ///   - user: The session's user.
    /// - Returns: The same name for the same user and session, on every gateway.
    package func name(of clientSession: SessionID, for user: UserKey) -> SessionID {
        SessionID("s-\(self.digest("\(user.text)|\(clientSession.text)"))")
    }

    /// Returns the session name of one HTTP request.
    ///
    /// The name is the same for the same key and call of the same user, so that a repeated request is recognized (I15
    /// in docs/RULES.md) and never gets another request's answer.
    ///
    /// - Parameters:
    ///   - user: The user who makes the request.
    ///   - role: The user's role.
    ///   - key: The caller's idempotency key.
    ///   - call: The call's method and parameters, as text.
    /// - Returns: The same name on every gateway.
    package func nameOfRequest(_ user: UserKey, role: CallerRole, key: String, call: String) -> SessionID {
        SessionID("\(SessionName.requestPrefix)\(self.digest("\(role.rawValue)|\(user.text)|\(key)|\(call)"))")
    }

    /// Returns 16 hexadecimal digits for a text: its FNV-1a hash, whose bits the finalizer of SplitMix64 mixes.
    ///
    /// The constants and shifts are those of SplitMix64; its increment makes the two seeds differ in many bits.
    private static func hash(_ text: String, seed: UInt64) -> String {
        var hash = FNV1a.hash(text, basis: FNV1a.offsetBasis ^ (seed &* 0x9E37_79B9_7F4A_7C15))
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        return SessionName.hex(hash ^ (hash >> 31))
    }
}
