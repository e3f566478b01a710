// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A bound, listening TCP socket.
struct ListeningSocket: Sendable {
    let descriptor: Int32
    /// The port; if port 0 was requested, the port that the system chose.
    let port: UInt16

    /// Binds to the first address of `host` and listens.
    ///
    /// `host` is an address or host name of this machine; `port` 0 means any free port.
    init(host: String, port: UInt16) throws(HTTPServerError) {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        var addresses: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(host, "\(port)", &hints, &addresses)
        guard code == 0, let first = unsafe addresses else {
            throw .badAddress(host: host, detail: unsafe String(cString: gai_strerror(code)))
        }
        defer { unsafe freeaddrinfo(first) }
        let address = unsafe first.pointee
        let flags = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = unsafe socket(address.ai_family, flags, 0)
        guard descriptor >= 0 else { throw .system(detail: "no socket (errno \(errno))") }
        // With this option a restarted service can bind its port at once, even while old connections are in TIME_WAIT.
        var isOn: Int32 = 1
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
        guard unsafe bind(descriptor, address.ai_addr, address.ai_addrlen) == 0,
            listen(descriptor, Self.backlog) == 0
        else {
            let errorNumber = errno
            _ = Glibc.close(descriptor)
            switch errorNumber {
            case EADDRINUSE: throw .portInUse(host: host, port: port)
            case EADDRNOTAVAIL: throw .badAddress(host: host, detail: "this machine does not have that address")
            case EACCES: throw .badAddress(host: host, detail: "this process may not bind port \(port)")
            default: throw .system(detail: "cannot bind (errno \(errorNumber))")
            }
        }
        self.descriptor = descriptor
        self.port = Self.port(of: descriptor)
    }

    /// The maximum number of connections that wait to be accepted.
    private static let backlog: Int32 = 512

    func close() { _ = Glibc.close(self.descriptor) }

    private static func port(of descriptor: Int32) -> UInt16 {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard unsafe getsockname(descriptor, address, &size) == 0 else { return 0 }
                // In IPv4 and IPv6 addresses the port has the same offset.
                return unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    unsafe UInt16(bigEndian: $0.pointee.sin_port)
                }
            }
        }
    }
}
