// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import Observability
package import PlazaModel
package import Tokens

/// Authenticates tokens with the keys of the apps file, a JSON document that lists each app and its keys.
package struct AppTokenAuthenticator: TokenAuthenticator {
    private let verifier: TokenVerifier
    /// The number of apps.
    package let appCount: Int

    /// Reads the apps file.
    ///
    /// - Throws: `KeyringError` if the file is invalid.
    package init(apps: [UInt8]) throws(KeyringError) {
        let keyring = try AppKeyring(json: apps)
        self.verifier = TokenVerifier(keyring: keyring)
        self.appCount = keyring.apps.count
    }

    /// Returns what the operator must correct in the apps file; nil if the file is valid and has a key.
    package static func validationError(in apps: [UInt8]) -> String? {
        guard !apps.isEmpty else { return "name the file with the apps' keys, or give them by --apps-json" }
        do throws(KeyringError) {
            return try AppKeyring(json: apps).apps.isEmpty ? "name at least one app with a key" : nil
        } catch {
            return error.description
        }
    }

    package func authenticate(_ token: String) throws(ReplyError) -> TokenIdentity {
        let claims: TokenClaims
        do throws(TokenError) {
            claims = try self.verifier.verify(token, at: WallClock.now)
        } catch {
            switch error {
            case .expired: throw ReplyError(.tokenExpired, "the token's time is over; get a new one")
            case .badClaims(let validationError):
                throw ReplyError(.tokenInvalid, "the token is not valid here: \(validationError)")
            default: throw ReplyError(.tokenInvalid, "the token is not valid here: \(error)")
            }
        }
        // Other users see the profile, so the limits of profiles also apply to a profile in a token (R17.4).
        let profile = [("name", claims.name, Limits.userNameBytes), ("avatar", claims.avatar, Limits.urlBytes)]
        for (claim, text, limit) in profile where !TextRule.isPlain(text ?? "", maxBytes: limit) {
            // The claim is too long, or has control characters.
            throw .notPlain("the token is not valid here: \(claim)", maxBytes: limit, .tokenInvalid)
        }
        return TokenIdentity(
            app: AppID(claims.app), user: UserID(claims.user), role: claims.role == .server ? .server : .user,
            name: claims.name, avatarURL: claims.avatar, expiresAt: .seconds(claims.expires))
    }
}
