// SPDX-License-Identifier: Apache-2.0

/// Opens WebSockets for a client.
///
/// On Apple systems use `URLSessionTransport`, on other systems the transport of the product `LivePlazaTransport`.
public protocol Transport: Sendable {
    /// Begins to open a WebSocket with the subprotocol `liveplaza.v1`.
    ///
    /// - Parameters:
    ///   - address: the gateway's address, such as `wss://live.example.com/v1`.
    ///   - onEvent: receives the connection's events, on any thread, one at a time and in order. `closed` is the last
    ///     event. If the connection cannot be opened, the only event is `closed` with code 1006.
    /// - Returns: the connection, which the client closes.
    /// - Throws: an error if every further attempt would fail too, for example because of an invalid address.
    func connect(
        to address: String, onEvent: @escaping @Sendable (TransportEvent) -> Void
    ) throws(ErrorInfo) -> any TransportConnection
}

/// An event of a transport's connection.
public enum TransportEvent: Sendable, Hashable {
    /// The connection is open.
    case opened
    /// A text was received; its UTF-8 bytes.
    case text([UInt8])
    /// A binary message was received, which the protocol does not allow.
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
