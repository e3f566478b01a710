// SPDX-License-Identifier: Apache-2.0
internal import CUV
package import ClientAddress
internal import Glibc
package import MachineKit

/// Receives the events of a stream, always on the loop's thread.
package protocol TCPStreamDelegate: AnyObject {
    /// The connection that `connect` began is established.
    func streamConnected(_ stream: TCPStream)
    /// Bytes were received. They are in the loop's read buffer and valid during this call only. The delegate may
    /// change them.
    func stream(_ stream: TCPStream, received bytes: inout MutableSpan<UInt8>)
    /// The system has accepted all pending bytes.
    func streamDrained(_ stream: TCPStream)
    /// The stream has ended, because of the peer, an error, `abort()` or the end of the loop. Called once, at the end
    /// of a loop turn, and never after `close()`.
    func streamEnded(_ stream: TCPStream, _ error: LoopError)
}

extension TCPStreamDelegate {
    /// Does nothing: the default for delegates of accepted streams.
    package func streamConnected(_ stream: TCPStream) {}
    /// Does nothing: the default for delegates that do not need the event.
    package func streamDrained(_ stream: TCPStream) {}
}

/// One TCP connection on an event loop.
///
/// A write is passed to the system at once. The stream keeps the bytes that the system does not accept in a bounded
/// queue. The stream retains itself and its delegate until it is closed or has ended.
package final class TCPStream: LoopHandle {
    // The properties that a write uses come first, so that they share a cache line. With thousands of streams, a stream
    // is usually not in the processor's cache, and each further cache line must be loaded from memory.
    /// The socket's descriptor while the stream accepts writes, otherwise -1.
    private var writableDescriptor: Int32 = -1
    private(set) var isConnected = false
    /// Whether `finish()` was called.
    private var isFinishing = false
    /// True if `OutputBudget`, the limit of what all streams of the loop queue, does not apply to this stream.
    ///
    /// A WebSocket connection sets it for its close frame, the few bytes with which it ends.
    package var isExemptFromBudget = false
    /// The queued bytes; nil while the peer keeps up, so that an idle stream has no queue.
    private var pending: PendingWrites?
    /// The maximum of `pendingBytes`; a write that would exceed it fails with `overflow`, unless the system has already
    /// accepted some of its bytes.
    package var pendingLimitBytes: Int = 1_048_576
    /// Receives the stream's events.
    package var delegate: (any TCPStreamDelegate)?
    /// Encrypts the stream; nil for a stream in clear text.
    var security: (any StreamSecurity)?
    /// Why the stream has ended; nil while it is open, and after `close()`.
    private var endReason: LoopError?

    /// Creates a stream that is not connected yet.
    init(loop: EventLoop) throws(LoopError) {
        try unsafe super.init(loop: loop, size: MemoryLayout<uv_tcp_t>.size)
        try LoopError.check(unsafe uv_tcp_init(loop.raw, self.tcp))
        self.retainByHandle()
    }

    /// The number of bytes that the system has not yet accepted.
    package var pendingBytes: Int { self.pending?.byteCount ?? 0 }

    /// The memory of the pending bytes.
    ///
    /// If several streams of the loop have queued the same piece, each of them counts an equal part of its memory.
    /// Reading this property visits all queued pieces.
    package var heldBytes: Int { self.pending?.heldBytes ?? 0 }

    /// Checks whether the peer has taken none of the pending bytes for `timeout`.
    ///
    /// Call it regularly, because each check compares with the checks before.
    ///
    /// - Returns: True if this check and the check before both found that the peer has taken no byte for `timeout`;
    ///   false when no byte is pending.
    package func checkStalled(for timeout: Milliseconds) -> Bool {
        guard let pending = self.pending, !self.isClosed else { return false }
        let unsentBytes = unsafe Int(uv_stream_get_write_queue_size(self.stream))
        return pending.checkStalled(
            unsentBytes: unsentBytes, unacknowledgedBytes: self.unacknowledgedBytes, timeout: timeout)
    }

    /// The number of bytes that the system has accepted and the peer has not acknowledged; 0 if the system does not
    /// know.
    private var unacknowledgedBytes: Int {
        var descriptor: Int32 = -1
        var bytes: Int32 = 0
        guard unsafe uv_fileno(self.handle, &descriptor) == 0,
            unsafe ioctl(descriptor, UInt(TIOCOUTQ), &bytes) == 0
        else { return 0 }
        return Int(bytes)
    }

    /// Sends `bytes`, and queues the bytes that the system does not accept.
    ///
    /// - Returns: Whether the system has accepted all bytes.
    /// - Throws: `LoopError.overflow` if the queue has no room, and `.overShare` if the loop's output budget has no
    ///   room; in both cases no byte was accepted. `.closed` if the stream is not connected yet, was finished, or has
    ///   ended. Otherwise the error with which the system ended the connection; the delegate receives it, too.
    @discardableResult package func write(_ bytes: SharedBytes) throws(LoopError) -> Bool {
        if let security = self.security { return try self.write([bytes], encryptedBy: security) }
        return try self.writeToSocket(bytes)
    }

    /// Sends bytes as they are, already encrypted or in clear text.
    func writeToSocket(_ bytes: SharedBytes) throws(LoopError) -> Bool {
        if self.writableDescriptor < 0 { throw .closed }
        if let pending = self.pending {
            try self.checkLimits(adding: bytes)
            pending.append(bytes, sentCount: 0)
            return false
        }
        let countOrError = DirectSend.send(self.writableDescriptor, bytes)
        if countOrError == bytes.count { return true }
        let sentBytes = try self.handleSendResult(countOrError)
        // If a part of the bytes was sent, the rest is queued even over the limit. Otherwise the peer would receive
        // only a part of a frame.
        if sentBytes == 0 { try self.checkLimits(adding: bytes) }
        let pending = PendingWrites(loop: self.loop)
        self.pending = pending
        pending.append(bytes, sentCount: sentBytes)
        self.sendPending(pending)
        return false
    }

    /// Sends several pieces with one system call, and queues the bytes that the system does not accept.
    ///
    /// - Returns: Whether the system has accepted all bytes.
    /// - Throws: The errors of `write(_:)`; after an overflow no piece was accepted.
    @discardableResult package func write(contentsOf pieces: [SharedBytes]) throws(LoopError) -> Bool {
        if pieces.count == 1 { return try self.write(pieces[0]) }
        if let security = self.security { return try self.write(pieces, encryptedBy: security) }
        if self.writableDescriptor < 0 { throw .closed }
        let totalBytes = pieces.reduce(0) { $0 + $1.count }
        if let pending = self.pending {
            try self.checkLimits(adding: pieces, totalBytes)
            for piece in pieces { pending.append(piece, sentCount: 0) }
            return false
        }
        if totalBytes == 0 { return true }
        let countOrError = DirectSend.send(self.writableDescriptor, pieces)
        if countOrError == totalBytes { return true }
        let sentBytes = try self.handleSendResult(countOrError)
        // If a part was sent, the rest is queued even over the limit, as in `writeToSocket`.
        if sentBytes == 0 { try self.checkLimits(adding: pieces, totalBytes) }
        let pending = PendingWrites(loop: self.loop)
        self.pending = pending
        // How many of the sent bytes belong to the present piece and those after it.
        var remainingSentBytes = sentBytes
        for piece in pieces {
            if remainingSentBytes < piece.count { pending.append(piece, sentCount: remainingSentBytes) }
            remainingSentBytes = max(0, remainingSentBytes - piece.count)
        }
        self.sendPending(pending)
        return false
    }

    /// Drops the queued pieces that are not being sent yet.
    ///
    /// A piece that was sent in part is kept, so that the peer receives only whole pieces.
    ///
    /// An encrypted stream drops nothing, because the peer could not decrypt the bytes that follow a gap.
    ///
    /// - Returns: The number of dropped bytes.
    @discardableResult package func dropUnsent() -> Int {
        if self.security != nil { return 0 }
        return self.pending?.dropUnsent() ?? 0
    }

    /// Starts or resumes reading from the peer.
    package func startReading() {
        if self.isClosed || !self.isConnected { return }
        let status = unsafe uv_read_start(self.stream, provideReadBuffer, bytesReceived)
        if status < 0 && status != UV_EALREADY.rawValue { self.end(LoopError(status: status)) }
    }

    /// Pauses reading until `startReading()`; received bytes stay in the system's buffers.
    package func pauseReading() {
        if !self.isClosed { unsafe uv_read_stop(self.stream) }
    }

    /// Accepts no more writes, sends the pending bytes and then the end of the stream (TCP's FIN).
    ///
    /// Reading continues until the peer closes its side too, because closing at once could reset the connection and
    /// lose bytes in flight. The owner must close the stream when the peer takes too long.
    package func finish() {
        if self.isClosed || self.isFinishing { return }
        if let security = self.security { self.sendEnd(encryptedBy: security) }
        self.isFinishing = true
        self.writableDescriptor = -1
        if self.pending == nil { self.shutDownWriting() }
    }

    /// Ends the connection now; pending bytes are lost.
    ///
    /// The delegate receives no further event, not even `streamEnded`.
    package func close() {
        self.delegate = nil
        self.writableDescriptor = -1
        self.closeHandle()
    }

    /// Ends the connection now, as `close()` does, but the delegate receives `LoopError.closed` at the end of
    /// this loop turn.
    package func abort() { self.end(.closed) }

    /// Ends the connection now, as `abort()` does, and makes the system discard what it has buffered for the peer.
    ///
    /// Without a reset, the system would keep these bytes for as long as the peer does not read. The peer sees a
    /// connection reset.
    package func reset() {
        if self.isClosed { return }
        var descriptor: Int32 = -1
        // With a linger time of 0 s, closing the socket discards its unsent bytes.
        var option = linger(l_onoff: 1, l_linger: 0)
        if unsafe uv_fileno(self.handle, &descriptor) == 0 {
            _ = unsafe setsockopt(
                descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
        self.abort()
    }

    /// The peer's address as a number; nil when the stream is not connected.
    package var peerAddress: IPAddress? {
        if self.isClosed || !self.isConnected { return nil }
        let tcp = unsafe self.tcp
        let address = try? unsafe SocketAddress { name, length in unsafe uv_tcp_getpeername(tcp, name, length) }
        return address?.ip
    }

    /// Sets the size of the system's send buffer, which fills up when the peer does not read.
    ///
    /// The kernel doubles the number and limits it.
    package func setSendBufferSize(_ bytes: Int32) {
        var value = bytes
        if !self.isClosed { unsafe uv_send_buffer_size(self.handle, &value) }
    }

    /// Ends the stream with an error, which the delegate receives once libuv has closed the handle.
    func end(_ error: LoopError) {
        if self.isClosed { return }
        self.endReason = error
        self.writableDescriptor = -1
        self.closeHandle()
    }

    /// Makes the stream writable once its connection is established.
    ///
    /// Disables Nagle's algorithm, so that small writes are sent at once.
    func markConnected() {
        self.isConnected = true
        unsafe uv_tcp_nodelay(self.tcp, 1)
        unsafe uv_fileno(self.handle, &self.writableDescriptor)
    }

    override func loopWillEnd() { self.end(.loopEnding) }

    override func didClose() {
        self.pending = nil
        let delegate = self.delegate
        self.delegate = nil
        if let endReason { delegate?.streamEnded(self, endReason) }
    }

    var tcp: UnsafeMutablePointer<uv_tcp_t> { unsafe self.memory.assumingMemoryBound(to: uv_tcp_t.self) }
    var stream: UnsafeMutablePointer<uv_stream_t> { unsafe self.memory.assumingMemoryBound(to: uv_stream_t.self) }

    /// Checks whether a piece may be queued.
    private func checkLimits(adding piece: SharedBytes) throws(LoopError) {
        try self.checkLimits(adding: piece.count, ownBytes: piece.isShared ? 0 : piece.memoryBytes)
    }

    /// Checks whether several pieces, which have `totalBytes` bytes together, may be queued.
    private func checkLimits(adding pieces: [SharedBytes], _ totalBytes: Int) throws(LoopError) {
        let ownBytes = pieces.reduce(0) { $0 + ($1.isShared ? 0 : $1.memoryBytes) }
        try self.checkLimits(adding: totalBytes, ownBytes: ownBytes)
    }

    /// Checks whether `bytes` more bytes may be queued; `ownBytes` is their memory that no other stream shares.
    ///
    /// - Throws: `overflow` when `pendingBytes` would exceed the limit, or the queue has no room for a further piece;
    ///   `overShare` when the loop's output budget has no room for `ownBytes`.
    private func checkLimits(adding bytes: Int, ownBytes: Int) throws(LoopError) {
        let limit = self.pendingLimitBytes
        if self.pendingBytes + bytes > limit || self.pending?.isFull == true { throw .overflow(limit: limit) }
        if ownBytes == 0 || self.isExemptFromBudget { return }
        if self.loop.outputBudget.admits(ownBytes, ofStreamWith: self.pending?.ownBytes ?? 0) { return }
        throw .overShare
    }

    /// Translates the result of a direct send; ends the stream if the result is an error.
    ///
    /// libuv's error codes are the negated system error numbers, as are those of `DirectSend`.
    ///
    /// - Returns: The number of accepted bytes.
    /// - Throws: The error with which the stream has ended.
    private func handleSendResult(_ countOrError: Int) throws(LoopError) -> Int {
        if countOrError >= 0 { return countOrError }
        // The socket's buffer is full.
        if countOrError == Int(UV_EAGAIN.rawValue) { return 0 }
        let error = LoopError(status: Int32(countOrError))
        self.end(error)
        throw error
    }

    /// Begins to send the queued pieces.
    private func sendPending(_ pending: PendingWrites) {
        let status = unsafe pending.send(on: self.stream, piecesSent)
        if status < 0 { self.end(LoopError(status: status)) }
    }

    /// Handles the end of a write request: continues with the next pieces, or reports that the queue is empty.
    fileprivate func sendFinished(status: Int32) {
        guard let pending = self.pending, !self.isClosed else { return }
        if status < 0 { return self.end(LoopError(status: status)) }
        let isQueueEmpty = pending.removeSent()
        if !isQueueEmpty { return self.sendPending(pending) }
        self.pending = nil
        if self.isFinishing { self.shutDownWriting() } else { self.delegate?.streamDrained(self) }
    }

    /// Handles a finished read: `count` bytes in the read buffer, or a negative error code.
    fileprivate func received(_ count: Int) {
        if count < 0 { return self.end(LoopError(status: Int32(count))) }
        // libuv reports 0 bytes when there was nothing to read.
        if count == 0 { return }
        if let security = self.security { return self.receive(count, decryptedBy: security) }
        self.passToDelegate(count)
    }

    /// Passes the first bytes of the loop's read buffer to the delegate.
    func passToDelegate(_ count: Int) {
        var bytes = unsafe self.loop.readBuffer.extracting(0..<count).mutableSpan
        self.delegate?.stream(self, received: &bytes)
    }

    /// Sends the end of the stream (TCP's FIN) to the peer.
    private func shutDownWriting() {
        let request = UnsafeMutablePointer<uv_shutdown_t>.allocate(capacity: 1)
        let status = unsafe uv_shutdown(request, self.stream, shutDownFinished)
        if status < 0 {
            unsafe request.deallocate()
            self.end(LoopError(status: status))
        }
    }
}

extension uv_buf_t {
    /// Refers to the bytes from index `start` on.
    init(_ bytes: SharedBytes, from start: Int) {
        let base = unsafe UnsafeMutableRawPointer(bytes.baseAddress)?.advanced(by: start)
        unsafe self.init(base: base?.assumingMemoryBound(to: CChar.self), len: bytes.count - start)
    }
}

/// Called on the loop's thread, right before each read.
///
/// The stream is alive here, because the handle retains it; the stream retains its loop.
private func provideReadBuffer(
    _ handle: UnsafeMutablePointer<uv_handle_t>?, _: Int, _ buffer: UnsafeMutablePointer<uv_buf_t>?
) {
    guard let data = unsafe handle?.pointee.data, let buffer = unsafe buffer else { return }
    let memory = unsafe Unmanaged<TCPStream>.fromOpaque(data).takeUnretainedValue().loop.readBuffer
    let base = unsafe UnsafeMutableRawPointer(memory.baseAddress)?.assumingMemoryBound(to: CChar.self)
    unsafe buffer.pointee = unsafe uv_buf_t(base: base, len: memory.count)
}

/// Called on the loop's thread, after each read, or when the stream has ended.
private func bytesReceived(_ stream: UnsafeMutablePointer<uv_stream_t>?, _ count: Int, _: UnsafePointer<uv_buf_t>?) {
    guard let data = unsafe stream?.pointee.data else { return }
    unsafe Unmanaged<TCPStream>.fromOpaque(data).takeUnretainedValue().received(count)
}

/// Called on the loop's thread, when the system has accepted all bytes of a request, or the stream was closed.
///
/// A closed stream is still alive at this time, because libuv cancels requests before it closes the handle.
private func piecesSent(_ request: UnsafeMutablePointer<uv_write_t>?, _ status: Int32) {
    guard let data = unsafe request?.pointee.handle.pointee.data else { return }
    unsafe Unmanaged<TCPStream>.fromOpaque(data).takeUnretainedValue().sendFinished(status: status)
}

/// Called on the loop's thread, when the end of the stream was sent or could not be sent.
private func shutDownFinished(_ request: UnsafeMutablePointer<uv_shutdown_t>?, _: Int32) {
    unsafe request?.deallocate()
}
