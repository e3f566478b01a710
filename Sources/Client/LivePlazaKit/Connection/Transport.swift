// SPDX-License-Identifier: Apache-2.0

/// Opens WebSockets for a client.
///
/// `URLSessionTransport` is the one of Apple systems. On other systems use the one of the product `LivePlazaTransport`.
public protocol Transport: Sendable {
    /// Begins to open a WebSocket with the subprotocol `liveplaza.v1`.
    ///
    /// - Parameters:
    ///   - address: the gateway's address, such as `wss://live.example.com/v1`.
    ///   - onEvent: takes what happens on the connection, from any thread, one event at a time and in order. `closed` is
    ///     the last event. An attempt that fails is `closed` with code 1006.
    /// - Returns: the connection, which the client closes.
    /// - Throws: an error if another attempt would fail as well, such as for an address that is none.
    func connect(
        to address: String, onEvent: @escaping @Sendable (TransportEvent) -> Void
    ) throws(ErrorInfo) -> any TransportConnection
}

/// What happens on a connection of a transport.
public enum TransportEvent: Sendable, Hashable {
    /// The connection is open.
    case opened
    /// A text was received; its UTF-8 bytes.
    case text([UInt8])
    /// A binary message was received, which the protocol has not.
    case binary
    /// The connection has ended with this close code; 1006 without a close frame, and when it could not be opened.
    case closed(code: Int)
}

/// A WebSocket of a transport.
///
/// Its methods return at once and may be called on any thread.
public protocol TransportConnection: Sendable {
    /// Sends a text, given as UTF-8 bytes.
    func send(_ text: [UInt8])
    /// Closes the connection with this close code.
    func close(code: Int)
}
