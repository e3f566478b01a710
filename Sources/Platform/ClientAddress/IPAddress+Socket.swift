// SPDX-License-Identifier: Apache-2.0
package import Glibc

extension IPAddress {
    /// Reads the address of a socket; nil if it is neither IPv4 nor IPv6.
    ///
    /// - Parameter address: An address that the system filled in; its family says how long it is.
    package init?(socketAddress address: UnsafePointer<sockaddr>?) {
        guard let address = unsafe address else { return nil }
        let raw = unsafe UnsafeRawPointer(address)
        switch Int32(unsafe address.pointee.sa_family) {
        case AF_INET:
            self.init(ipv4: UInt32(bigEndian: unsafe raw.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr))
        case AF_INET6:
            let address6 = unsafe raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            let halves = unsafe unsafeBitCast(address6, to: (UInt64, UInt64).self)
            self.init(high: UInt64(bigEndian: halves.0), low: UInt64(bigEndian: halves.1))
        default: return nil
        }
    }
}
