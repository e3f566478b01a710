// SPDX-License-Identifier: Apache-2.0
internal import ClientAddress
internal import EventLoop

/// Finds the address of a client behind a proxy, and has the server's `WebSocketAdmission` count its connections.
extension WebSocketConnection {
    /// Reads the PROXY header of a trusted proxy, if one is expected.
    ///
    /// - Returns: The index of the client's first byte in `bytes`; nil while the PROXY header is incomplete, and
    ///   when the connection ends because the header is invalid or its client is rejected.
    func readProxyHeader(_ bytes: Span<UInt8>, _ handshake: PendingHandshake) -> Int? {
        guard handshake.proxyHeaderReader != nil else { return 0 }
        do throws(ProxyHeaderError) {
            guard let header = try handshake.proxyHeaderReader?.consume(bytes) else { return nil }
            handshake.proxyHeaderReader = nil
            if let client = header.client, let server = handshake.server, !self.admitClient(client, server) {
                return nil
            }
            return header.usedBytes
        } catch {
            handshake.server?.admission?.proxyHeaderInvalid()
            handshake.server?.rejectionCount += 1
            self.stream?.abort()
            return nil
        }
    }

    /// As a server: records the client's address, and asks the server's admission whether the client may have this
    /// connection.
    ///
    /// If not, this method rejects the connection.
    ///
    /// - Returns: Whether the connection is admitted.
    @discardableResult func admitClient(_ address: IPAddress, _ server: WebSocketServer) -> Bool {
        self.clientAddress = address
        guard let admission = server.admission else { return true }
        do throws(HandshakeRejection) {
            try admission.admitConnection(from: address)
            self.admission = admission
            return true
        } catch {
            self.rejectConnection(error, server)
            return false
        }
    }

    /// Ends a connection that the admission has rejected, with a response if few such connections are open.
    ///
    /// A rejected connection stays open until its response is sent. Without a limit, one client could keep any number
    /// of rejected connections open.
    private func rejectConnection(_ rejection: HandshakeRejection, _ server: WebSocketServer) {
        if self.group.rejectedCount >= WebSocketServer.maxRejectedConnections {
            server.rejectionCount += 1
            self.handshake = nil
            self.stream?.abort()
            return
        }
        self.group.rejectedCount += 1
        self.isRejected = true
        self.reject(rejection)
    }

    /// Called when the connection was removed from its group: from now on neither the admission nor
    /// `rejectedCount` counts it.
    func removedFromGroup() {
        if let admission = self.admission, let clientAddress = self.clientAddress {
            self.admission = nil
            admission.connectionEnded(from: clientAddress)
        }
        if self.isRejected {
            self.isRejected = false
            self.group.rejectedCount -= 1
        }
    }
}
