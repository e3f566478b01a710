// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Access to the brokers' listening sockets, which librdkafka opens but does not expose.
enum Listeners {
    /// Sets TCP_NODELAY on the listening sockets; accepted connections inherit it.
    ///
    /// Without TCP_NODELAY, the second of two small responses is delayed by up to 40 ms, until the client has
    /// acknowledged the first response. A batch that writes to several partitions then takes 60 ms instead of 5 ms.
    ///
    /// - Parameter ports: the ports on which the brokers listen.
    static func disableNagle(ports: Set<UInt16>) {
        for descriptor in 0..<min(getdtablesize(), Self.maxDescriptors) where Self.isListening(descriptor, on: ports) {
            var isOn: Int32 = 1
            _ = unsafe setsockopt(
                descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    /// How many descriptors are looked at; without this limit it could be as many as the system allows, a thousand
    /// million.
    private static let maxDescriptors: Int32 = 65_536

    /// Whether `descriptor` is an IPv4 socket that listens on one of `ports`.
    private static func isListening(_ descriptor: Int32, on ports: Set<UInt16>) -> Bool {
        var isListening: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0,
            isListening != 0
        else {
            return false
        }
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &length) }
        }
        return status == 0 && address.sin_family == sa_family_t(AF_INET)
            && ports.contains(UInt16(bigEndian: address.sin_port))
    }
}
