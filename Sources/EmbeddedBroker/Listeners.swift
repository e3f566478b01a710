// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The brokers' listening sockets, which librdkafka opens and keeps to itself.
enum Listeners {
    /// Makes all connections that come from now on answer at once.
    ///
    /// Without TCP_NODELAY, which they inherit, the second of two small answers waits up to 40 ms until the client has
    /// acknowledged the first: a batch that writes several partitions then takes 60 ms instead of 5.
    ///
    /// - Parameter ports: where the brokers listen.
    static func answerAtOnce(ports: Set<UInt16>) {
        for descriptor in 0..<min(getdtablesize(), 65_536) where Self.isListening(descriptor, on: ports) {
            var isOn: Int32 = 1
            _ = unsafe setsockopt(
                descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    private static func isListening(_ descriptor: Int32, on ports: Set<UInt16>) -> Bool {
        var accepts: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &size) == 0, accepts != 0 else {
            return false
        }
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let found = unsafe withUnsafeMutablePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &length) }
        }
        return found == 0 && address.sin_family == sa_family_t(AF_INET)
            && ports.contains(UInt16(bigEndian: address.sin_port))
    }
}
