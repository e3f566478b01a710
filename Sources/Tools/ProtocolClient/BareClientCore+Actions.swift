// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

extension BareClientCore {
    /// An action that the code around the core, which has the socket, must perform.
    package enum Action: Hashable, Sendable {
        /// Open a WebSocket: if `toNextAddress`, to the next address in the list, otherwise to the current address.
        case connect(toNextAddress: Bool)
        /// Send a text frame with these bytes.
        case send([UInt8])
        /// Close the WebSocket; `disconnected` must be called afterwards, as after any close.
        case disconnect
        /// Report the outcome of the call with this id.
        case callEnded(Int64, Outcome)
        /// Report an event.
        case event(Event)
    }

    /// An event for the user of the client.
    package enum Event: Hashable, Sendable {
        /// The client is logged in for the first time, or after a reconnect while it was in no live.
        ///
        /// A client that was in a live gets `resumed` after a reconnect instead.
        case loggedIn(UserInfo)
        /// The client is in its live again after a reconnect.
        ///
        /// If `replayed` is false, the server does not send the missed items, so the app should load the details of the
        /// live again.
        case resumed(LiveID, replayed: Bool)
        /// The live could not be resumed.
        case resumeFailed(LiveID, ReplyError)
        /// The counts of the live's viewers have changed.
        case counts(LiveCount)
        /// A message to this user was received.
        case notice(Notice)
        /// The gateway stops soon; the client will reconnect.
        case draining
        /// The connection was lost; the client will reconnect.
        case disconnected(code: UInt16)
        /// The client has ended and will not reconnect.
        case ended(code: UInt16)
    }

    /// The states of a client.
    package enum State: Hashable, Sendable {
        /// `start` was not called yet; `connecting` follows.
        case idle
        /// A WebSocket is being opened; `loggingIn` or `waiting` follows.
        case connecting
        /// The login was sent; `open`, `waiting` or `ended` follows.
        case loggingIn
        /// Calls are sent and answered; `waiting` or `ended` follows.
        case open
        /// The client reconnects at the time `until`; `connecting` follows.
        case waiting(until: MonotonicTime)
        /// The client has ended and cannot be restarted.
        case ended
    }
}
