// SPDX-License-Identifier: Apache-2.0

/// The claims of a token about its bearer.
package struct TokenClaims: Sendable, Equatable {
    /// The app: 1 to 32 letters, digits, hyphens or underscores.
    package var app: String
    /// The user (`sub`): 1 to 32 letters, digits, hyphens or underscores.
    package var user: String
    /// When the token expires (`exp`), in seconds since 1970.
    package var expires: Int64
    /// What the bearer may do.
    package var role: TokenRole
    /// The user's name as others see it, up to 100 bytes.
    package var name: String?
    /// The address of the user's picture, up to 200 bytes.
    package var avatar: String?

    /// Makes claims without checking them; `validationError` checks them.
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

    /// The maximum size of a name in bytes, as everywhere in the protocol.
    package static let maxNameBytes = 100
    /// The maximum size of a picture's address in bytes, as everywhere in the protocol.
    package static let maxAvatarBytes = 200

    /// Says which claim is invalid and what is allowed; nil when all claims are valid.
    package var validationError: String? {
        for (claim, text) in [("app", self.app), ("sub", self.user)] where !Self.isIdentifier(text) {
            return "\(claim) has \(text.utf8.count) bytes; it is 1 to 32 letters, digits, hyphens or underscores"
        }
        for (claim, text, limit) in [
            ("name", self.name, Self.maxNameBytes), ("avatar", self.avatar, Self.maxAvatarBytes),
        ] {
            guard let bytes = text?.utf8.count, bytes > limit else { continue }
            return "\(claim) has \(bytes) bytes; at most \(limit) are possible"
        }
        return self.expires < 0 ? "exp is before 1970" : nil
    }

    /// Whether `text` is 1 to 32 ASCII letters, digits, hyphens or underscores.
    static func isIdentifier(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}

/// What a bearer may do.
package enum TokenRole: String, Sendable, Codable {
    /// A user, who acts in its own name.
    case user
    /// The app's own server, which acts in the name of the app.
    case server
}

/// Why a token is rejected, or cannot be signed.
package enum TokenError: Error, Equatable {
    /// The text is not a JWT, is larger than 8 KB, or requires extensions (`crit`).
    case malformed
    /// No app has a key with the token's `kid`.
    case unknownKey
    /// The token's `alg` is not the algorithm of its key, or is neither HS256 nor ES256.
    case badAlgorithm
    /// The signature does not match the key.
    case badSignature
    /// The token has expired.
    case expired
    /// The token is not valid yet.
    case notYetValid
    /// Only other apps have a key with the token's `kid`, or the token's app is not the one that the caller requires.
    case foreignApp
    /// A claim is missing or invalid; `validationError` says which claim and what is allowed.
    case badClaims(validationError: String)
    /// The key has no private part, so it cannot sign.
    case cannotSign
}

/// The claims as they are in the token's JSON, not checked yet.
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
    /// Whether there is a `crit` member, which names extensions that a verifier must know; this verifier knows none.
    let hasCriticalExtensions: Bool

    private enum Keys: String, CodingKey { case alg, kid, crit }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        self.alg = try container.decode(String.self, forKey: .alg)
        // No key has an empty id, so a token without `kid` is rejected as one with an unknown key.
        self.kid = try container.decodeIfPresent(String.self, forKey: .kid) ?? ""
        self.hasCriticalExtensions = container.contains(.crit)
    }
}
