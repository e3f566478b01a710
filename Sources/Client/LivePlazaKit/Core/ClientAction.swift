// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// An action that the engine performs for `ClientCore`, the client's protocol logic without IO.
enum ClientAction: Sendable {
    /// Open a WebSocket to a gateway.
    ///
    /// If `toNextAddress` is true, take the next of the gateway addresses that the app has given. Otherwise take the
    /// same address as before.
    case connect(toNextAddress: Bool)
    /// Send a text frame.
    case send([UInt8])
    /// Close the WebSocket, and ignore its further events.
    case disconnect(code: Int)
    /// Ask the app's token provider for a token, then call the core's `tokenFetched` or `tokenFailed`.
    case fetchToken
    /// Report the outcome of a call to the part of the client that made the call.
    ///
    /// `handle`: the number that `ClientCore.call` has returned for the call.
    case callEnded(handle: Int, Result<CallResult, ErrorInfo>)
    /// Report an event, such as a lost connection or new items of a live's feed.
    case event(ClientEvent)
}
