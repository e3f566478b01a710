// SPDX-License-Identifier: Apache-2.0
internal import CUV
internal import ClientAddress
internal import Glibc

/// An IPv4 or IPv6 address with its port, in the form of system calls.
@safe struct SocketAddress {
    private var storage = sockaddr_storage()

    /// Parses a numeric address.
    ///
    /// - Throws: `LoopError.addressInvalid` when `host` is not a numeric address.
    init(numeric host: String, port: UInt16) throws(LoopError) {
        let isIPv6 = host.utf8.contains(UInt8(ascii: ":"))
        let status = unsafe withUnsafeMutableBytes(of: &self.storage) { bytes in
            guard let base = bytes.baseAddress else { return UV_EINVAL.rawValue }
            return isIPv6
                ? unsafe uv_ip6_addr(host, Int32(port), base.assumingMemoryBound(to: sockaddr_in6.self))
                : unsafe uv_ip4_addr(host, Int32(port), base.assumingMemoryBound(to: sockaddr_in.self))
        }
        try LoopError.check(status)
    }

    /// Copies an address that the resolver returned, and sets its port; nil when it is neither IPv4 nor IPv6.
    init?(copying address: UnsafePointer<sockaddr>?, port: UInt16) {
        guard let address = unsafe address else { return nil }
        let raw = unsafe UnsafeRawPointer(address)
        let isKnown = unsafe withUnsafeMutableBytes(of: &self.storage) { bytes in
            switch Int32(unsafe address.pointee.sa_family) {
            case AF_INET:
                var copy = unsafe raw.loadUnaligned(as: sockaddr_in.self)
                copy.sin_port = port.bigEndian
                unsafe bytes.storeBytes(of: copy, as: sockaddr_in.self)
                return true
            case AF_INET6:
                var copy = unsafe raw.loadUnaligned(as: sockaddr_in6.self)
                copy.sin6_port = port.bigEndian
                unsafe bytes.storeBytes(of: copy, as: sockaddr_in6.self)
                return true
            default: return false
            }
        }
        if !isKnown { return nil }
    }

    /// Makes the address that `fill` writes; `fill` is a libuv function such as `uv_tcp_getsockname`.
    init(_ fill: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<Int32>) -> Int32) throws(LoopError) {
        var length = Int32(MemoryLayout<sockaddr_storage>.size)
        let status = unsafe withUnsafeMutableBytes(of: &self.storage) { bytes in
            guard let base = bytes.baseAddress else { return UV_EINVAL.rawValue }
            return unsafe fill(base.assumingMemoryBound(to: sockaddr.self), &length)
        }
        try LoopError.check(status)
    }

    /// The address family, `AF_INET` or `AF_INET6`.
    var family: Int32 { Int32(self.storage.ss_family) }

    /// The address without its port; nil if the family is neither IPv4 nor IPv6.
    var ip: IPAddress? { unsafe self.withPointer { pointer in unsafe IPAddress(socketAddress: pointer) } }

    /// The port in host byte order.
    var port: UInt16 {
        var storage = self.storage
        return unsafe withUnsafeBytes(of: &storage) { bytes in
            // The port has the same offset in both address families.
            UInt16(bigEndian: unsafe bytes.load(fromByteOffset: 2, as: UInt16.self))
        }
    }

    /// Calls `body` with a pointer to the address for C functions.
    func withPointer<R>(_ body: (UnsafePointer<sockaddr>) -> R) -> R {
        unsafe withUnsafePointer(to: self.storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in unsafe body(address) }
        }
    }
}
