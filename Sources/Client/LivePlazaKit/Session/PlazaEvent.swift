// SPDX-License-Identifier: Apache-2.0

/// An event of a client that no store shows.
public enum PlazaEvent: Sendable, Hashable {
    /// The server violated the protocol, and its frame was dropped; or the token provider failed, and will be asked
    /// again.
    case fault(ErrorInfo)
    /// The client was logged in, its connection has ended, and it does not reconnect. `code` is the WebSocket close
    /// code.
    case connectionEnded(code: Int, ErrorInfo)
}
