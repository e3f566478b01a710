// SPDX-License-Identifier: Apache-2.0
internal import ClientAddress
internal import EventLoop

/// The handshake of a WebSocket connection: the HTTP request and response that open it.
extension WebSocketConnection {
    /// Handles received bytes of the handshake.
    ///
    /// - Returns: The index in `bytes` at which the frames begin; nil until the WebSocket is open.
    func readHandshake(_ bytes: Span<UInt8>) -> Int? {
        guard let handshake = self.handshake, let start = self.readProxyHeader(bytes, handshake) else { return nil }
        do throws(HandshakeHeadError) {
            guard let (head, headBytes) = try handshake.reader.consume(bytes.extracting(start...)) else { return nil }
            // `handshake.client` is nil on the server's side.
            let isOpen =
                handshake.client.map { self.handleResponse(head, $0) } ?? self.handleRequest(head, handshake)
            return isOpen ? start + headBytes : nil
        } catch {
            switch self.role {
            case .client: self.failHandshake(.malformed)
            case .server: self.rejectHead(error, handshake)
            }
            return nil
        }
    }

    /// As a server: rejects a handshake whose head is not valid HTTP, and counts it for the client's address.
    private func rejectHead(_ headError: HandshakeHeadError, _ handshake: PendingHandshake) {
        do throws(HandshakeRejection) {
            try self.countHandshake(handshake)
            self.reject(headError == .tooLarge ? .headTooLarge : .malformed(.http))
        } catch { self.reject(error) }
    }

    /// As a server: handles the client's request; opens the WebSocket or rejects the handshake.
    ///
    /// - Returns: Whether the WebSocket is open.
    private func handleRequest(_ head: HandshakeHead, _ handshake: PendingHandshake) -> Bool {
        let server = handshake.server
        let configuration = self.group.configuration
        if let server, let proxy = handshake.proxy {
            let forwarded = head.values("x-forwarded-for").joined(separator: ",")
            let client = configuration.trustedProxies.client(
                peer: proxy, forwardedFor: forwarded.isEmpty ? nil : forwarded)
            // Many clients share a proxy's address. Therefore a connection is not counted against the proxy's address
            // when the proxy reports no client.
            if client != proxy, !self.admitClient(client, server) { return false }
        }
        do throws(HandshakeRejection) {
            // The handshake is counted before the request is checked, so that invalid requests count, too.
            try self.countHandshake(handshake)
            let request = try UpgradeRequest(head, policy: configuration.policy)
            // The condition uses `>` and not `>=`, because the group already contains this connection.
            if self.group.count > configuration.maxConnections {
                throw .unavailable(retryAfter: configuration.retryAfter)
            }
            // This method runs only on the server's side, on which the handshake always has a server.
            guard let server else { throw .unavailable(retryAfter: configuration.retryAfter) }
            if let rejection = server.requestFilter?(request) { throw rejection }
            // If the write fails, the stream is ending and will call `streamEnded`.
            _ = try? self.stream?.write(SharedBytes(request.response))
            self.delegate = server.delegate
            self.open(request: request, subprotocol: request.subprotocol)
            return true
        } catch {
            self.reject(error)
            return false
        }
    }

    /// As a server: counts a handshake for the client's address, if that is known.
    ///
    /// - Throws: The rejection of the handshake if the client has made too many of them.
    func countHandshake(_ handshake: PendingHandshake) throws(HandshakeRejection) {
        guard let clientAddress, let admission = handshake.server?.admission else { return }
        try admission.admitHandshake(from: clientAddress)
    }

    /// As a client: handles the server's response.
    ///
    /// - Returns: Whether the WebSocket is open.
    private func handleResponse(_ head: HandshakeHead, _ client: ClientHandshake) -> Bool {
        do throws(HandshakeFailure) {
            self.open(request: nil, subprotocol: try client.check(head))
            return true
        } catch {
            self.failHandshake(error)
            return false
        }
    }

    /// Ends the handshake: the WebSocket is open.
    private func open(request: UpgradeRequest?, subprotocol: String?) {
        self.handshake = nil
        self.subprotocol = subprotocol
        self.state = .open
        self.delegate?.webSocketOpened(self, request)
    }

    /// As a client: ends the connection, because the server did not accept the handshake.
    private func failHandshake(_ failure: HandshakeFailure) {
        self.handshake = nil
        self.closure = WebSocketClosure(code: .abnormal, reason: "", cause: .handshakeFailed(failure))
        self.stream?.abort()
    }

    /// Sends the HTTP response of a rejection, then ends the connection.
    ///
    /// Until the end, further input is read and ignored: closing a socket with unread bytes resets the connection, and
    /// a reset could discard the response.
    func reject(_ rejection: HandshakeRejection) {
        self.handshake?.server?.rejectionCount += 1
        self.handshake = nil
        self.state = .ended
        self.waitsSince = self.group.loop.now
        // If the write fails, the stream is ending and will call `streamEnded`.
        _ = try? self.stream?.write(SharedBytes(rejection.response))
        self.stream?.finish()
    }
}
