// SPDX-License-Identifier: Apache-2.0
internal import ClientAddress
internal import EventLoop

/// Finds the address of a client behind a proxy, and has the server's `WebSocketAdmission` count its connections.
extension WebSocketConnection {
    /// Reads the PROXY header of a trusted proxy, if one is expected.
    ///
    /// - Returns: The index of the client's first byte in `bytes`; nil while the PROXY header is incomplete, or when
    ///   the connection was ended.
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
            handshake.server?.admission?.proxyHeaderMissing()
            handshake.server?.rejectionCount += 1
            self.stream?.abort()
            return nil
        }
    }

    /// As a server: counts a connection of a client whose address is now known, or rejects it if the client has too
    /// many connections.
    ///
    /// - Returns: Whether the client is admitted.
    @discardableResult func admitClient(_ address: IPAddress, _ server: WebSocketServer) -> Bool {
        self.clientAddress = address
        guard let admission = server.admission else { return true }
        guard let rejection = admission.admitConnection(from: address) else {
            self.admission = admission
            return true
        }
        // Only `maxRejectedConnections` rejected connections wait for their response at the same time; another rejected
        // connection gets no response.
        if self.group.rejectedCount >= WebSocketServer.maxRejectedConnections {
            server.rejectionCount += 1
            self.handshake = nil
            self.stream?.abort()
            return false
        }
        self.group.rejectedCount += 1
        self.isRejected = true
        self.reject(rejection)
        return false
    }

    /// Called when the connection was removed from its group: the admission and the group no longer count it.
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
