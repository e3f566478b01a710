// SPDX-License-Identifier: Apache-2.0
internal import Observability
package import PlazaModel
package import Tokens

/// Checks tokens by the keys of the apps file.
package struct AppsGate: TokenGate {
    private let verifier: TokenVerifier

    /// Reads the apps file.
    ///
    /// - Throws: when it has no keys, or some that are none.
    package init(apps: [UInt8]) throws(KeyringError) {
        self.verifier = TokenVerifier(keyring: try AppKeyring(json: apps))
    }

    /// Why no token could be checked with this apps file; nil when some can.
    package static func fault(in apps: [UInt8]) -> String? {
        guard !apps.isEmpty else { return "name the file with the apps' keys, or give them by --apps-json" }
        do throws(KeyringError) {
            return try AppKeyring(json: apps).apps.isEmpty ? "name at least one app with a key" : nil
        } catch {
            return error.description
        }
    }

    package func admit(_ token: String) throws(ReplyError) -> Admission {
        let claims: TokenClaims
        do throws(TokenError) {
            claims = try self.verifier.verify(token, now: WallClock.milliseconds() / 1000)
        } catch {
            switch error {
            case .expired: throw ReplyError(.tokenExpired, "the token's time is over; get a new one")
            case .badClaims(let fault): throw ReplyError(.tokenInvalid, "the token is not valid here: \(fault)")
            default: throw ReplyError(.tokenInvalid, "the token is not valid here: \(error)")
            }
        }
        return Admission(
            app: AppID(claims.app), user: UserID(claims.user), role: claims.role == .server ? .server : .user,
            name: claims.name, avatarURL: claims.avatar, expiresAt: claims.expires * 1000)
    }
}
