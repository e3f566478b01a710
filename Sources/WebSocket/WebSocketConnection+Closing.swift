// SPDX-License-Identifier: Apache-2.0
package import EventLoop

/// How a connection ends, and how overdue peers are found.
extension WebSocketConnection {
    /// The peer's close frame came: an answer to ours, or the first (RFC 6455, section 5.5.1).
    func receivedClose(_ code: CloseCode?, reason: String) {
        if self.state == .open {
            self.closure = WebSocketClosure(code: code ?? .noCode, reason: reason, cause: .peer)
            self.writeClose(code, reason: "")
        }
        self.waitForEnd()
    }

    /// The peer broke the protocol: it is told so, and nothing more is read.
    func failed(_ violation: ProtocolViolation) {
        self.closure = WebSocketClosure(code: violation.closeCode, reason: "", cause: .violation(violation))
        if self.state == .open { self.writeClose(violation.closeCode, reason: "") }
        self.stream?.finish()
        self.waitForEnd()
    }

    /// Sends a close frame, past the limit of what may be pending.
    func writeClose(_ code: CloseCode?, reason: String) {
        guard let stream = self.stream else { return }
        let payload = FrameEncoder.closePayload(code, reason: reason)
        stream.pendingLimitBytes += 256
        // If it cannot be written, the stream is ending and says so.
        _ = try? stream.write(self.encoded(.close, payload.span))
    }

    /// Nothing more is said on either side; TCP ends next, and a server ends it first (RFC 6455, section 7.1.1).
    private func waitForEnd() {
        self.waitingSince = self.group.loop.nowMilliseconds
        if self.role == .server { self.stream?.finish() }
        self.tellClosure(.connection(.closed))
    }

    /// Tells the delegate, once.
    private func tellClosure(_ fallback: WebSocketClosure.Cause) {
        if self.state == .ended { return }
        self.state = .ended
        self.handshake = nil
        let closure = self.closure ?? WebSocketClosure(code: .abnormal, reason: "", cause: fallback)
        self.closure = nil
        let delegate = self.delegate
        self.delegate = nil
        delegate?.webSocketClosed(self, closure)
        self.context = nil
    }

    /// Ends what is overdue, and asks who is silent for a sign of life.
    ///
    /// What is found overdue is ended by the next sweep only: after a pause of this whole process the answer may lie
    /// unread in the socket, and between two sweeps it is read.
    func sweep(now: UInt64) {
        let times = self.group.configuration
        let waited = now - min(now, self.waitingSince)
        let timeout: UInt64
        let cause: WebSocketClosure.Cause
        switch self.state {
        case .connecting: (timeout, cause) = (times.handshakeTimeoutMilliseconds, .handshakeTimeout)
        case .closing, .ended: (timeout, cause) = (times.closeTimeoutMilliseconds, .closeTimeout)
        case .open:
            if !self.awaitsPong {
                let silence = now - min(now, self.lastReceivedMilliseconds)
                if times.pingIntervalMilliseconds > 0, silence >= times.pingIntervalMilliseconds { self.ping() }
                return
            }
            (timeout, cause) = (times.pongTimeoutMilliseconds, .pingTimeout)
        }
        let wasOverdue = self.isOverdue
        self.isOverdue = waited >= timeout
        if !self.isOverdue || !wasOverdue { return }
        if self.state == .ended {
            self.stream?.close()
            self.streamGone()
        } else {
            self.timedOut(cause)
        }
    }

    private func timedOut(_ cause: WebSocketClosure.Cause) {
        if case .own? = self.closure?.cause {
            self.closure?.cause = cause
        } else if self.closure == nil {
            self.closure = WebSocketClosure(code: .abnormal, reason: "", cause: cause)
        }
        self.stream?.abort()
    }

    private func streamGone() {
        self.stream = nil
        self.group.remove(self)
    }
}

extension WebSocketConnection: TCPStreamDelegate {
    /// As a client: TCP stands, so the request goes out.
    package func streamConnected(_ stream: TCPStream) {
        guard let client = self.handshake?.client else { return }
        stream.pendingLimitBytes = self.group.configuration.maxPendingBytes
        stream.startReading()
        // If it cannot be written, the stream is ending and says so.
        _ = try? stream.write(SharedBytes(client.request))
    }

    /// Bytes of the handshake, or of frames.
    package func stream(_ stream: TCPStream, received bytes: inout MutableSpan<UInt8>) {
        self.lastReceivedMilliseconds = self.group.loop.nowMilliseconds
        // Whatever came, the peer is alive. (A handshake that merely trickles is not excused by it.)
        if self.state == .open {
            self.awaitsPong = false
            self.isOverdue = false
        }
        var offset = 0
        if self.state == .connecting {
            guard let used = self.handshakeReceived(bytes.span) else { return }
            offset = used
        }
        if offset < bytes.count { self.decode(&bytes, from: offset) }
    }

    /// Nothing is pending any more.
    package func streamDrained(_ stream: TCPStream) {
        if self.state == .open { self.delegate?.webSocketWritable(self) }
    }

    /// TCP has ended.
    package func streamEnded(_ stream: TCPStream, _ error: LoopError) {
        self.tellClosure(.connection(error))
        self.streamGone()
    }
}
