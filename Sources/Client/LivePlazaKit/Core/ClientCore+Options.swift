// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

extension ClientCore {
    /// The options of a client.
    struct Options: Sendable {
        /// The client's session.
        ///
        /// The server recognises a repeated call by the session and the call's id.
        var session: SessionID
        /// The first call's id; it must be above all ids that this session has used before.
        var firstID: Int64 = 1
        /// Whether the app has a token provider; without one, the core returns no `fetchToken` action.
        var hasTokenProvider: Bool
        /// The name that others see, unless the token contains one; empty if it is not stated.
        var name = ""
        var avatarURL = ""
        /// How long a call may take.
        var callTimeout = Milliseconds.seconds(15)
        /// A ping is sent when nothing was sent, or nothing received, for this time.
        var pingInterval = Milliseconds.seconds(20)

        init(session: SessionID, hasTokenProvider: Bool) {
            self.session = session
            self.hasTokenProvider = hasTokenProvider
        }
    }
}
