// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The identity and rights that a valid token grants.
package struct TokenIdentity: Hashable, Sendable {
    /// The token's app.
    package var app: AppID
    /// The token's user.
    package var user: UserID
    /// The token's role.
    package var role: CallerRole
    /// The user's displayed name, if the token sets it.
    package var name: String?
    /// The user's avatar, if the token sets it.
    package var avatarURL: String?
    /// When the token expires.
    package var expiresAt: WallTime

    /// Creates an identity.
    package init(
        app: AppID, user: UserID, role: CallerRole, name: String? = nil, avatarURL: String? = nil, expiresAt: WallTime
    ) {
        self.app = app
        self.user = user
        self.role = role
        self.name = name
        self.avatarURL = avatarURL
        self.expiresAt = expiresAt
    }

    /// The token's user within its app.
    package var userKey: UserKey { UserKey(self.app, self.user) }
}

/// Authenticates tokens: nothing is accessible without a valid token (I17 in docs/RULES.md).
package protocol TokenAuthenticator: Sendable {
    /// Returns the identity that `token` proves. Called on the threads of the shards and of the HTTP server.
    ///
    /// - Throws: `tokenExpired` or `tokenInvalid`.
    func authenticate(_ token: String) throws(ReplyError) -> TokenIdentity
}
