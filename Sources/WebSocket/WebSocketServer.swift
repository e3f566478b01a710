// SPDX-License-Identifier: Apache-2.0
package import EventLoop

/// Accepts WebSockets at one address, on one loop.
///
/// It lives until `stopListening()` or the end of its loop.
package final class WebSocketServer {
    /// The connections and their limits.
    package let group: WebSocketGroup
    /// Who gets each WebSocket that opens.
    package let delegate: any WebSocketDelegate
    /// Asked about each request that is well-formed; what it gives back is the answer instead of an upgrade.
    package var screen: ((UpgradeRequest) -> HandshakeRejection?)?
    /// How many requests were answered with anything but an upgrade.
    package internal(set) var rejections = 0
    private var listener: TCPListener?

    /// Begins to listen.
    ///
    /// The group's times are its owner's to watch, by `WebSocketGroup.startSweeping` or `sweep`.
    ///
    /// - Parameters:
    ///   - group: What the connections belong to.
    ///   - host: A numeric address of this machine.
    ///   - port: The port, or 0 for any free one.
    ///   - sharesPort: Whether servers of other loops listen there too.
    ///   - delegate: Who gets each WebSocket that opens.
    /// - Throws: As `TCPListener`.
    package init(
        group: WebSocketGroup, host: String, port: UInt16, sharesPort: Bool = false, delegate: any WebSocketDelegate
    ) throws(LoopError) {
        self.group = group
        self.delegate = delegate
        self.listener = try TCPListener(loop: group.loop, host: host, port: port, sharesPort: sharesPort) {
            [self] stream in self.accepted(stream)
        }
    }

    /// The port it listens on.
    package var port: UInt16 { self.listener?.port ?? 0 }

    /// Takes no more connections; those there are stay.
    package func stopListening() {
        self.listener?.close()
        self.listener = nil
    }

    private func accepted(_ stream: TCPStream) {
        let configuration = self.group.configuration
        // Somewhat beyond the limit there is time for a 503; far beyond it there is not.
        if self.group.count >= configuration.maxConnections + 1_024 {
            self.rejections += 1
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
    }
}
