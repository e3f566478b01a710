// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Glibc

/// Allocates ports for child processes.
///
/// An outgoing connection could occupy the port of a process that is being restarted. Therefore the range is below the
/// kernel's range for outgoing connections. This process allocates each port once before it allocates any port again,
/// and a test bind detects the ports that other processes use.
package enum PortRange {
    /// The range of the allocated ports.
    package static let bounds = 20_000..<32_000

    /// The port that `allocate` tried last; at first a random one.
    private static let lastCandidate = Locked(Int.random(in: PortRange.bounds))

    /// Allocates a free port on the loopback interface.
    ///
    /// - Throws: `noFreePort` when all ports of `bounds` are in use.
    package static func allocate() throws(ClusterError) -> Int {
        for _ in self.bounds {
            let candidate = self.lastCandidate.withLock { port in
                port = port + 1 < self.bounds.upperBound ? port + 1 : self.bounds.lowerBound
                return port
            }
            if self.isFree(candidate) { return candidate }
        }
        throw .noFreePort
    }

    /// Whether a listener could bind the port on the loopback interface now.
    package static func isFree(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // Servers set this option too: a port counts as free while its old connections are in TIME_WAIT.
        var isEnabled: Int32 = 1
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isEnabled, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        // 127.0.0.1.
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe bind(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
