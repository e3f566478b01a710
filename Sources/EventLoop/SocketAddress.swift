// SPDX-License-Identifier: Apache-2.0
internal import CUV
internal import Glibc

/// An IPv4 or IPv6 address with its port, as the system wants it.
@safe struct SocketAddress {
    private var storage = sockaddr_storage()

    /// Parses a numeric address.
    ///
    /// - Throws: `LoopError.addressInvalid` when the text is not one.
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

    /// Copies what a resolver found, with another port.
    init?(copying address: UnsafePointer<sockaddr>?, port: UInt16) {
        guard let address = unsafe address else { return nil }
        let raw = unsafe UnsafeRawPointer(address)
        let isKnown = unsafe withUnsafeMutableBytes(of: &self.storage) { bytes in
            switch Int32(unsafe address.pointee.sa_family) {
            case AF_INET:
                var found = unsafe raw.loadUnaligned(as: sockaddr_in.self)
                found.sin_port = port.bigEndian
                unsafe bytes.storeBytes(of: found, as: sockaddr_in.self)
                return true
            case AF_INET6:
                var found = unsafe raw.loadUnaligned(as: sockaddr_in6.self)
                found.sin6_port = port.bigEndian
                unsafe bytes.storeBytes(of: found, as: sockaddr_in6.self)
                return true
            default: return false
            }
        }
        if !isKnown { return nil }
    }

    /// Asks libuv for an address of a handle's.
    init(_ ask: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<Int32>) -> Int32) throws(LoopError) {
        var length = Int32(MemoryLayout<sockaddr_storage>.size)
        let status = unsafe withUnsafeMutableBytes(of: &self.storage) { bytes in
            guard let base = bytes.baseAddress else { return UV_EINVAL.rawValue }
            return unsafe ask(base.assumingMemoryBound(to: sockaddr.self), &length)
        }
        try LoopError.check(status)
    }

    /// The address family, `AF_INET` or `AF_INET6`.
    var family: Int32 { Int32(self.storage.ss_family) }

    /// The port in the order of this machine.
    var port: UInt16 {
        var storage = self.storage
        return unsafe withUnsafeBytes(of: &storage) { bytes in
            // Both families have the port in the same place.
            UInt16(bigEndian: unsafe bytes.load(fromByteOffset: 2, as: UInt16.self))
        }
    }

    /// The address as text, without the port.
    var host: String {
        var text = [CChar](repeating: 0, count: 64)
        let status = unsafe self.withPointer { pointer in unsafe uv_ip_name(pointer, &text, text.count) }
        if status < 0 { return "" }
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Lends the address in the form that C calls take.
    func withPointer<R>(_ body: (UnsafePointer<sockaddr>) -> R) -> R {
        unsafe withUnsafePointer(to: self.storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in unsafe body(address) }
        }
    }
}
