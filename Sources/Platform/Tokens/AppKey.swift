// SPDX-License-Identifier: Apache-2.0
internal import PlazaWire

/// The signature algorithm of a key.
package enum TokenAlgorithm: String, Sendable, Codable {
    /// HMAC with SHA-256: the same secret signs and verifies.
    case hs256 = "HS256"
    /// ECDSA on P-256 with SHA-256: a private key signs, a public key verifies.
    case es256 = "ES256"
}

/// One signing key of an app.
package struct AppKey: Sendable {
    /// The key's id (`kid`) in the headers of tokens: 1 to 64 bytes.
    package let kid: String
    /// The only algorithm with which the key may be used.
    package let algorithm: TokenAlgorithm
    /// Whether the key can sign; every key can verify.
    package let canSign: Bool
    let handle: KeyHandle

    /// An HS256 key.
    ///
    /// - Parameters:
    ///   - kid: the key's id.
    ///   - secret: 32 to 1,024 bytes; RFC 7518 requires at least 32.
    /// - Throws: `badKey` when the id or the secret has another size.
    package init(kid: String, secret: [UInt8]) throws(KeyringError) {
        try Self.validate(kid)
        guard (32...1_024).contains(secret.count) else {
            throw .badKey(kid: kid, reason: "the secret must have 32 to 1024 bytes")
        }
        self.kid = kid
        self.algorithm = .hs256
        self.canSign = true
        self.handle = try KeyHandle(jwk: "{\"kty\":\"oct\",\"k\":\"\(Base64URL.encode(secret))\"}", kid: kid)
    }

    /// An ES256 key on P-256.
    ///
    /// - Parameters:
    ///   - kid: the key's id.
    ///   - x: the public point's first coordinate, 32 bytes.
    ///   - y: the public point's second coordinate, 32 bytes.
    ///   - secret: the private key, 32 bytes; nil if the key only verifies.
    /// - Throws: `badKey`, for example when the point is not on the curve.
    package init(kid: String, x: [UInt8], y: [UInt8], secret: [UInt8]?) throws(KeyringError) {
        try Self.validate(kid)
        guard x.count == 32, y.count == 32, (secret?.count ?? 32) == 32 else {
            throw .badKey(kid: kid, reason: "x, y and d must have 32 bytes each")
        }
        self.kid = kid
        self.algorithm = .es256
        self.canSign = secret != nil
        let privatePart = secret.map { ",\"d\":\"\(Base64URL.encode($0))\"" } ?? ""
        let point = "\"x\":\"\(Base64URL.encode(x))\",\"y\":\"\(Base64URL.encode(y))\""
        self.handle = try KeyHandle(jwk: "{\"kty\":\"EC\",\"crv\":\"P-256\",\(point)\(privatePart)}", kid: kid)
    }

    private static func validate(_ kid: String) throws(KeyringError) {
        guard (1...64).contains(kid.utf8.count) else {
            throw .badKey(kid: kid, reason: "its kid must have 1 to 64 bytes")
        }
    }
}

/// Why the keys file or one of its keys cannot be used.
package enum KeyringError: Error, Equatable, CustomStringConvertible {
    /// The keys file does not contain the expected JSON.
    case malformed(String)
    /// An app's name is not 1 to 32 letters, digits, hyphens or underscores.
    case badApp(String)
    /// An app has no key.
    case noKeys(app: String)
    /// A key cannot be used.
    case badKey(kid: String, reason: String)

    /// The error in words, with a remedy.
    package var description: String {
        switch self {
        case .malformed(let reason): "the keys file is malformed: \(reason)"
        case .badApp(let app): "the app '\(app)' must be named with 1 to 32 letters, digits, '-' or '_'"
        case .noKeys(let app): "the app '\(app)' has no key: add one to its \"keys\""
        case .badKey(let kid, let reason): "the key '\(kid)' cannot be used: \(reason)"
        }
    }
}
