// SPDX-License-Identifier: Apache-2.0
import MachineKit
import Observability
import PlazaModel
import PlazaWire
import Testing
import Tokens

@testable import Gateway

/// Clients of the fake cluster's gateway, and their tokens.
extension FakeCluster {
    /// Connects a client, and makes a login; a rejected login is returned, not thrown.
    ///
    /// - Parameters:
    ///   - user: The user of the login's token.
    ///   - session: The session to continue; if nil, the gateway creates one.
    ///   - resume: The live in which the client was, with its last position in the live's feed; nil if none.
    ///   - notices: The id of the last notice (a message to one user) that the client has; nil if none.
    ///   - firstID: The id of the login; each later call gets the next id. A client that continues a session needs ids
    ///     above those of the session's earlier calls, because a call with an earlier id repeats that call.
    ///   - receiveBuffer: The size of the socket's receive buffer in bytes.
    ///   - role: Whether the caller is a user or an app's server.
    /// - Returns: the client, and the outcome of its login.
    /// - Throws: if the gateway cannot be reached or does not answer.
    func client(
        _ user: String, session: String? = nil, resume: ResumePoint? = nil, notices: String? = nil, firstID: Int64 = 1,
        receiveBuffer: Int32? = nil, role: TokenRole = .user
    ) throws -> (client: WireClient, login: Outcome) {
        let client = try WireClient(port: self.gateway.port, firstID: firstID, receiveBuffer: receiveBuffer)
        let params = LoginParams(
            token: Tokens.token(user, role: role), session: session, resume: resume, notices: notices)
        return (client, try client.call("login", String(decoding: Wire.encode(params), as: UTF8.self)))
    }

    /// Returns a client that has joined a live.
    func viewer(_ user: String, of live: String, session: String? = nil, receiveBuffer: Int32? = nil) throws
        -> WireClient
    {
        let (client, _) = try self.client(user, session: session, receiveBuffer: receiveBuffer)
        guard case .success(.joined) = try client.call("live.join", "{\"live\":\"\(live)\"}") else {
            throw WireClient.Failure(description: "\(user) could not join \(live)")
        }
        return client
    }

    /// Login tokens of the two test apps, `demo` and `other`, and the apps file with their keys.
    enum Tokens {
        /// The bytes of the apps file, a JSON document with the apps' keys.
        static let appsFile = Array(
            """
            {"apps":{"demo":{"keys":[{"kid":"k1","alg":"HS256","k":"\(key)"}]},
            "other":{"keys":[{"kid":"k2","alg":"HS256","k":"\(otherKey)"}]}}}
            """.utf8)
        /// The HMAC key of `demo` in base64url; its bytes are 0x00 to 0x1F.
        static let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
        /// The HMAC key of `other` in base64url; its bytes are 0x20 to 0x3F.
        static let otherKey = "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8"

        /// Returns a signed token that expires in `secondsFromNow` seconds; with a negative number it has expired.
        ///
        /// If the token cannot be signed, the error is recorded as an issue of the test, and the token is empty.
        static func token(
            _ user: String, app: String = "demo", role: TokenRole = .user, name: String? = nil,
            secondsFromNow: Int64 = 600
        ) -> String {
            let claims = TokenClaims(
                app: app, user: user, expires: WallClock.now.seconds + secondsFromNow, role: role, name: name
            )
            do {
                let key = try #require(AppKeyring(json: Self.appsFile).signingKey(for: app), "no key of \(app)")
                return try TokenSigner.sign(claims, with: key)
            } catch {
                Issue.record(error)
                return ""
            }
        }
    }
}
