// SPDX-License-Identifier: Apache-2.0

/// What a token says of its bearer.
package struct TokenClaims: Sendable, Equatable {
    /// The app: 1 to 32 letters, digits, hyphens or underscores.
    package var app: String
    /// The user (`sub`): 1 to 32 letters, digits, hyphens or underscores.
    package var user: String
    /// When the token ends (`exp`), in seconds since 1970.
    package var expires: Int64
    /// What the bearer may do.
    package var role: TokenRole
    /// The user's name as others see it, up to 100 bytes.
    package var name: String?
    /// The address of the user's picture, up to 200 bytes.
    package var avatar: String?

    /// Gathers claims; `fault` says which of them are beyond their limits.
    package init(
        app: String, user: String, expires: Int64, role: TokenRole = .user, name: String? = nil, avatar: String? = nil
    ) {
        self.app = app
        self.user = user
        self.expires = expires
        self.role = role
        self.name = name
        self.avatar = avatar
    }

    /// The most bytes of a name, as everywhere in the protocol.
    package static let nameBytes = 100
    /// The most bytes of a picture's address, as everywhere in the protocol.
    package static let avatarBytes = 200

    /// Which claim is beyond its limit, and what that is; nil: none.
    package var fault: String? {
        for (claim, text) in [("app", self.app), ("sub", self.user)] where !Self.isWord(text) {
            return "\(claim) has \(text.utf8.count) bytes; it is 1 to 32 letters, digits, hyphens or underscores"
        }
        for (claim, text, limit) in [("name", self.name, Self.nameBytes), ("avatar", self.avatar, Self.avatarBytes)] {
            guard let bytes = text?.utf8.count, bytes > limit else { continue }
            return "\(claim) has \(bytes) bytes; at most \(limit) are possible"
        }
        return self.expires < 0 ? "exp is before 1970" : nil
    }

    static func isWord(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            }
    }
}

/// What a bearer may do.
package enum TokenRole: String, Sendable, Codable {
    /// Acts for itself.
    case user
    /// The app's own server: acts for the app.
    case server
}

/// Why a token is refused.
package enum TokenError: Error, Equatable {
    /// It is no token at all, or beyond 8 KB.
    case malformed
    /// No key of its app has its `kid`.
    case unknownKey
    /// Its `alg` is not the one of its key; `none` and all but HS256 and ES256 are refused.
    case badAlgorithm
    /// The signature is not its key's.
    case badSignature
    /// Its time is over.
    case expired
    /// Its time has not come.
    case notYetValid
    /// It is of another app than its key, or than the one asked for.
    case foreignApp
    /// A claim is missing, of another type, or beyond its limit; `fault` names it.
    case badClaims(fault: String)
    /// The key has no secret half; only when signing.
    case cannotSign
}

/// The claims as they stand in the token; every field is checked by `TokenVerifier`.
struct ClaimSet: Codable {
    var app: String
    var sub: String
    var exp: Double
    var nbf: Double?
    var iat: Double?
    var role: String?
    var name: String?
    var avatar: String?
}

/// A token's header.
struct TokenHeader: Decodable {
    let alg: String
    let kid: String
    let hasCritical: Bool

    private enum Keys: String, CodingKey { case alg, kid, crit }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        self.alg = try container.decode(String.self, forKey: .alg)
        self.kid = try container.decodeIfPresent(String.self, forKey: .kid) ?? ""
        self.hasCritical = container.contains(.crit)
    }
}
