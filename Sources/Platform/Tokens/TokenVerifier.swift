// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
package import MachineKit
internal import PlazaWire

/// Verifies tokens: JWTs signed by a key of an app, with the algorithm of that key (HS256 or ES256) and no other.
package struct TokenVerifier: Sendable {
    /// The maximum size of a token in bytes.
    package static let maxBytes = 8_192
    /// How far the clock of the signer may be ahead of this clock, in seconds.
    package static let leewaySeconds: Int64 = 30

    private let keyring: AppKeyring

    /// Makes a verifier that accepts the keys in `keyring`.
    package init(keyring: AppKeyring) { self.keyring = keyring }

    /// Verifies a token and returns its claims.
    ///
    /// - Parameters:
    ///   - token: a JWT in compact form.
    ///   - time: the current time of day.
    ///   - app: the only app whose tokens are accepted; nil accepts the tokens of all apps.
    /// - Returns: the claims, within their limits.
    /// - Throws: the reason why the token is rejected.
    package func verify(_ token: String, at time: WallTime, app: String? = nil) throws(TokenError) -> TokenClaims {
        guard token.utf8.count <= Self.maxBytes else { throw .malformed }
        let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let headerBytes = Base64URL.decode(parts[0]),
            let payload = Base64URL.decode(parts[1]), Base64URL.decode(parts[2]) != nil,
            // The signature is not verified yet, so anybody may have written the header. The decoder would take long to
            // compare texts with many combining marks. The header must be ASCII, in which marks can only be escape
            // sequences; `checkClientJSON` rejects too many of these.
            headerBytes.allSatisfy({ $0 < 0x80 }), (try? Wire.checkClientJSON(headerBytes, at: "the header")) != nil,
            let header = try? JSONDecoder().decode(TokenHeader.self, from: Data(headerBytes)),
            !header.hasCriticalExtensions
        else { throw .malformed }
        guard let algorithm = TokenAlgorithm(rawValue: header.alg) else { throw .badAlgorithm }
        let claimSet = try Self.decode(payload)
        // The key of the app that the payload claims; the signature then proves the claim.
        guard let key = self.keyring.key(header.kid, of: claimSet.app) else {
            throw self.keyring.hasKey(header.kid) ? .foreignApp : .unknownKey
        }
        guard key.algorithm == algorithm else { throw .badAlgorithm }
        guard key.handle.verifies(token) else { throw .badSignature }
        let claims = try Self.claims(claimSet)
        if let app, app != claims.app { throw .foreignApp }
        let now = time.seconds
        guard claims.expires > now else { throw .expired }
        for (claim, startTime) in [("nbf", claimSet.nbf), ("iat", claimSet.iat)] {
            if let startTime, try Self.seconds(startTime, claim) > now + Self.leewaySeconds { throw .notYetValid }
        }
        return claims
    }

    /// Decodes the payload; the error names the claim that is missing or has another type.
    private static func decode(_ payload: [UInt8]) throws(TokenError) -> ClaimSet {
        // The decoder hashes the names, and the app is looked up, before the signature is verified. Both take long for
        // texts with many combining marks. Therefore long runs of these marks are rejected first, as in `verify`.
        do throws(WireError) {
            try Wire.checkClientJSON(payload, at: "the payload")
        } catch {
            guard case .badField = error else { throw .badClaims(validationError: "the payload is not a JSON object") }
            throw .badClaims(validationError: error.message)
        }
        do {
            return try JSONDecoder().decode(ClaimSet.self, from: Data(payload))
        } catch DecodingError.keyNotFound(let key, _) {
            throw .badClaims(validationError: "\(key.stringValue) is missing")
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
            throw .badClaims(
                validationError: "\(context.codingPath.first?.stringValue ?? "the payload") is of another type")
        } catch {
            throw .badClaims(validationError: "the payload is not a JSON object")
        }
    }

    /// Converts the decoded claims, and checks their values.
    private static func claims(_ claimSet: ClaimSet) throws(TokenError) -> TokenClaims {
        // A token without a role is a user's; an unknown role is invalid.
        guard let role = claimSet.role.map({ TokenRole(rawValue: $0) }) ?? .user else {
            throw .badClaims(validationError: "role is user or server")
        }
        let claims = TokenClaims(
            app: claimSet.app, user: claimSet.sub, expires: try self.seconds(claimSet.exp, "exp"), role: role,
            name: claimSet.name, avatar: claimSet.avatar)
        if let validationError = claims.validationError { throw .badClaims(validationError: validationError) }
        return claims
    }

    /// Converts a time of a JWT, which may have a fraction, to whole seconds; values over 2^53 are invalid.
    private static func seconds(_ time: Double, _ claim: String) throws(TokenError) -> Int64 {
        guard time.magnitude <= 9_007_199_254_740_992 else {
            throw .badClaims(validationError: "\(claim) is not a valid time")
        }
        return Int64(time.rounded(.down))
    }
}

/// Signs tokens, as an app's server does.
package enum TokenSigner {
    /// Signs a token with these claims.
    ///
    /// - Parameters:
    ///   - claims: the claims, within their limits.
    ///   - key: a key that can sign.
    ///   - issued: the time of signing (`iat`) in seconds since 1970; nil to leave `iat` out.
    /// - Returns: a JWT in compact form.
    /// - Throws: `badClaims` when a claim is invalid, `cannotSign` when the key cannot sign.
    package static func sign(
        _ claims: TokenClaims, with key: AppKey, issued: Int64? = nil
    ) throws(TokenError) -> String {
        if let validationError = claims.validationError { throw .badClaims(validationError: validationError) }
        guard key.canSign else { throw .cannotSign }
        let claimSet = ClaimSet(
            app: claims.app, sub: claims.user, exp: Double(claims.expires), iat: issued.map(Double.init),
            role: claims.role == .user ? nil : claims.role.rawValue, name: claims.name, avatar: claims.avatar)
        guard let payload = try? JSONEncoder().encode(claimSet),
            let token = key.handle.sign(Array(payload), algorithm: key.algorithm, kid: key.kid)
        else { throw .cannotSign }
        return token
    }
}
