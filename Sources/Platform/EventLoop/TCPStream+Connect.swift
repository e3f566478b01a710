// SPDX-License-Identifier: Apache-2.0
internal import CUV
internal import Glibc

extension TCPStream {
    /// Begins to connect.
    ///
    /// The delegate receives `streamConnected`, or `streamEnded` with the error.
    ///
    /// - Parameters:
    ///   - loop: The loop on which the stream runs.
    ///   - host: A numeric address or a host name. A name is looked up on one of libuv's helper threads.
    ///   - port: The port to connect to.
    ///   - source: A numeric address of this machine to connect from; nil for the system's choice.
    ///   - receiveBufferBytes: The size of the system's receive buffer, which requires a `source`; 0 for the system's
    ///     choice. A size also limits TCP segments to those of an Ethernet. The loopback interface has far larger
    ///     segments, with which a peer on this machine would buffer more than for a client in another network.
    ///   - security: Encrypts the stream; nil sends clear text.
    ///   - delegate: Receives the stream's events.
    /// - Returns: The stream, which accepts writes once it is connected.
    /// - Throws: `LoopError` when the attempt could not begin.
    package static func connect(
        loop: EventLoop, host: String, port: UInt16, from source: String? = nil, receiveBufferBytes: Int32 = 0,
        security: (any StreamSecurity)? = nil, delegate: any TCPStreamDelegate
    ) throws(LoopError) -> TCPStream {
        let stream = try TCPStream(loop: loop)
        stream.security = security
        stream.delegate = delegate
        do throws(LoopError) {
            if let source { try stream.bind(to: SocketAddress(numeric: source, port: 0)) }
            if receiveBufferBytes > 0 { stream.limitReceiveBuffer(receiveBufferBytes) }
            if let address = try? SocketAddress(numeric: host, port: port) {
                try stream.connect(to: address)
            } else {
                try stream.resolve(host, port: port)
            }
        } catch {
            stream.close()
            throw error
        }
        return stream
    }

    private func bind(to address: SocketAddress) throws(LoopError) {
        try LoopError.check(unsafe address.withPointer { pointer in unsafe uv_tcp_bind(self.tcp, pointer, 0) })
    }

    /// Limits what the system buffers; called after `bind`, which creates the socket, and before `connect`.
    ///
    /// A system that refuses the limits buffers more, which does no harm.
    private func limitReceiveBuffer(_ bytes: Int32) {
        var descriptor: Int32 = -1
        guard unsafe uv_fileno(self.handle, &descriptor) == 0 else { return }
        var (buffer, segment) = (bytes, Self.ethernetSegmentBytes)
        let size = socklen_t(MemoryLayout<Int32>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &buffer, size)
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_MAXSEG, &segment, size)
    }

    /// The payload of a TCP segment in an Ethernet frame.
    private static let ethernetSegmentBytes: Int32 = 1_460

    private func connect(to address: SocketAddress) throws(LoopError) {
        let request = UnsafeMutablePointer<uv_connect_t>.allocate(capacity: 1)
        let status = unsafe address.withPointer { pointer in
            unsafe uv_tcp_connect(request, self.tcp, pointer, connectAttempted)
        }
        if status < 0 {
            unsafe request.deallocate()
            throw LoopError(status: status)
        }
    }

    private func resolve(_ host: String, port: UInt16) throws(LoopError) {
        let lookUp = unsafe Unmanaged.passRetained(LookUp(stream: self, port: port))
        let request = UnsafeMutablePointer<uv_getaddrinfo_t>.allocate(capacity: 1)
        unsafe request.pointee.data = lookUp.toOpaque()
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        let status = unsafe uv_getaddrinfo(self.loop.raw, request, nameLookedUp, host, nil, &hints)
        if status < 0 {
            unsafe request.deallocate()
            unsafe lookUp.release()
            throw LoopError(status: status)
        }
    }

    /// Handles the end of the attempt to connect.
    fileprivate func connectFinished(status: Int32) {
        if self.isClosed { return }
        if status < 0 { return self.end(LoopError(status: status)) }
        self.markConnected()
        if let security = self.security { return self.beginHandshake(security) }
        self.delegate?.streamConnected(self)
    }

    /// Handles the addresses of the host name: connects to one of them.
    fileprivate func resolveFinished(_ addresses: UnsafePointer<addrinfo>?, port: UInt16, status: Int32) {
        if self.isClosed { return }
        if status < 0 { return self.end(LoopError(status: status)) }
        var chosen: SocketAddress?
        var entry = unsafe addresses
        // If a name has addresses of both families, IPv4 is preferred, because services on one machine listen on
        // 127.0.0.1.
        while let current = unsafe entry {
            let address = unsafe SocketAddress(copying: current.pointee.ai_addr, port: port)
            if chosen == nil || address?.family == AF_INET { chosen = address ?? chosen }
            if chosen?.family == AF_INET { break }
            unsafe entry = unsafe UnsafePointer(current.pointee.ai_next)
        }
        guard let chosen else { return self.end(.addressInvalid) }
        do throws(LoopError) { try self.connect(to: chosen) } catch { self.end(error) }
    }
}

/// A name lookup in progress, and the stream that waits for its result.
private final class LookUp {
    let stream: TCPStream
    let port: UInt16

    init(stream: TCPStream, port: UInt16) {
        self.stream = stream
        self.port = port
    }
}

/// Called on the loop's thread, once per attempt; with an error when the stream was closed before.
///
/// A closed stream is still alive at this time, because libuv ends requests before it closes the handle.
private func connectAttempted(_ request: UnsafeMutablePointer<uv_connect_t>?, _ status: Int32) {
    guard let request = unsafe request else { return }
    defer { unsafe request.deallocate() }
    guard let data = unsafe request.pointee.handle.pointee.data else { return }
    unsafe Unmanaged<TCPStream>.fromOpaque(data).takeUnretainedValue().connectFinished(status: status)
}

/// Called on the loop's thread, after a helper thread has looked up the name; consumes the reference that was retained
/// for this call.
private func nameLookedUp(
    _ request: UnsafeMutablePointer<uv_getaddrinfo_t>?, _ status: Int32, _ addresses: UnsafeMutablePointer<addrinfo>?
) {
    guard let request = unsafe request, let data = unsafe request.pointee.data else { return }
    let lookUp = unsafe Unmanaged<LookUp>.fromOpaque(data).takeRetainedValue()
    unsafe lookUp.stream.resolveFinished(addresses, port: lookUp.port, status: status)
    unsafe uv_freeaddrinfo(addresses)
    unsafe request.deallocate()
}
