// SPDX-License-Identifier: Apache-2.0
package import ClientAddress

/// Limits how many WebSockets each client address may open, and how often.
///
/// Several servers on different threads may share one admission. Its methods must return quickly.
package protocol WebSocketAdmission: AnyObject, Sendable {
    /// Admits a connection, and counts it for its client's address until `connectionEnded`.
    ///
    /// Called when a client has connected, or when a trusted proxy has reported the client's address.
    ///
    /// - Throws: The rejection to send if the client has too many connections; the connection is then not counted.
    func admitConnection(from address: IPAddress) throws(HandshakeRejection)
    /// Counts a handshake of an admitted connection, and checks the rate of handshakes.
    ///
    /// Called when a request was received, valid or not, and when the connection has ended before that.
    ///
    /// - Throws: The rejection to send if the client has made too many handshakes.
    func admitHandshake(from address: IPAddress) throws(HandshakeRejection)
    /// Called when an admitted connection has ended.
    func connectionEnded(from address: IPAddress)
    /// Called when the connection of a trusted proxy does not begin with a valid PROXY header.
    func proxyHeaderInvalid()
}
