// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// A TCP connection to a server of this machine, which sends arbitrary bytes and reads responses as text.
final class RawClient {
    struct Response: Equatable {
        var status: Int
        var headers: [String: String]
        var body: String
    }

    struct Failure: Error { let text: String }

    private let descriptor: Int32
    private var buffer: [UInt8] = []

    init(port: UInt16) throws {
        self.descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var readTimeout = timeval(tv_sec: 20, tv_usec: 0)
        unsafe setsockopt(
            self.descriptor, SOL_SOCKET, SO_RCVTIMEO, &readTimeout, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = unsafe inet_addr("127.0.0.1")
        let code = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(self.descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw Failure(text: "cannot connect: errno \(errno)") }
    }

    deinit { close(self.descriptor) }

    func send(_ text: String) { self.send(Array(text.utf8)) }

    /// Sends bytes; it is not an error if the server has closed the connection.
    func send(_ bytes: [UInt8]) {
        _ = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(self.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
    }

    /// Waits until the server closes the connection, and returns the bytes that it sent before.
    func readToEnd() -> String {
        while self.fill() {}
        return String(decoding: self.buffer, as: UTF8.self)
    }

    /// Sends a byte every 100 ms until the server closes the connection, and returns how long this took.
    func sendSlowly(_ text: String) throws -> Duration {
        let startedAt = ContinuousClock.now
        for byte in text.utf8 {
            self.send([byte])
            var received = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
            if unsafe poll(&received, 1, 100) > 0, !self.fill() { return ContinuousClock.now - startedAt }
            if received.revents == 0 { continue }
            // The server has sent something, so the first `poll` returned early. The second one only waits 100 ms.
            _ = poll(nil, 0, 100)
        }
        throw Failure(text: "the server has not closed the connection")
    }

    /// Tells the server that the client sends nothing more; the client can still read.
    func endSending() { shutdown(self.descriptor, Int32(SHUT_WR)) }

    /// Reads one response with a `Content-Length`, or only its head when `hasBody` is false.
    func readResponse(hasBody: Bool = true) throws -> Response {
        let headTerminator = Array("\r\n\r\n".utf8)
        var headEnd: Range<Int>?
        while headEnd == nil {
            headEnd = self.buffer.firstRange(of: headTerminator)
            if headEnd == nil, !self.fill() {
                throw Failure(text: "no response, only \(String(decoding: self.buffer, as: UTF8.self))")
            }
        }
        guard let headEnd else { throw Failure(text: "no response") }
        let lines = String(decoding: self.buffer[..<headEnd.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
        }
        let length = hasBody ? Int(headers["content-length"] ?? "0") ?? 0 : 0
        while self.buffer.count < headEnd.upperBound + length {
            if !self.fill() { throw Failure(text: "the body is incomplete") }
        }
        let body = String(decoding: self.buffer[headEnd.upperBound..<headEnd.upperBound + length], as: UTF8.self)
        self.buffer.removeFirst(headEnd.upperBound + length)
        return Response(status: Int(lines[0].split(separator: " ")[1]) ?? 0, headers: headers, body: body)
    }

    /// Waits until a response begins or the server closes the connection.
    ///
    /// - Returns: whether one of the two happened within the socket's timeout of 20 s.
    func waitForResponseOrEnd() -> Bool { self.fill() || errno != EAGAIN }

    /// Reads more bytes into the buffer; returns false at the end of the connection and after the socket's timeout.
    private func fill() -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        errno = 0
        let count = unsafe recv(self.descriptor, &chunk, chunk.count, 0)
        guard count > 0 else { return false }
        self.buffer += chunk[..<count]
        return true
    }
}
