// SPDX-License-Identifier: Apache-2.0
import Glibc
import MachineKit
import Presence
import RedisClient

/// A blocking Redis client for tests, independent of the client under test.
final class PlainRedisClient {
    struct Failure: Error {}

    private let descriptor: Int32
    /// The received bytes.
    private var buffer: [UInt8] = []
    /// The index of the first byte in `buffer` that has not been read yet.
    private var position = 0

    init(port: Int) throws {
        self.descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        // The IP address 127.0.0.1.
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe connect(self.descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            close(self.descriptor)
            throw Failure()
        }
    }

    deinit { close(self.descriptor) }

    /// Runs one command, such as `run("HGET", key, field)`; returns its reply.
    @discardableResult
    func run(_ words: String...) throws -> RedisReply { try self.run([words])[0] }

    /// Runs commands in one pipeline; returns their replies.
    func run(_ commands: [[String]]) throws -> [RedisReply] {
        var bytes: [UInt8] = []
        for words in commands {
            bytes += "*\(words.count)\r\n".utf8
            for word in words {
                bytes += "$\(word.utf8.count)\r\n".utf8
                bytes += word.utf8
                bytes += "\r\n".utf8
            }
        }
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                let unsent = unsafe UnsafeRawBufferPointer(rebasing: $0[sent...])
                return unsafe send(self.descriptor, unsent.baseAddress, unsent.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure() }
            sent += count
        }
        return try commands.map { _ in try self.readReply() }
    }

    private func readReply() throws -> RedisReply {
        let line = try self.readLine()
        let text = String(line.dropFirst())
        switch line.first {
        case "+": return .status(text)
        case "-": return .error(text)
        case ":":
            guard let number = Int64(text) else { throw Failure() }
            return .integer(number)
        case "$":
            guard let count = Int(text) else { throw Failure() }
            if count < 0 { return .null }
            let bytes = Array(try self.readBytes(count))
            // Two bytes, CR and LF, end the reply.
            _ = try self.readBytes(2)
            return .bytes(bytes)
        case "*":
            guard let count = Int(text) else { throw Failure() }
            if count < 0 { return .null }
            return .array(try (0..<count).map { _ in try self.readReply() })
        default: throw Failure()
        }
    }

    private func readLine() throws -> String {
        var bytes: [UInt8] = []
        while true {
            let byte = try self.readBytes(1)
            if byte.first == UInt8(ascii: "\n") { break }
            bytes += byte
        }
        return String(decoding: bytes.dropLast(), as: UTF8.self)
    }

    private func readBytes(_ count: Int) throws -> ArraySlice<UInt8> {
        while self.buffer.count - self.position < count {
            // The part of the buffer that has been read is removed when it is larger than 1 MiB.
            if self.position > 1 << 20 {
                self.buffer.removeFirst(self.position)
                self.position = 0
            }
            var chunk = [UInt8](repeating: 0, count: 1 << 16)
            let received = unsafe chunk.withUnsafeMutableBytes {
                unsafe recv(self.descriptor, $0.baseAddress, $0.count, 0)
            }
            guard received > 0 else { throw Failure() }
            self.buffer += chunk[..<received]
        }
        defer { self.position += count }
        return self.buffer[self.position..<(self.position + count)]
    }
}

extension RedisReply {
    /// The reply that is the string `text`.
    static func text(_ text: String) -> RedisReply { .bytes(Array(text.utf8)) }

    /// All texts in the reply, including those in nested replies.
    var allTexts: [String] {
        if case .array(let elements) = self { return elements.flatMap(\.allTexts) }
        if let text = self.text { return [text] }
        return []
    }
}

extension RedisLeaseConnection {
    /// A connection that reconnects at once after a loss, without a pause.
    static func withoutPause(port: Int) -> RedisLeaseConnection {
        var clockMilliseconds: Int64 = 0
        return RedisLeaseConnection(
            RedisClient.Settings(host: "127.0.0.1", port: port),
            breaker: CircuitBreaker(pause: .zero, now: { MonotonicTime(milliseconds: 0) }),
            random: SeededRandom(seed: 1),
            // Each reading of the clock is 10 s after the last one, which is longer than any pause.
            now: {
                clockMilliseconds += 10_000
                return MonotonicTime(milliseconds: clockMilliseconds)
            })
    }
}
