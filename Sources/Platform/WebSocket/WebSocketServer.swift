// SPDX-License-Identifier: Apache-2.0
internal import ClientAddress
package import EventLoop

/// A WebSocket server: accepts connections at one address, on one event loop.
///
/// Its listener retains the server until `stopListening()` or the end of the loop.
package final class WebSocketServer {
    /// The group to which the connections are added; it holds their limits.
    package let group: WebSocketGroup
    /// The first delegate of each WebSocket that opens.
    package let delegate: any WebSocketDelegate
    /// Called with each valid request; if it returns a rejection, the handshake is rejected.
    package var requestFilter: ((UpgradeRequest) -> HandshakeRejection?)?
    /// Limits connections by the client's address; set it before the loop runs.
    package var admission: (any WebSocketAdmission)?
    /// The number of rejected handshakes and connections.
    package internal(set) var rejectionCount = 0
    private var listener: TCPListener?

    /// Begins to listen.
    ///
    /// The owner of the group must check the group's timeouts, with `WebSocketGroup.startSweeping`.
    ///
    /// - Parameters:
    ///   - group: The group to which the connections are added.
    ///   - host: A numeric address of this machine.
    ///   - port: The port, or 0 for any free port.
    ///   - sharesPort: Whether servers of other loops listen at the same address.
    ///   - delegate: The first delegate of each WebSocket that opens.
    /// - Throws: The errors of `TCPListener`.
    package init(
        group: WebSocketGroup, host: String, port: UInt16, sharesPort: Bool = false, delegate: any WebSocketDelegate
    ) throws(LoopError) {
        self.group = group
        self.delegate = delegate
        self.listener = try TCPListener(loop: group.loop, host: host, port: port, sharesPort: sharesPort) {
            [self] stream in self.addConnection(stream)
        }
    }

    /// The port on which the server listens; 0 after `stopListening()`.
    package var port: UInt16 { self.listener?.port ?? 0 }

    /// Accepts no more connections; open connections stay.
    package func stopListening() {
        self.listener?.close()
        self.listener = nil
    }

    private func addConnection(_ stream: TCPStream) {
        let configuration = self.group.configuration
        // Up to `maxRejectedConnections` connections beyond the limit are answered with 503. Further connections are
        // closed at once.
        if self.group.count >= configuration.maxConnections + Self.maxRejectedConnections {
            self.rejectionCount += 1
            return stream.close()
        }
        let handshake = PendingHandshake(server: self, maxBytes: configuration.maxHandshakeBytes)
        let connection = WebSocketConnection(group: self.group, role: .server, handshake: handshake)
        connection.stream = stream
        self.group.add(connection)
        stream.delegate = connection
        stream.pendingLimitBytes = configuration.maxPendingBytes
        if configuration.sendBufferBytes > 0 { stream.setSendBufferSize(configuration.sendBufferBytes) }
        stream.startReading()
        guard let peer = stream.peerAddress else { return stream.abort() }
        if !configuration.trustedProxies.contains(peer) {
            connection.admitClient(peer, self)
        } else if configuration.speaksProxyProtocol {
            handshake.proxyHeaderReader = ProxyHeaderReader()
        } else {
            handshake.proxy = peer
        }
    }

    /// The maximum number of connections beyond a limit that get a response at the same time; further connections are
    /// closed without a response.
    package static let maxRejectedConnections = 64
}
