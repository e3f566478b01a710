// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import GatewayCore
internal import Observability
internal import PlazaModel

/// Verifies tokens, and remembers the valid tokens that were used last, so that a token in steady use is verified only
/// once.
///
/// An app's server sends the same token with thousands of HTTP requests, and each check of a signature takes time of
/// the only HTTP thread. A client may log in with the same token again and again. The apps' keys never change while the
/// gateway runs, so a token stays valid until it expires.
final class VerifiedTokens: Sendable {
    /// The largest number of remembered tokens.
    ///
    /// A token has at most 8 KiB, so all tokens together have at most 32 MiB.
    private static let capacity = 4096
    /// The identities by the bytes of their tokens.
    private let identities = Locked(RecentCache<[UInt8], TokenIdentity>(capacity: VerifiedTokens.capacity))

    private let authenticator: any TokenAuthenticator

    init(_ authenticator: any TokenAuthenticator) { self.authenticator = authenticator }

    /// Returns the identity of a token, which is verified unless it was found valid before.
    ///
    /// - Throws: `tokenInvalid` or `tokenExpired`.
    func authenticate(_ token: String) throws(ReplyError) -> TokenIdentity {
        if let known = self.identity(of: token) { return known }
        return try self.verify(token)
    }

    /// Returns the identity of a token that was found valid; nil if it must be verified, for example because it has
    /// expired.
    func identity(of token: String) -> TokenIdentity? {
        let key = Array(token.utf8)
        guard let identity = self.identities.withLock({ $0.value(of: key) }), identity.expiresAt > WallClock.now
        else { return nil }
        return identity
    }

    /// Verifies a token, and remembers it.
    ///
    /// - Throws: `tokenInvalid` or `tokenExpired`.
    func verify(_ token: String) throws(ReplyError) -> TokenIdentity {
        let identity = try self.authenticator.authenticate(token)
        let key = Array(token.utf8)
        self.identities.withLock { $0.store(identity, for: key) }
        return identity
    }
}
