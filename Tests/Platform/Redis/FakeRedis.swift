// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Foundation
import Glibc

/// A server for one Redis client, which answers each request with the next reply of a list, whatever the request is.
final class FakeRedis: Sendable {
    /// The reply of a Redis to the client's handshake, which asks for the run id.
    static let handshakeReply = Array("$12\r\nrun_id:fake\n\r\n".utf8)

    let port: Int
    private let listener: Int32

    /// Listens at a free port, and serves the first connection.
    ///
    /// - Parameter replies: the reply to each request, in order; the first request is the handshake. After the last
    ///   reply the server stays silent.
    init(replies: [[UInt8]]) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        // 127.0.0.1, at a port that the system chooses.
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { socketAddress in
                _ = unsafe bind(listener, socketAddress, length)
                _ = unsafe getsockname(listener, socketAddress, &length)
            }
        }
        listen(listener, 4)
        self.listener = listener
        self.port = Int(UInt16(bigEndian: address.sin_port))
        _ = DedicatedThread("test") {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { return }
            var chunk = [UInt8](repeating: 0, count: 65_536)
            var unsentReplies = replies[...]
            // This thread ends when the client disconnects.
            while unsafe recv(connection, &chunk, chunk.count, 0) > 0 {
                guard let reply = unsentReplies.popFirst() else { continue }
                var sentBytes = 0
                while sentBytes < reply.count {
                    let count = unsafe reply.withUnsafeBytes {
                        unsafe send(
                            connection, $0.baseAddress?.advanced(by: sentBytes), reply.count - sentBytes,
                            Int32(MSG_NOSIGNAL))
                    }
                    guard count > 0 else { break }
                    sentBytes += count
                }
            }
            close(connection)
        }
    }

    deinit {
        shutdown(self.listener, Int32(SHUT_RDWR))
        close(self.listener)
    }
}
