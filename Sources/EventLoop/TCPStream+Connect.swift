// SPDX-License-Identifier: Apache-2.0
internal import CUV
internal import Glibc

extension TCPStream {
    /// Begins to connect.
    ///
    /// The delegate hears `streamConnected`, or `streamEnded` with what went wrong.
    ///
    /// - Parameters:
    ///   - loop: The loop that the stream lives on.
    ///   - host: A numeric address, or a name, which is looked up on one of libuv's helper threads.
    ///   - port: The port to connect to.
    ///   - delegate: Who is told.
    /// - Returns: The stream, which takes writes once it is connected.
    /// - Throws: `LoopError` when not even the attempt could begin.
    package static func connect(
        loop: EventLoop, host: String, port: UInt16, delegate: any TCPStreamDelegate
    ) throws(LoopError) -> TCPStream {
        let stream = try TCPStream(loop: loop)
        stream.delegate = delegate
        do throws(LoopError) {
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

    fileprivate func connectEnded(status: Int32) {
        if self.isClosed { return }
        if status < 0 { return self.end(LoopError(status: status)) }
        self.becameConnected()
        self.delegate?.streamConnected(self)
    }

    fileprivate func resolved(_ addresses: UnsafePointer<addrinfo>?, port: UInt16, status: Int32) {
        if self.isClosed { return }
        if status < 0 { return self.end(LoopError(status: status)) }
        var found: SocketAddress?
        var entry = unsafe addresses
        // IPv4 goes first where a name has both: services of one machine listen on 127.0.0.1.
        while let current = unsafe entry {
            let address = unsafe SocketAddress(copying: current.pointee.ai_addr, port: port)
            if found == nil || address?.family == AF_INET { found = address ?? found }
            if found?.family == AF_INET { break }
            unsafe entry = unsafe UnsafePointer(current.pointee.ai_next)
        }
        guard let found else { return self.end(.addressInvalid) }
        do throws(LoopError) { try self.connect(to: found) } catch { self.end(error) }
    }
}

/// A name that is being looked up, and the stream that wants it.
private final class LookUp {
    let stream: TCPStream
    let port: UInt16

    init(stream: TCPStream, port: UInt16) {
        self.stream = stream
        self.port = port
    }
}

/// On the loop's thread, once per attempt, with an error when the stream was closed before; the stream still lives, for
/// libuv ends requests before it lets go of the handle.
private func connectAttempted(_ request: UnsafeMutablePointer<uv_connect_t>?, _ status: Int32) {
    guard let request = unsafe request else { return }
    defer { unsafe request.deallocate() }
    guard let data = unsafe request.pointee.handle.pointee.data else { return }
    unsafe Unmanaged<TCPStream>.fromOpaque(data).takeUnretainedValue().connectEnded(status: status)
}

/// On the loop's thread, after a helper thread has looked the name up; takes the reference made for it.
private func nameLookedUp(
    _ request: UnsafeMutablePointer<uv_getaddrinfo_t>?, _ status: Int32, _ addresses: UnsafeMutablePointer<addrinfo>?
) {
    guard let request = unsafe request, let data = unsafe request.pointee.data else { return }
    let lookUp = unsafe Unmanaged<LookUp>.fromOpaque(data).takeRetainedValue()
    unsafe lookUp.stream.resolved(addresses, port: lookUp.port, status: status)
    unsafe uv_freeaddrinfo(addresses)
    unsafe request.deallocate()
}
