// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import Glibc
package import KafkaClient

/// Short requests that test whether a server is reachable and ready; each uses its own TCP connection.
package enum HealthProbe {
    /// The response of an HTTP server.
    package struct Response: Sendable, Equatable {
        /// The status, such as 200.
        package let status: Int
        /// The whole body.
        package let body: String
    }

    /// Sends a GET request, with `bearerToken` in its header `Authorization`.
    ///
    /// - Returns: the response; nil when the server cannot be reached, exceeds the timeout, or does not respond with
    ///   HTTP, and when its response is incomplete or has more than `maxResponseBytes`.
    package static func http(
        host: String, port: Int, path: String, timeout: Duration = .seconds(1), bearerToken: String? = nil
    ) -> Response? {
        let authorization = bearerToken.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        let request =
            "GET \(path) HTTP/1.1\r\nHost: \(host):\(port)\r\n\(authorization)Connection: close\r\n\r\n"
        // The header `Connection: close` makes the server close the connection after the response.
        let bytes = self.exchange(host: host, port: port, Array(request.utf8), timeout) { _ in false }
        return bytes.flatMap { self.parse(response: $0) }
    }

    /// Parses a response; nil if it is not HTTP, or if its body is shorter than `Content-Length` says.
    package static func parse(response bytes: [UInt8]) -> Response? {
        let text = String(decoding: bytes, as: UTF8.self)
        // The words of the status line. Swift reads a carriage return with a line feed as one character.
        let words = text.prefix { $0 != "\r\n" && $0 != "\n" }.split(separator: " ")
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else { return nil }
        guard let headEnd = text.range(of: "\r\n\r\n") else { return nil }
        let body = text[headEnd.upperBound...]
        // An incomplete body is not returned, because it may end in the middle of a number.
        if let length = self.contentLength(of: text[..<headEnd.lowerBound]), body.utf8.count < length { return nil }
        return Response(status: status, body: String(body))
    }

    /// The value of the header `Content-Length`; nil if there is none.
    private static func contentLength(of head: Substring) -> Int? {
        for line in head.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == "content-length" else { continue }
            return Int(parts[1].trimmingCharacters(in: .whitespaces))
        }
        return nil
    }

    /// The largest response that is read: 4 MiB.
    ///
    /// A page of metrics has some 100 KB at most, because a metric has at most 200 samples.
    private static let maxResponseBytes = 4 << 20

    /// The metrics of a process on this machine, by its ops port; nil when it does not respond with 200.
    package static func metrics(port: Int) -> String? {
        let response = self.http(host: "127.0.0.1", port: port, path: "/metrics", timeout: .seconds(2))
        return response.flatMap { $0.status == 200 ? $0.body : nil }
    }

    /// Whether Redis answers a PING.
    package static func redisAnswers(
        host: String = "127.0.0.1", port: Int, timeout: Duration = .milliseconds(500)
    ) -> Bool {
        self.redisAnswers("+PONG\r\n", to: "PING", host: host, port: port, timeout)
    }

    /// Deletes all data of the Redis on this machine, and returns whether Redis confirmed it.
    static func flushRedis(port: Int) -> Bool {
        self.redisAnswers("+OK\r\n", to: "FLUSHALL", host: "127.0.0.1", port: port, .seconds(5))
    }

    /// Whether Redis answers exactly `answer` to `command`.
    private static func redisAnswers(
        _ answer: String, to command: String, host: String, port: Int, _ timeout: Duration
    ) -> Bool {
        let answer = Array(answer.utf8)
        let request = Array("\(command)\r\n".utf8)
        return self.exchange(host: host, port: port, request, timeout) { $0.count >= answer.count } == answer
    }

    /// Whether a broker answers an ApiVersions request, which every version of Kafka supports.
    package static func kafkaAnswers(host: String, port: Int, timeout: Duration = .seconds(1)) -> Bool {
        // Length 10, key 18 (ApiVersions), version 0, correlation id 0x4C50, no client id.
        let request: [UInt8] = [0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0x4C, 0x50, 0xFF, 0xFF]
        // The answer begins with the length (4 bytes), the same correlation id (4) and the error code 0 (2).
        let answer = self.exchange(host: host, port: port, request, timeout) { $0.count >= 10 }
        guard let answer, answer.count >= 10 else { return false }
        return Array(answer[4..<10]) == [0, 0, 0x4C, 0x50, 0, 0]
    }

    /// Whether a broker answers at one of the addresses in `bootstrap`: `host:port`, separated by commas.
    package static func kafkaAnswers(bootstrap: String) -> Bool {
        bootstrap.split(separator: ",").contains { address in
            guard let (host, port) = Self.split(address: String(address)) else { return false }
            return self.kafkaAnswers(host: host, port: port)
        }
    }

    /// Checks that an external broker answers a client with these security settings.
    ///
    /// If the settings have neither TLS nor a password, the addresses are probed once, without a Kafka client, until
    /// one answers. Otherwise a broker must answer a Kafka client within `timeout`.
    ///
    /// - Throws: `noKafka` when no broker answers; `kafkaRefuses` when the user or a certificate is rejected.
    package static func waitForKafka(
        bootstrap: String, security: KafkaSecurity, timeout: Duration = .seconds(10)
    ) throws(ClusterError) {
        if security.transport == .plaintext {
            guard self.kafkaAnswers(bootstrap: bootstrap) else { throw .noKafka(bootstrap) }
            return
        }
        do throws(KafkaError) {
            // The log lines of the Kafka client are dropped; the caller gets its errors.
            let settings = KafkaSettings(brokers: bootstrap, clientID: "plaza-up", security: security) { _, _, _ in }
            try KafkaAdmin(settings).waitUntilReachable(timeout: timeout)
        } catch {
            // `needsOperator`: the broker has answered and rejected the client, so retries would not help.
            if error.needsOperator { throw .kafkaRefuses(address: bootstrap, reason: error.description) }
            throw .noKafka(bootstrap)
        }
    }

    /// The parts of `host:port`; nil for any other text and for a port out of range.
    package static func split(address: String) -> (host: String, port: Int)? {
        guard let colon = address.lastIndex(of: ":"), let port = Int(address[address.index(after: colon)...]),
            (1...65_535).contains(port), colon != address.startIndex
        else { return nil }
        return (String(address[..<colon]), port)
    }

    /// The response of `GET /readyz` at a port of this machine; nil if there is none within 500 ms.
    static func readiness(port: Int) -> Response? {
        self.http(host: "127.0.0.1", port: port, path: "/readyz", timeout: .milliseconds(500))
    }

    /// Sends a probe to a process on this machine, and returns whether the process is ready.
    static func isReady(_ probe: Probe) -> Bool {
        switch probe {
        case .none: true
        case .http(let port): self.readiness(port: port)?.status == 200
        case .redis(let port): self.redisAnswers(port: port)
        case .kafka(let port): self.kafkaAnswers(host: "127.0.0.1", port: port)
        // The process writes this file when it is ready.
        case .announcement(let file): FileManager.default.fileExists(atPath: file)
        }
    }

    /// Sends `request` and reads until `isComplete` returns true, the peer closes the connection, a read exceeds the
    /// timeout, or `maxResponseBytes` were received.
    ///
    /// The timeout limits each system call, not the whole exchange. `isComplete` is called with all bytes received so
    /// far.
    ///
    /// - Returns: the bytes read; nil when connecting or sending fails.
    private static func exchange(
        host: String, port: Int, _ request: [UInt8], _ timeout: Duration, until isComplete: ([UInt8]) -> Bool
    ) -> [UInt8]? {
        guard let descriptor = self.connect(host: host, port: port, timeout) else { return nil }
        defer { close(descriptor) }
        let sent = unsafe request.withUnsafeBytes { bytes in
            unsafe send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        }
        guard sent == request.count else { return nil }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while answer.count < self.maxResponseBytes, !isComplete(answer) {
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe recv(descriptor, bytes.baseAddress, bytes.count, 0)
            }
            guard count > 0 else { break }
            answer += buffer[..<count]
        }
        return answer
    }

    /// Opens a TCP connection to the first of the host's addresses that accepts one; nil if none does.
    ///
    /// The timeout limits each attempt to connect, and each later send and receive.
    private static func connect(host: String, port: Int, _ timeout: Duration) -> Int32? {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, String(port), &hints, &list) == 0 else { return nil }
        defer { unsafe freeaddrinfo(list) }
        let (seconds, attoseconds) = timeout.components
        // A microsecond has 10^12 attoseconds.
        var socketTimeout = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
        let size = socklen_t(MemoryLayout<timeval>.size)
        var entry = unsafe list
        while let address = unsafe entry?.pointee {
            // A child process does not inherit the descriptor.
            let socketType = unsafe address.ai_socktype | Int32(SOCK_CLOEXEC.rawValue)
            let descriptor = unsafe socket(address.ai_family, socketType, 0)
            if descriptor >= 0 {
                unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &socketTimeout, size)
                unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &socketTimeout, size)
                if unsafe Glibc.connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 { return descriptor }
                close(descriptor)
            }
            unsafe entry = address.ai_next
        }
        return nil
    }
}
