// SPDX-License-Identifier: Apache-2.0

/// How a key signs.
package enum TokenAlgorithm: String, Sendable, Codable {
    /// HMAC with SHA-256: one secret signs and verifies.
    case hs256 = "HS256"
    /// ECDSA on P-256 with SHA-256: a secret signs, a public key verifies.
    case es256 = "ES256"
}

/// One signing key of an app.
package struct AppKey: Sendable {
    /// The key's name, as tokens say it: 1 to 64 bytes.
    package let kid: String
    /// The only algorithm that it is used with.
    package let algorithm: TokenAlgorithm
    /// Whether it can sign, not only verify.
    package let canSign: Bool
    let handle: KeyHandle

    /// A secret for HS256.
    ///
    /// - Parameters:
    ///   - kid: its name.
    ///   - secret: at least 32 bytes, as RFC 7518 asks.
    /// - Throws: `badKey`.
    package init(kid: String, secret: [UInt8]) throws(KeyringError) {
        try Self.check(kid)
        guard (32...1_024).contains(secret.count) else {
            throw .badKey(kid: kid, reason: "the secret must have 32 to 1024 bytes")
        }
        self.kid = kid
        self.algorithm = .hs256
        self.canSign = true
        self.handle = try KeyHandle(jwk: "{\"kty\":\"oct\",\"k\":\"\(Base64URL.encode(secret))\"}", kid: kid)
    }

    /// A key on P-256 for ES256.
    ///
    /// - Parameters:
    ///   - kid: its name.
    ///   - x: the public point's first coordinate, 32 bytes.
    ///   - y: the public point's second coordinate, 32 bytes.
    ///   - secret: the secret number, 32 bytes, if it is to sign.
    /// - Throws: `badKey`, also when the point is not on the curve.
    package init(kid: String, x: [UInt8], y: [UInt8], secret: [UInt8]?) throws(KeyringError) {
        try Self.check(kid)
        guard x.count == 32, y.count == 32, secret?.count ?? 32 == 32 else {
            throw .badKey(kid: kid, reason: "x, y and d must have 32 bytes each")
        }
        self.kid = kid
        self.algorithm = .es256
        self.canSign = secret != nil
        let half = secret.map { ",\"d\":\"\(Base64URL.encode($0))\"" } ?? ""
        let point = "\"x\":\"\(Base64URL.encode(x))\",\"y\":\"\(Base64URL.encode(y))\""
        self.handle = try KeyHandle(jwk: "{\"kty\":\"EC\",\"crv\":\"P-256\",\(point)\(half)}", kid: kid)
    }

    private static func check(_ kid: String) throws(KeyringError) {
        guard (1...64).contains(kid.utf8.count) else {
            throw .badKey(kid: kid, reason: "its kid must have 1 to 64 bytes")
        }
    }
}

/// Why keys cannot be used.
package enum KeyringError: Error, Equatable, CustomStringConvertible {
    /// The file is not the JSON that is expected.
    case malformed(String)
    /// An app's name is not 1 to 32 letters, digits, hyphens or underscores.
    case badApp(String)
    /// An app has no key.
    case noKeys(app: String)
    /// A key cannot be used.
    case badKey(kid: String, reason: String)

    /// The error in words, with what to do.
    package var description: String {
        switch self {
        case .malformed(let reason): "the keys file is not as it should be: \(reason)"
        case .badApp(let app): "the app '\(app)' must be named with 1 to 32 letters, digits, '-' or '_'"
        case .noKeys(let app): "the app '\(app)' has no key: add one to its \"keys\""
        case .badKey(let kid, let reason): "the key '\(kid)' cannot be used: \(reason)"
        }
    }
}
