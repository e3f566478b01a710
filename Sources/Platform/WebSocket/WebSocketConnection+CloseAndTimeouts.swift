// SPDX-License-Identifier: Apache-2.0
package import EventLoop
internal import MachineKit

/// Closes connections, pings silent peers, and ends connections whose peers do not answer in time.
extension WebSocketConnection {
    /// Handles the peer's close frame (RFC 6455, section 5.5.1).
    ///
    /// If this side has already sent a close frame, the peer's frame is the answer to it and is not answered again.
    func receivedClose(_ code: CloseCode?, reason: String) {
        if self.state == .open {
            self.closure = WebSocketClosure(code: code ?? .noCode, reason: reason, cause: .peer)
            self.writeClose(code, reason: "")
        }
        self.endAfterClose()
    }

    /// Handles a protocol violation of the peer: sends the close code, and ends the connection.
    ///
    /// The decoder ignores all bytes that the peer sends after the violation.
    func fail(_ violation: ProtocolViolation) {
        self.closure = WebSocketClosure(code: violation.closeCode, reason: "", cause: .violation(violation))
        if self.state == .open { self.writeClose(violation.closeCode, reason: "") }
        self.stream?.finish()
        self.endAfterClose()
    }

    /// The space for a close frame beyond the limit of the pending bytes.
    ///
    /// A close frame has at most 2 (header) + 4 (mask) + 125 (payload) = 131 bytes; 256 is the next power of two.
    private static let closeFrameReserveBytes = 256

    /// Sends a close frame, even when the pending bytes have reached their limits.
    ///
    /// If the output queue already holds its maximum number of frames, the connection is reset at once.
    func writeClose(_ code: CloseCode?, reason: String) {
        guard let stream = self.stream else { return }
        let payload = FrameEncoder.closePayload(code, reason: reason)
        stream.pendingLimitBytes += Self.closeFrameReserveBytes
        stream.isExemptFromBudget = true
        do throws(LoopError) {
            _ = try stream.write(self.encoded(.close, payload.span))
        } catch {
            // With any other error the stream is ending, and will call `streamEnded`.
            if case .overflow = error { stream.reset() }
        }
    }

    /// Ends the connection of a peer that does not read, and frees at once what is pending for it.
    ///
    /// A close frame would not reach the peer, because the bytes that the peer does not read come before it.
    func endSlowReader(_ cause: WebSocketClosure.Cause) {
        if self.closure == nil {
            self.closure = WebSocketClosure(
                code: self.group.configuration.overflowCode, reason: "too slow", cause: cause)
        }
        if self.state == .open { self.state = .closing }
        self.stream?.reset()
    }

    /// Notifies the delegate that the WebSocket has ended, and begins to wait for the end of the TCP connection.
    ///
    /// The server ends the TCP connection; a client waits for that (RFC 6455, section 7.1.1).
    private func endAfterClose() {
        self.waitsSince = self.group.loop.now
        if self.role == .server { self.stream?.finish() }
        self.notifyClosed(defaultCause: .connection(.closed))
    }

    /// Notifies the delegate of the end, only once; `defaultCause` is used when no other cause was recorded.
    private func notifyClosed(defaultCause: WebSocketClosure.Cause) {
        if self.state == .ended { return }
        // A handshake that the client has not completed counts for the client's address, too. If the count is too high,
        // the rejection is not sent, because the connection has ended. A connection that the admission has rejected has
        // no `admission`, and is not counted.
        if self.admission != nil, let handshake = self.handshake { try? self.countHandshake(handshake) }
        self.state = .ended
        self.handshake = nil
        let closure = self.closure ?? WebSocketClosure(code: .abnormal, reason: "", cause: defaultCause)
        self.closure = nil
        let delegate = self.delegate
        self.delegate = nil
        delegate?.webSocketClosed(self, closure)
        self.context = nil
    }

    /// Ends the connection if the peer does not read, or has not answered in time; sends a ping if the peer is silent.
    ///
    /// After a pause of this whole process, an answer that arrived in time may still be unread in the socket. Therefore
    /// a connection is ended only when two sweeps in a row find it overdue, because the socket is read between them.
    func sweep(at now: MonotonicTime) {
        let times = self.group.sweepTimes
        let timeout: Milliseconds
        let cause: WebSocketClosure.Cause
        switch self.state {
        case .connecting: (timeout, cause) = (times.handshakeTimeout, .handshakeTimeout)
        // In the state `ended` the cause is not reported, because the delegate was notified already.
        case .closing, .ended: (timeout, cause) = (times.closeTimeout, .closeTimeout)
        case .open:
            if times.outputTimeout > Milliseconds(0), self.stream?.checkStalled(for: times.outputTimeout) == true {
                return self.endSlowReader(.stalledReader)
            }
            if !self.awaitsPong {
                if times.pingInterval > Milliseconds(0), now - self.lastReceivedAt >= times.pingInterval { self.ping() }
                return
            }
            (timeout, cause) = (times.pongTimeout, .pingTimeout)
        }
        let wasOverdue = self.isOverdue
        self.isOverdue = now - self.waitsSince >= timeout
        if !self.isOverdue || !wasOverdue { return }
        if self.state == .ended {
            self.stream?.close()
            self.releaseStream()
        } else {
            self.abort(cause)
        }
    }

    /// Ends the connection without a close frame; `cause` is reported to the delegate.
    private func abort(_ cause: WebSocketClosure.Cause) {
        // If this side has sent a close frame, its code and reason are kept, and only the cause changes.
        if case .thisSide? = self.closure?.cause {
            self.closure?.cause = cause
        } else if self.closure == nil {
            self.closure = WebSocketClosure(code: .abnormal, reason: "", cause: cause)
        }
        self.stream?.abort()
    }

    /// Releases the stream, and removes the connection from its group.
    private func releaseStream() {
        self.stream = nil
        self.group.remove(self)
    }
}

extension WebSocketConnection: TCPStreamDelegate {
    /// As a client: the TCP connection is established, so the handshake request is sent.
    package func streamConnected(_ stream: TCPStream) {
        guard let client = self.handshake?.client else { return }
        stream.pendingLimitBytes = self.group.configuration.maxPendingBytes
        stream.startReading()
        // If the write fails, the stream is ending and will call `streamEnded`.
        _ = try? stream.write(SharedBytes(client.request))
    }

    /// Handles received bytes of the handshake and of frames.
    package func stream(_ stream: TCPStream, received bytes: inout MutableSpan<UInt8>) {
        self.lastReceivedAt = self.group.loop.now
        // Any received byte proves that the peer is alive. A slow handshake still times out.
        if self.state == .open {
            self.awaitsPong = false
            self.isOverdue = false
        }
        var offset = 0
        if self.state == .connecting {
            guard let frameStart = self.readHandshake(bytes.span) else { return }
            offset = frameStart
        }
        if offset < bytes.count { self.decode(&bytes, from: offset) }
    }

    /// Handles the end of back-pressure: no byte is pending any more.
    package func streamDrained(_ stream: TCPStream) {
        if self.state == .open { self.delegate?.webSocketWritable(self) }
    }

    /// Handles the end of the TCP connection.
    package func streamEnded(_ stream: TCPStream, _ error: LoopError) {
        self.notifyClosed(defaultCause: .connection(error))
        self.releaseStream()
    }
}
