// SPDX-License-Identifier: Apache-2.0
internal import CUV
internal import Glibc

/// Accepts TCP connections at one address, on an event loop.
///
/// The listener lives until `close()` or the end of its loop.
package final class TCPListener: LoopHandle {
    /// The port on which the listener accepts connections; if port 0 was requested, the port that the system chose.
    package private(set) var port: UInt16 = 0
    /// The number of connections that could not be accepted, usually because no descriptor was free.
    package private(set) var failedAccepts = 0
    private var onAccept: ((TCPStream) -> Void)?

    /// Binds and listens.
    ///
    /// - Parameters:
    ///   - loop: The loop on which the listener and the accepted streams run.
    ///   - host: A numeric IPv4 or IPv6 address of this machine.
    ///   - port: The port, or 0 for any free port.
    ///   - sharesPort: Whether listeners of several loops may share the address (`SO_REUSEPORT`). The system then
    ///     distributes the connections among them.
    ///   - backlog: The maximum number of connections that wait to be accepted.
    ///   - onAccept: Called with each new stream. It must set the stream's delegate; otherwise the stream is closed.
    /// - Throws: `LoopError.addressInUse` if another socket has the address, `.addressInvalid` if `host` is not a
    ///   numeric address of this machine, `.notPermitted` if the process may not bind the port, or another system
    ///   error.
    package init(
        loop: EventLoop, host: String, port: UInt16, sharesPort: Bool = false, backlog: Int32 = 4_096,
        _ onAccept: @escaping (TCPStream) -> Void
    ) throws(LoopError) {
        let address = try SocketAddress(numeric: host, port: port)
        self.onAccept = onAccept
        try unsafe super.init(loop: loop, size: MemoryLayout<uv_tcp_t>.size)
        try LoopError.check(unsafe uv_tcp_init_ex(loop.raw, self.tcp, UInt32(address.family)))
        self.retainByHandle()
        do throws(LoopError) {
            if sharesPort { try self.sharePort() }
            try LoopError.check(unsafe address.withPointer { pointer in unsafe uv_tcp_bind(self.tcp, pointer, 0) })
            try LoopError.check(unsafe uv_listen(self.stream, backlog, connectionPending))
            let tcp = unsafe self.tcp
            let bound = try unsafe SocketAddress { name, length in unsafe uv_tcp_getsockname(tcp, name, length) }
            self.port = bound.port
        } catch {
            self.close()
            throw error
        }
    }

    /// Stops listening; accepted streams stay open.
    package func close() {
        self.onAccept = nil
        self.closeHandle()
    }

    override func didClose() { self.onAccept = nil }

    /// Accepts one connection and passes it to `onAccept`, or counts the failure.
    fileprivate func accept(status: Int32) {
        guard status == 0, let stream = try? TCPStream(loop: self.loop) else {
            self.failedAccepts += 1
            return
        }
        guard unsafe uv_accept(self.stream, stream.stream) == 0 else {
            self.failedAccepts += 1
            return stream.close()
        }
        stream.markConnected()
        self.onAccept?(stream)
        if stream.delegate == nil { stream.close() }
    }

    /// Sets `SO_REUSEPORT`, before the socket is bound.
    private func sharePort() throws(LoopError) {
        var descriptor: Int32 = -1
        try LoopError.check(unsafe uv_fileno(self.handle, &descriptor))
        var isOn: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        if unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &isOn, size) != 0 {
            throw LoopError(status: -errno)
        }
    }

    private var tcp: UnsafeMutablePointer<uv_tcp_t> { unsafe self.memory.assumingMemoryBound(to: uv_tcp_t.self) }
    /// The listening handle, which is a stream for libuv.
    private var stream: UnsafeMutablePointer<uv_stream_t> {
        unsafe self.memory.assumingMemoryBound(to: uv_stream_t.self)
    }
}

/// Called on the loop's thread, once per waiting connection; the handle retains its listener.
private func connectionPending(_ server: UnsafeMutablePointer<uv_stream_t>?, _ status: Int32) {
    guard let data = unsafe server?.pointee.data else { return }
    unsafe Unmanaged<TCPListener>.fromOpaque(data).takeUnretainedValue().accept(status: status)
}
