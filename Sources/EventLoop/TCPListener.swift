// SPDX-License-Identifier: Apache-2.0
internal import CUV
internal import Glibc

/// Accepts TCP connections at one address.
///
/// It lives until `close()` or the end of its loop.
package final class TCPListener: LoopHandle {
    /// The port it listens on; the system's choice when 0 was asked for.
    package private(set) var port: UInt16 = 0
    /// How many connections could not be taken, for want of descriptors mostly.
    package private(set) var failedAccepts = 0
    private var accepted: ((TCPStream) -> Void)?

    /// Binds and listens.
    ///
    /// - Parameters:
    ///   - loop: The loop that accepts, and that the accepted streams live on.
    ///   - host: A numeric IPv4 or IPv6 address of this machine.
    ///   - port: The port, or 0 for any free one.
    ///   - sharesPort: Sets `SO_REUSEPORT`: listeners of several loops share the address and the system spreads the
    ///     connections over them.
    ///   - backlog: How many connections may wait to be accepted.
    ///   - accepted: Gets each new stream; one whose delegate it does not set is closed.
    /// - Throws: `LoopError.addressInUse`, `.addressInvalid`, `.notPermitted` and what else the system says.
    package init(
        loop: EventLoop, host: String, port: UInt16, sharesPort: Bool = false, backlog: Int32 = 4_096,
        _ accepted: @escaping (TCPStream) -> Void
    ) throws(LoopError) {
        let address = try SocketAddress(numeric: host, port: port)
        self.accepted = accepted
        try unsafe super.init(loop: loop, size: MemoryLayout<uv_tcp_t>.size)
        try LoopError.check(unsafe uv_tcp_init_ex(loop.raw, self.tcp, UInt32(address.family)))
        self.started()
        do throws(LoopError) {
            if sharesPort { try self.sharePort() }
            try LoopError.check(unsafe address.withPointer { pointer in unsafe uv_tcp_bind(self.tcp, pointer, 0) })
            try LoopError.check(unsafe uv_listen(self.stream, backlog, connectionWaits))
            let tcp = unsafe self.tcp
            let bound = try unsafe SocketAddress { name, length in unsafe uv_tcp_getsockname(tcp, name, length) }
            self.port = bound.port
        } catch {
            self.close()
            throw error
        }
    }

    /// Stops to listen; accepted streams stay.
    package func close() {
        self.accepted = nil
        self.closeHandle()
    }

    override func didClose() { self.accepted = nil }

    fileprivate func accept(status: Int32) {
        guard status == 0, let stream = try? TCPStream(loop: self.loop) else {
            self.failedAccepts += 1
            return
        }
        guard unsafe uv_accept(self.stream, stream.stream) == 0 else {
            self.failedAccepts += 1
            return stream.close()
        }
        stream.becameConnected()
        self.accepted?(stream)
        if stream.delegate == nil { stream.close() }
    }

    private func sharePort() throws(LoopError) {
        var descriptor: Int32 = -1
        try LoopError.check(unsafe uv_fileno(self.handle, &descriptor))
        var on: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        if unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &on, size) != 0 {
            throw LoopError(status: -errno)
        }
    }

    private var tcp: UnsafeMutablePointer<uv_tcp_t> { unsafe self.memory.assumingMemoryBound(to: uv_tcp_t.self) }
    private var stream: UnsafeMutablePointer<uv_stream_t> {
        unsafe self.memory.assumingMemoryBound(to: uv_stream_t.self)
    }
}

/// On the loop's thread, once per waiting connection; the handle keeps its listener alive.
private func connectionWaits(_ server: UnsafeMutablePointer<uv_stream_t>?, _ status: Int32) {
    guard let data = unsafe server?.pointee.data else { return }
    unsafe Unmanaged<TCPListener>.fromOpaque(data).takeUnretainedValue().accept(status: status)
}
