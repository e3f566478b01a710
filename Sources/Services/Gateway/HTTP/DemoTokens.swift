// SPDX-License-Identifier: Apache-2.0
package import ClientAddress
internal import GatewayCore
internal import MachineKit
internal import Observability
internal import PlazaModel
package import Tokens

/// Signs tokens for any name that a page asks for, for trying out (R13.33).
package struct DemoTokens: Sendable {
    private let app: String
    private let key: AppKey
    private let clients: [AddressBlock]

    /// How long a token is valid, in seconds.
    static let lifetime: Int64 = 3600
    /// The addresses of this machine, which may always ask.
    private static let loopback = ["127.0.0.0/8", "::1/128"].compactMap { AddressBlock($0) }

    /// Signs for an app; nil if the app has no key that signs.
    ///
    /// - Parameters:
    ///   - app: the app.
    ///   - keyring: the keys of the apps.
    ///   - clients: the blocks of addresses that may ask besides this machine's.
    package init?(app: String, keyring: AppKeyring, clients: [AddressBlock] = []) {
        guard let key = keyring.signingKey(for: app), key.canSign else { return nil }
        self.app = app
        self.key = key
        self.clients = Self.loopback + clients
    }

    /// Checks who asks, by the headers alone.
    ///
    /// - Parameters:
    ///   - client: the client's address.
    ///   - host: the request's `Host`: a name that a foreign name server may point to this machine is refused.
    ///   - contentType: the request's `Content-Type`: a page of another origin can send JSON only with leave.
    /// - Throws: `noPermission`.
    func check(client: IPAddress?, host: String?, contentType: String?) throws(APIError) {
        guard let client, self.clients.contains(where: { $0.contains(client) }) else {
            throw APIError(.noPermission, "tokens for trying out are given to this machine alone")
        }
        guard let name = host.flatMap({ WebOrigins.hostName(of: $0) }), WebOrigins.isLocalOrAddress(name) else {
            throw APIError(.noPermission, "ask by localhost or by an address")
        }
        guard contentType?.lowercased().hasPrefix("application/json") == true else {
            throw APIError(.badFrame, "the body must be application/json", status: 415)
        }
    }

    /// Signs a token.
    ///
    /// - Parameters:
    ///   - user: the user's id.
    ///   - name: how others see the user.
    ///   - now: the time in seconds since 1970.
    /// - Returns: a JWT.
    /// - Throws: `badParameter` if user or name are not within the limits of claims.
    func token(user: String, name: String?, now: Int64) throws(APIError) -> String {
        if let name, !TextRule.isPlain(name, maxBytes: Limits.userNameBytes) {
            throw APIError(.badParameter, "name is plain text of at most \(Limits.userNameBytes) bytes")
        }
        let claims = TokenClaims(app: self.app, user: user, expires: now + Self.lifetime, role: .user, name: name)
        do throws(TokenError) {
            return try TokenSigner.sign(claims, with: self.key, issued: now)
        } catch {
            throw APIError(.badParameter, claims.validationError ?? "the token cannot be signed")
        }
    }
}
