// SPDX-License-Identifier: Apache-2.0
package import ClientAddress
internal import GatewayCore
internal import MachineKit
internal import Observability
internal import PlazaModel
package import Tokens

/// Signs demo tokens: tokens for any user that a page names, without authentication (R13.33, docs/RULES.md).
package struct DemoTokens: Sendable {
    private let app: String
    private let key: AppKey
    /// The blocks of addresses whose clients may get tokens.
    private let clients: [AddressBlock]

    /// How long a token is valid.
    static let lifetimeSeconds: Int64 = 3600
    /// The addresses of this machine, whose clients always may get tokens.
    private static let loopbackBlocks = ["127.0.0.0/8", "::1/128"].compactMap { AddressBlock($0) }

    /// Creates a signer for an app; nil if the app has no key that can sign.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - keyring: The keys of the apps.
    ///   - clients: The blocks of addresses whose clients may get tokens, besides this machine's.
    package init?(app: String, keyring: AppKeyring, clients: [AddressBlock] = []) {
        guard let key = keyring.signingKey(for: app), key.canSign else { return nil }
        self.app = app
        self.key = key
        self.clients = Self.loopbackBlocks + clients
    }

    /// Checks whether a request may get a token; uses only the client's address and the headers.
    ///
    /// A page of a foreign site must not get a token through a browser on this machine. The site's name server could
    /// map the site's name to this machine (DNS rebinding), so only `localhost` and addresses are accepted as host. The
    /// content type must be JSON, because a browser sends JSON for a page of another origin only if the server allows
    /// that, and this server does not.
    ///
    /// - Parameters:
    ///   - client: The client's address.
    ///   - host: The request's `Host`.
    ///   - contentType: The request's `Content-Type`.
    ///   - isForwarded: Whether the headers say that a proxy forwards the request. A forwarded request whose `client`
    ///     is an address of this machine is rejected: the address is that of a proxy that is not trusted, and anybody
    ///     may be behind this proxy.
    /// - Throws: `noPermission`, or status 415 for another content type.
    func check(client: IPAddress?, host: String?, contentType: String?, isForwarded: Bool) throws(APIError) {
        guard let client, self.clients.contains(where: { $0.contains(client) }) else {
            throw APIError(.noPermission, "tokens for trying out are given to this machine alone")
        }
        if isForwarded, Self.loopbackBlocks.contains(where: { $0.contains(client) }) {
            throw APIError(.noPermission, "ask without a proxy")
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
    ///   - user: The user's id.
    ///   - name: The user's displayed name, if any.
    ///   - now: The current time of day.
    /// - Returns: A JWT.
    /// - Throws: `badParameter` if the user's id or name exceeds the limits of claims.
    func token(user: String, name: String?, at now: WallTime) throws(APIError) -> String {
        if let name, !TextRule.isPlain(name, maxBytes: Limits.userNameBytes) {
            throw APIError(.badParameter, "name is plain text of at most \(Limits.userNameBytes) bytes")
        }
        let claims = TokenClaims(
            app: self.app, user: user, expires: now.seconds + Self.lifetimeSeconds, role: .user, name: name)
        do throws(TokenError) {
            return try TokenSigner.sign(claims, with: self.key, issued: now.seconds)
        } catch {
            throw APIError(.badParameter, claims.validationError ?? "the token cannot be signed")
        }
    }
}
