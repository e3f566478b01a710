// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials

/// Checks tokens: JWTs signed by an app's key, with HS256 or ES256 as that key says and no other.
package struct TokenVerifier: Sendable {
    /// How many bytes a token may have.
    package static let maximumBytes = 8_192
    /// How far the clock of who signed may be ahead, in seconds.
    package static let leewaySeconds: Int64 = 30

    private let keyring: AppKeyring

    /// Checks against these keys.
    package init(keyring: AppKeyring) { self.keyring = keyring }

    /// Checks a token and gives what it says.
    ///
    /// - Parameters:
    ///   - token: a JWT in compact form.
    ///   - now: the time in seconds since 1970.
    ///   - app: the only app whose tokens are accepted, if there is one.
    /// - Returns: claims within their limits.
    /// - Throws: why the token is refused.
    package func verify(_ token: String, now: Int64, app: String? = nil) throws(TokenError) -> TokenClaims {
        guard token.utf8.count <= Self.maximumBytes else { throw .malformed }
        let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let headerBytes = Base64URL.decode(parts[0]),
            let payload = Base64URL.decode(parts[1]), Base64URL.decode(parts[2]) != nil,
            let header = try? JSONDecoder().decode(TokenHeader.self, from: Data(headerBytes)), !header.hasCritical
        else { throw .malformed }
        guard let algorithm = TokenAlgorithm(rawValue: header.alg) else { throw .badAlgorithm }
        let set = try Self.set(payload)
        guard let key = self.keyring.key(header.kid, of: set.app) else {
            throw self.keyring.knows(header.kid) ? .foreignApp : .unknownKey
        }
        guard key.algorithm == algorithm else { throw .badAlgorithm }
        guard key.handle.verifies(token) else { throw .badSignature }
        let claims = try Self.claims(set)
        if let app, app != claims.app { throw .foreignApp }
        guard claims.expires > now else { throw .expired }
        for (claim, time) in [("nbf", set.nbf), ("iat", set.iat)] {
            if let time, try Self.seconds(time, claim) > now + Self.leewaySeconds { throw .notYetValid }
        }
        return claims
    }

    private static func set(_ payload: [UInt8]) throws(TokenError) -> ClaimSet {
        do {
            return try JSONDecoder().decode(ClaimSet.self, from: Data(payload))
        } catch DecodingError.keyNotFound(let key, _) {
            throw .badClaims(fault: "\(key.stringValue) is missing")
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
            throw .badClaims(fault: "\(context.codingPath.first?.stringValue ?? "the payload") is of another type")
        } catch {
            throw .badClaims(fault: "the payload is not a JSON object")
        }
    }

    private static func claims(_ set: ClaimSet) throws(TokenError) -> TokenClaims {
        guard let role = set.role.map({ TokenRole(rawValue: $0) }) ?? .user else {
            throw .badClaims(fault: "role is user or server")
        }
        let claims = TokenClaims(
            app: set.app, user: set.sub, expires: try self.seconds(set.exp, "exp"), role: role, name: set.name,
            avatar: set.avatar)
        if let fault = claims.fault { throw .badClaims(fault: fault) }
        return claims
    }

    /// A JWT's time may have a fraction; beyond 2^53 it is no time.
    private static func seconds(_ time: Double, _ claim: String) throws(TokenError) -> Int64 {
        guard time.magnitude <= 9_007_199_254_740_992 else { throw .badClaims(fault: "\(claim) is no time") }
        return Int64(time.rounded(.down))
    }
}

/// Makes tokens, as an app's server does.
package enum TokenSigner {
    /// A token of these claims.
    ///
    /// - Parameters:
    ///   - claims: within their limits.
    ///   - key: one that can sign.
    ///   - issued: the time in seconds since 1970, told as `iat`, if wanted.
    /// - Returns: a JWT in compact form.
    /// - Throws: `badClaims` or `cannotSign`.
    package static func sign(
        _ claims: TokenClaims, with key: AppKey, issued: Int64? = nil
    ) throws(TokenError) -> String {
        if let fault = claims.fault { throw .badClaims(fault: fault) }
        guard key.canSign else { throw .cannotSign }
        let set = ClaimSet(
            app: claims.app, sub: claims.user, exp: Double(claims.expires), iat: issued.map(Double.init),
            role: claims.role == .user ? nil : claims.role.rawValue, name: claims.name, avatar: claims.avatar)
        guard let payload = try? JSONEncoder().encode(set),
            let token = key.handle.sign(Array(payload), algorithm: key.algorithm, kid: key.kid)
        else { throw .cannotSign }
        return token
    }
}
