// SPDX-License-Identifier: Apache-2.0
package import ClientAddress

/// Limits how many WebSockets each client address may open, and how often.
///
/// Several servers on different threads may share one admission. Its methods must return quickly.
package protocol WebSocketAdmission: AnyObject, Sendable {
    /// Decides about a client that has connected, or whose address a trusted proxy has stated.
    ///
    /// - Returns: nil if it is admitted; it is then counted until `connectionEnded`. Otherwise the rejection to send.
    func admitConnection(from address: IPAddress) -> HandshakeRejection?
    /// Decides about a handshake of an admitted client: a request that was received, whatever it has in it, or a
    /// connection that has ended before its request was complete.
    ///
    /// - Returns: The rejection to send; nil if the request may be handled.
    func admitHandshake(from address: IPAddress) -> HandshakeRejection?
    /// Called when an admitted client's connection has ended.
    func connectionEnded(from address: IPAddress)
    /// Called when the connection of a trusted proxy does not begin with a PROXY header.
    func proxyHeaderMissing()
}
