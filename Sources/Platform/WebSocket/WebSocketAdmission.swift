// SPDX-License-Identifier: Apache-2.0
package import ClientAddress

/// Limits how many WebSockets each client address may open, and how often.
///
/// Several servers may share one, on different threads. Its methods must return quickly.
package protocol WebSocketAdmission: AnyObject, Sendable {
    /// A client has connected, or its address became known.
    ///
    /// - Returns: nil if it is admitted and counted, until `connectionEnded`; otherwise the rejection to send.
    func connectionOpened(from address: IPAddress) -> HandshakeRejection?
    /// An admitted client has sent a request that opens a WebSocket.
    ///
    /// - Returns: The rejection to send, if any.
    func handshakeReceived(from address: IPAddress) -> HandshakeRejection?
    /// An admitted client's connection has ended.
    func connectionEnded(from address: IPAddress)
    /// A trusted proxy did not begin with a PROXY header.
    func proxyHeaderMissing()
}
