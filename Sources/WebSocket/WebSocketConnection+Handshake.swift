// SPDX-License-Identifier: Apache-2.0
internal import EventLoop

/// How a connection becomes a WebSocket.
extension WebSocketConnection {
    /// Takes bytes of the handshake.
    ///
    /// - Returns: Where frames begin in these bytes, once the WebSocket is open.
    func handshakeReceived(_ bytes: Span<UInt8>) -> Int? {
        guard let handshake = self.handshake else { return nil }
        do throws(HTTPHeadError) {
            guard let (head, used) = try handshake.reader.consume(bytes) else { return nil }
            let isOpen = handshake.client.map { self.answered($0, head) } ?? self.asked(head, handshake.server)
            return isOpen ? used : nil
        } catch {
            switch self.role {
            case .client: self.handshakeFailed(.malformed)
            case .server: self.reject(error == .tooLarge ? .headTooLarge : .malformed(.http))
            }
            return nil
        }
    }

    /// As a server: opens the WebSocket, or answers why not.
    private func asked(_ head: HTTPHead, _ server: WebSocketServer?) -> Bool {
        do throws(HandshakeRejection) {
            let configuration = self.group.configuration
            let request = try UpgradeRequest(head, policy: configuration.policy)
            if self.group.count > configuration.maxConnections {
                throw .unavailable(retryAfterSeconds: configuration.retryAfterSeconds)
            }
            guard let server else { throw .unavailable(retryAfterSeconds: configuration.retryAfterSeconds) }
            if let rejection = server.screen?(request) { throw rejection }
            // If it cannot be written, the stream is ending and says so.
            _ = try? self.stream?.write(SharedBytes(request.response))
            self.delegate = server.delegate
            self.opened(request, request.subprotocol)
            return true
        } catch {
            self.reject(error)
            return false
        }
    }

    /// As a client: the server has answered.
    private func answered(_ client: ClientHandshake, _ head: HTTPHead) -> Bool {
        do throws(HandshakeFailure) {
            self.opened(nil, try client.check(head))
            return true
        } catch {
            self.handshakeFailed(error)
            return false
        }
    }

    private func opened(_ request: UpgradeRequest?, _ subprotocol: String?) {
        self.handshake = nil
        self.subprotocol = subprotocol
        self.state = .open
        self.delegate?.webSocketOpened(self, request)
    }

    private func handshakeFailed(_ failure: HandshakeFailure) {
        self.handshake = nil
        self.closure = WebSocketClosure(code: .abnormal, reason: "", cause: .handshakeFailed(failure))
        self.stream?.abort()
    }

    /// Answers with an HTTP status and ends, but reads on, so that no reset overtakes the answer.
    private func reject(_ rejection: HandshakeRejection) {
        self.handshake?.server?.rejections += 1
        self.handshake = nil
        self.state = .ended
        self.waitingSince = self.group.loop.nowMilliseconds
        // If it cannot be written, the stream is ending and says so.
        _ = try? self.stream?.write(SharedBytes(rejection.response))
        self.stream?.finish()
    }
}
