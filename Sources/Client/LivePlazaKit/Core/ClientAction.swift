// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// An action that the owner of a `ClientCore` performs.
enum ClientAction: Sendable {
    /// Open a WebSocket: to the next address of the list if `toNextAddress` is true, otherwise to the current one.
    case connect(toNextAddress: Bool)
    /// Send a text frame.
    case send([UInt8])
    /// Close the WebSocket, and ignore its further events.
    case disconnect(code: Int)
    /// Ask the token provider, then call `tokenFetched` or `tokenFailed` of the core.
    case fetchToken
    /// Report the outcome of the call with this handle, which has ended.
    case callEnded(handle: Int, Result<CallResult, ErrorInfo>)
    /// Report an event.
    case event(ClientEvent)
}
