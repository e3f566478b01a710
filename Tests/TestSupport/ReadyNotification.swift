// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import Glibc

/// A socket on which a server reports that it is ready, so that a test need not poll the server.
///
/// The format is that of systemd: the variable `NOTIFY_SOCKET` names the socket, and the server sends `READY=1`.
final class ReadyNotification {
    /// The socket's path, for the server's environment.
    let path: String
    /// A directory that is removed with this object.
    let directory: String
    private let descriptor: Int32

    /// Creates the directory and the socket.
    ///
    /// - Throws: an error if one of them cannot be created.
    init() throws {
        self.directory = NSTemporaryDirectory() + "/lp-\(UUID().uuidString)"
        self.path = self.directory + "/ready"
        try FileManager.default.createDirectory(atPath: self.directory, withIntermediateDirectories: true)
        self.descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(self.path.utf8)
        let fitsAddress = unsafe withUnsafeMutableBytes(of: &address.sun_path) { destination in
            guard bytes.count < destination.count else { return false }
            unsafe destination.copyBytes(from: bytes)
            return true
        }
        let code = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(self.descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard fitsAddress, code == 0 else { throw FreePortError(errno: errno) }
    }

    deinit {
        close(self.descriptor)
        try? FileManager.default.removeItem(atPath: self.directory)
    }

    /// Waits until the server is ready; returns false if the server is not ready within this time.
    func wait(milliseconds: Int) -> Bool {
        let deadline = DispatchTime.now().uptimeNanoseconds + UInt64(milliseconds) * 1_000_000
        var bytes = [UInt8](repeating: 0, count: 1_024)
        while true {
            let now = DispatchTime.now().uptimeNanoseconds
            guard now < deadline else { return false }
            var entry = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&entry, 1, Int32(clamping: (deadline - now) / 1_000_000)) > 0 else { continue }
            let count = unsafe recv(self.descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            if count > 0, String(decoding: bytes[..<count], as: UTF8.self).contains("READY=1") { return true }
        }
    }
}
