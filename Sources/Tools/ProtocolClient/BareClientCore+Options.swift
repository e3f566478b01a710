// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

extension BareClientCore {
    /// The options of a client.
    package struct Options: Sendable {
        /// The token of each login, a JWT.
        package var token: String
        /// The client's session; the server recognises a repeated call by the session and the call's id.
        package var session: SessionID
        /// The name that other users see.
        package var name: String
        package var avatarURL: String
        /// Whether the client reconnects by itself.
        package var reconnectsAutomatically = true
        /// The maximum number of open calls (sent and not answered); further calls are queued.
        package var maxOpenCalls = 16
        /// The maximum number of calls that are open or queued; further calls fail with `overloaded`.
        package var maxUnfinishedCalls = 1000
        /// How long a call may wait for its reply before it fails.
        package var callTimeout = Duration.seconds(15)
        /// The time without a sent frame after which the client sends a ping.
        ///
        /// It must be well below 90 s, because after 90 s the server takes a silent client for gone.
        package var pingInterval = Duration.seconds(20)

        package init(token: String, session: SessionID, name: String = "", avatarURL: String = "") {
            self.token = token
            self.session = session
            self.name = name
            self.avatarURL = avatarURL
        }
    }
}
