// SPDX-License-Identifier: Apache-2.0
internal import CUV

/// What a stream tells its owner, always on the loop's thread.
package protocol TCPStreamDelegate: AnyObject {
    /// A connection that was asked for stands.
    func streamConnected(_ stream: TCPStream)
    /// Bytes came. They lie in the loop's one read buffer: change them at will, but copy what is to be kept.
    func stream(_ stream: TCPStream, received bytes: inout MutableSpan<UInt8>)
    /// All pending bytes have gone to the system.
    func streamDrained(_ stream: TCPStream)
    /// The stream ended by the peer, an error or the end of the loop; once, at the end of a turn, and never after an
    /// own `close()`.
    func streamEnded(_ stream: TCPStream, _ error: LoopError)
}

extension TCPStreamDelegate {
    /// Nothing to do for streams that are accepted.
    package func streamConnected(_ stream: TCPStream) {}
    /// Nothing to do for owners who never wait for it.
    package func streamDrained(_ stream: TCPStream) {}
}

/// One TCP connection on a loop.
///
/// A write goes to the system at once; what the system does not take waits in a bounded queue. The stream keeps its
/// delegate, and itself, alive until it is closed or ended.
package final class TCPStream: LoopHandle {
    // What a write needs comes first, to lie in one line of the cache: with thousands of streams each is cold.
    /// The socket while writes are taken, else -1.
    private var writable: Int32 = -1
    private(set) var isConnected = false
    private var isFinishing = false
    /// What waits; nil while the peer keeps up, so that an idle stream has no queue.
    private var pending: PendingWrites?
    /// Most bytes that may wait for the system to take them.
    package var pendingLimitBytes: Int = 1_048_576
    /// Who is told of what happens here.
    package var delegate: (any TCPStreamDelegate)?
    private var failure: LoopError?

    /// Makes a stream that is not connected yet.
    init(loop: EventLoop) throws(LoopError) {
        try unsafe super.init(loop: loop, size: MemoryLayout<uv_tcp_t>.size)
        try LoopError.check(unsafe uv_tcp_init(loop.raw, self.tcp))
        self.started()
    }

    /// How many bytes wait for the system to take them.
    package var pendingBytes: Int { self.pending?.byteCount ?? 0 }

    /// Sends `bytes`, or queues what the system does not take of them.
    ///
    /// - Returns: Whether the system has taken all of it.
    /// - Throws: `LoopError.overflow` (nothing was taken), `.closed`, or the error that just broke the connection; its
    ///   delegate then also hears of it.
    @discardableResult package func write(_ bytes: SharedBytes) throws(LoopError) -> Bool {
        if self.writable < 0 { throw .closed }
        if let pending = self.pending {
            try self.checkRoom(pending.byteCount + bytes.count)
            pending.append(bytes, from: 0)
            return false
        }
        let status = DirectSend.send(self.writable, bytes)
        if status == bytes.count { return true }
        let written = try self.written(status)
        // What began must be finished, or the peer would see half a frame.
        if written == 0 { try self.checkRoom(bytes.count) }
        let pending = PendingWrites()
        self.pending = pending
        pending.append(bytes, from: written)
        self.drain(pending)
        return false
    }

    /// Sends several pieces with one system call, or queues what the system does not take of them.
    ///
    /// - Returns: Whether the system has taken all of them.
    /// - Throws: As `write(_:)`; on overflow none of the pieces was taken.
    @discardableResult package func write(contentsOf pieces: [SharedBytes]) throws(LoopError) -> Bool {
        if pieces.count == 1 { return try self.write(pieces[0]) }
        if self.writable < 0 { throw .closed }
        let total = pieces.reduce(0) { $0 + $1.count }
        if let pending = self.pending {
            try self.checkRoom(pending.byteCount + total)
            for piece in pieces { pending.append(piece, from: 0) }
            return false
        }
        if total == 0 { return true }
        let status = DirectSend.send(self.writable, pieces)
        if status == total { return true }
        var written = try self.written(status)
        if written == 0 { try self.checkRoom(total) }
        let pending = PendingWrites()
        self.pending = pending
        for piece in pieces {
            if written < piece.count { pending.append(piece, from: written) }
            written = max(0, written - piece.count)
        }
        self.drain(pending)
        return false
    }

    /// Drops the pieces of which nothing was handed to the system yet.
    ///
    /// What was begun stays, so the peer sees whole pieces only.
    ///
    /// - Returns: How many bytes were dropped.
    @discardableResult package func dropUnsent() -> Int { self.pending?.dropUnsent() ?? 0 }

    /// Begins, or resumes, to hand on what the peer sends.
    package func startReading() {
        if self.isClosed || !self.isConnected { return }
        let status = unsafe uv_read_start(self.stream, lendReadBuffer, bytesArrived)
        if status < 0 && status != UV_EALREADY.rawValue { self.end(LoopError(status: status)) }
    }

    /// Leaves in the system's buffers what the peer sends, until `startReading()`.
    package func pauseReading() {
        if !self.isClosed { unsafe uv_read_stop(self.stream) }
    }

    /// Takes no more writes, sends what is pending and then the end of the stream.
    ///
    /// Reading goes on until the peer ends its side too, so that no byte in flight is lost to a reset; the owner closes
    /// a peer that takes too long.
    package func finish() {
        if self.isClosed || self.isFinishing { return }
        self.isFinishing = true
        self.writable = -1
        if self.pending == nil { self.shutDownWriting() }
    }

    /// Ends the connection now; what is pending is lost.
    ///
    /// The delegate hears nothing more.
    package func close() {
        self.delegate = nil
        self.writable = -1
        self.closeHandle()
    }

    /// Ends the connection now, as `close()`, but the delegate hears `LoopError.closed` at the end of this turn.
    package func abort() { self.end(.closed) }

    /// The peer's address without its port, or nothing when there is none (any more).
    package var peerHost: String? {
        if self.isClosed || !self.isConnected { return nil }
        let tcp = unsafe self.tcp
        let address = try? unsafe SocketAddress { name, length in unsafe uv_tcp_getpeername(tcp, name, length) }
        return address?.host
    }

    /// Bounds what the system keeps for a peer that does not read.
    ///
    /// The kernel doubles and rounds it.
    package func setSendBufferSize(_ bytes: Int32) {
        var value = bytes
        if !self.isClosed { unsafe uv_send_buffer_size(self.handle, &value) }
    }

    /// Ends the stream by what befell it; the delegate hears it when libuv has let go of the handle.
    func end(_ error: LoopError) {
        if self.isClosed { return }
        self.failure = error
        self.writable = -1
        self.closeHandle()
    }

    /// The connection stands: small writes go out at once from here on.
    func becameConnected() {
        self.isConnected = true
        unsafe uv_tcp_nodelay(self.tcp, 1)
        unsafe uv_fileno(self.handle, &self.writable)
    }

    override func loopEnds() { self.end(.loopEnding) }

    override func didClose() {
        self.pending = nil
        let delegate = self.delegate
        self.delegate = nil
        if let failure { delegate?.streamEnded(self, failure) }
    }

    var tcp: UnsafeMutablePointer<uv_tcp_t> { unsafe self.memory.assumingMemoryBound(to: uv_tcp_t.self) }
    var stream: UnsafeMutablePointer<uv_stream_t> { unsafe self.memory.assumingMemoryBound(to: uv_stream_t.self) }

    private func checkRoom(_ bytes: Int) throws(LoopError) {
        if bytes > self.pendingLimitBytes { throw .overflow(limit: self.pendingLimitBytes) }
        if let pending = self.pending, pending.isFull { throw .overflow(limit: self.pendingLimitBytes) }
    }

    /// How much the system took, by what a direct send gave back; libuv's errors are the system's, negative.
    private func written(_ status: Int) throws(LoopError) -> Int {
        if status >= 0 { return status }
        if status == Int(UV_EAGAIN.rawValue) { return 0 }
        let error = LoopError(status: Int32(status))
        self.end(error)
        throw error
    }

    private func drain(_ pending: PendingWrites) {
        let status = unsafe pending.send(on: self.stream, piecesSent)
        if status < 0 { self.end(LoopError(status: status)) }
    }

    fileprivate func sent(status: Int32) {
        guard let pending = self.pending, !self.isClosed else { return }
        if status < 0 { return self.end(LoopError(status: status)) }
        if !pending.sent() { return self.drain(pending) }
        self.pending = nil
        if self.isFinishing { self.shutDownWriting() } else { self.delegate?.streamDrained(self) }
    }

    fileprivate func received(_ count: Int) {
        if count < 0 { return self.end(LoopError(status: Int32(count))) }
        if count == 0 { return }
        var bytes = unsafe self.loop.readBuffer.extracting(0..<count).mutableSpan
        self.delegate?.stream(self, received: &bytes)
    }

    private func shutDownWriting() {
        let request = UnsafeMutablePointer<uv_shutdown_t>.allocate(capacity: 1)
        let status = unsafe uv_shutdown(request, self.stream, shutDown)
        if status < 0 {
            unsafe request.deallocate()
            self.end(LoopError(status: status))
        }
    }
}

extension uv_buf_t {
    init(_ bytes: SharedBytes, from: Int) {
        let base = unsafe UnsafeMutableRawPointer(bytes.baseAddress)?.advanced(by: from)
        unsafe self.init(base: base?.assumingMemoryBound(to: CChar.self), len: bytes.count - from)
    }
}

/// On the loop's thread, right before each read; the handle keeps its stream, and that its loop, alive.
private func lendReadBuffer(
    _ handle: UnsafeMutablePointer<uv_handle_t>?, _: Int, _ buffer: UnsafeMutablePointer<uv_buf_t>?
) {
    guard let data = unsafe handle?.pointee.data, let buffer = unsafe buffer else { return }
    let memory = unsafe Unmanaged<TCPStream>.fromOpaque(data).takeUnretainedValue().loop.readBuffer
    let base = unsafe UnsafeMutableRawPointer(memory.baseAddress)?.assumingMemoryBound(to: CChar.self)
    unsafe buffer.pointee = unsafe uv_buf_t(base: base, len: memory.count)
}

/// On the loop's thread, after each read, or when the stream has ended.
private func bytesArrived(_ stream: UnsafeMutablePointer<uv_stream_t>?, _ count: Int, _: UnsafePointer<uv_buf_t>?) {
    guard let data = unsafe stream?.pointee.data else { return }
    unsafe Unmanaged<TCPStream>.fromOpaque(data).takeUnretainedValue().received(count)
}

/// On the loop's thread, when the system took all of a request, or the stream closed; then the stream still lives, for
/// libuv cancels requests before it lets go of the handle.
private func piecesSent(_ request: UnsafeMutablePointer<uv_write_t>?, _ status: Int32) {
    guard let data = unsafe request?.pointee.handle.pointee.data else { return }
    unsafe Unmanaged<TCPStream>.fromOpaque(data).takeUnretainedValue().sent(status: status)
}

/// On the loop's thread, when the end of the stream was sent, or could not be.
private func shutDown(_ request: UnsafeMutablePointer<uv_shutdown_t>?, _: Int32) { unsafe request?.deallocate() }
