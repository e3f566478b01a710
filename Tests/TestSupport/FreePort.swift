// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Finds free ports of 127.0.0.1 for servers that cannot choose one themselves.
package enum FreePort {
    /// A port that was free a moment ago.
    ///
    /// - Throws: `FreePortError` if the system has no free port.
    package static func find() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw FreePortError(errno: errno) }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        // 127.0.0.1, at a port that the system chooses.
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                guard unsafe bind(descriptor, generic, length) == 0 else { return errno }
                return unsafe getsockname(descriptor, generic, &length) == 0 ? 0 : errno
            }
        }
        guard code == 0 else { throw FreePortError(errno: code) }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}

/// Why a socket for a test could not be opened or bound.
package struct FreePortError: Error {
    /// The system's error code.
    package var errno: Int32
}
