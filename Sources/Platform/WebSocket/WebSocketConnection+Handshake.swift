// SPDX-License-Identifier: Apache-2.0
internal import ClientAddress
internal import EventLoop

/// The handshake of a connection.
extension WebSocketConnection {
    /// Handles received bytes of the handshake.
    ///
    /// - Returns: The index in `bytes` at which the frames begin; nil until the WebSocket is open.
    func handshakeReceived(_ bytes: Span<UInt8>) -> Int? {
        guard let handshake = self.handshake, let start = self.proxyHeaderReceived(bytes, handshake) else { return nil }
        do throws(HTTPHeadError) {
            guard let (head, used) = try handshake.reader.consume(bytes.extracting(start...)) else { return nil }
            let isOpen =
                handshake.client.map { self.responseReceived(head, $0) } ?? self.requestReceived(head, handshake)
            return isOpen ? start + used : nil
        } catch {
            switch self.role {
            case .client: self.failHandshake(.malformed)
            case .server: self.reject(error == .tooLarge ? .headTooLarge : .malformed(.http))
            }
            return nil
        }
    }

    /// As a server: handles the client's request; opens the WebSocket or rejects the handshake.
    private func requestReceived(_ head: HTTPHead, _ handshake: PendingHandshake) -> Bool {
        let server = handshake.server
        let configuration = self.group.configuration
        if let server, let proxy = handshake.proxy {
            let forwarded = head.values("x-forwarded-for").joined(separator: ",")
            let client = configuration.trustedProxies.client(
                peer: proxy, forwardedFor: forwarded.isEmpty ? nil : forwarded)
            // Many clients come through a proxy, so it counts for nobody if it names none.
            if client != proxy, !self.clientFound(client, server) { return false }
        }
        do throws(HandshakeRejection) {
            let request = try UpgradeRequest(head, policy: configuration.policy)
            // The group already contains this connection, therefore `>` and not `>=`.
            if self.group.count > configuration.maxConnections {
                throw .unavailable(retryAfter: configuration.retryAfter)
            }
            guard let server else { throw .unavailable(retryAfter: configuration.retryAfter) }
            if let rejection = server.requestFilter?(request) { throw rejection }
            if let clientAddress = self.clientAddress,
                let rejection = server.admission?.handshakeReceived(from: clientAddress)
            {
                throw rejection
            }
            // If the write fails, the stream is ending and reports that itself.
            _ = try? self.stream?.write(SharedBytes(request.response))
            self.delegate = server.delegate
            self.open(request, request.subprotocol)
            return true
        } catch {
            self.reject(error)
            return false
        }
    }

    /// Reads the header with which a trusted proxy begins, if one is expected.
    ///
    /// - Returns: The index in these bytes at which the client's own begin, once they do.
    private func proxyHeaderReceived(_ bytes: Span<UInt8>, _ handshake: PendingHandshake) -> Int? {
        guard handshake.proxyHeader != nil else { return 0 }
        do throws(ProxyHeaderError) {
            guard let header = try handshake.proxyHeader?.consume(bytes) else { return nil }
            handshake.proxyHeader = nil
            if let client = header.client, let server = handshake.server, !self.clientFound(client, server) {
                return nil
            }
            return header.used
        } catch {
            handshake.server?.admission?.proxyHeaderMissing()
            handshake.server?.rejections += 1
            self.stream?.abort()
            return nil
        }
    }

    /// As a server: the client's address is known, so it is counted, or rejected if it has too many connections.
    ///
    /// - Returns: Whether the client is admitted.
    @discardableResult func clientFound(_ address: IPAddress, _ server: WebSocketServer) -> Bool {
        self.clientAddress = address
        guard let admission = server.admission else { return true }
        guard let rejection = admission.connectionOpened(from: address) else {
            self.admission = admission
            return true
        }
        if self.group.rejectedCount >= WebSocketServer.maxRejected {
            server.rejections += 1
            self.handshake = nil
            self.stream?.abort()
            return false
        }
        self.group.rejectedCount += 1
        self.isRejected = true
        self.reject(rejection)
        return false
    }

    /// The connection has left its group: it counts no more.
    func left() {
        if let admission = self.admission, let clientAddress = self.clientAddress {
            self.admission = nil
            admission.connectionEnded(from: clientAddress)
        }
        if self.isRejected {
            self.isRejected = false
            self.group.rejectedCount -= 1
        }
    }

    /// As a client: handles the server's response.
    private func responseReceived(_ head: HTTPHead, _ client: ClientHandshake) -> Bool {
        do throws(HandshakeFailure) {
            self.open(nil, try client.check(head))
            return true
        } catch {
            self.failHandshake(error)
            return false
        }
    }

    private func open(_ request: UpgradeRequest?, _ subprotocol: String?) {
        self.handshake = nil
        self.subprotocol = subprotocol
        self.state = .open
        self.delegate?.webSocketOpened(self, request)
    }

    private func failHandshake(_ failure: HandshakeFailure) {
        self.handshake = nil
        self.closure = WebSocketClosure(code: .abnormal, reason: "", cause: .handshakeFailed(failure))
        self.stream?.abort()
    }

    /// Sends the HTTP response of a rejection, then ends the connection.
    ///
    /// The socket is read until then: closing a socket with unread bytes resets the connection, and a reset could
    /// discard the response.
    private func reject(_ rejection: HandshakeRejection) {
        self.handshake?.server?.rejections += 1
        self.handshake = nil
        self.state = .ended
        self.waitingSinceMilliseconds = self.group.loop.nowMilliseconds
        // If the write fails, the stream is ending and reports that itself.
        _ = try? self.stream?.write(SharedBytes(rejection.response))
        self.stream?.finish()
    }
}
