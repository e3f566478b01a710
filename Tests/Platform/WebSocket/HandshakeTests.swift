// SPDX-License-Identifier: Apache-2.0
import MachineKit
import Testing
import WebSocket

/// Tests of the HTTP requests and responses that open a WebSocket connection.
@Suite struct HandshakeTests {
    /// The lines of a valid request: the request line with the index 0, and the fields with the indexes 1 to 7.
    static let lines = [
        "GET /chat?token=a%20b%2Bc&x HTTP/1.1", "Host: server.example.com", "Upgrade: websocket", "Connection: Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Origin: http://example.com",
        "Sec-WebSocket-Protocol: chat, liveplaza.v1", "Sec-WebSocket-Version: 13",
    ]

    /// Parses a request of `lines` in which some lines are replaced or removed.
    ///
    /// A key of `changes` is the index of a changed line, and the value has the lines in its place, or none.
    static func request(
        _ changes: [Int: [String]] = [:], policy: HandshakePolicy = HandshakePolicy(subprotocols: ["liveplaza.v1"])
    ) throws -> UpgradeRequest {
        let lines = Self.lines.enumerated().flatMap { changes[$0.offset] ?? [$0.element] }
        return try UpgradeRequest(Self.head(lines), policy: policy)
    }

    /// Reads an HTTP head that has these lines.
    static func head(_ lines: [String]) throws -> HandshakeHead {
        var reader = HandshakeHeadReader(maxBytes: 8_192)
        let bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        let result = try reader.consume(bytes.span)
        return try #require(result).head
    }

    /// Swift's comparison of strings with combining marks takes a time that grows with the square of their number.
    @Test func `a value has a question mark for each byte that is not ASCII, and no mark is compared`() throws {
        let marks = String(repeating: "\u{301}", count: 1500) + String(repeating: "\u{334}", count: 1500)
        let head = try Self.head(["GET / HTTP/1.1", "Connection: a\(marks)", "X: ä"])
        #expect(head.values("x") == ["??"])
        #expect(head.values("connection").first?.utf8.allSatisfy { $0 < 0x80 } == true)
    }

    @Test func `the handshake example of RFC 6455 gets the response of the RFC`() throws {
        let request = try Self.request()
        #expect(request.path == "/chat")
        #expect(request.query == "token=a%20b%2Bc&x")
        #expect(request.header("origin") == "http://example.com")
        #expect(request.subprotocol == "liveplaza.v1")
        #expect(
            request.response == """
                HTTP/1.1 101 Switching Protocols\r
                Upgrade: websocket\r
                Connection: Upgrade\r
                Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r
                Sec-WebSocket-Protocol: liveplaza.v1\r
                \r

                """)
    }

    @Test func `names and tokens of fields are case-insensitive, and a list may be split over fields`() throws {
        let request = try Self.request([
            1: ["HOST:x"], 2: ["uPGRADE:  h2c ,WebSocket"], 3: ["CONNECTION: keep-alive", "connection: uPgrade"],
            6: ["Sec-WebSocket-Protocol: a", "sec-websocket-protocol:\tliveplaza.v1 , b"],
        ])
        #expect(request.subprotocol == "liveplaza.v1")
        // A request without a known subprotocol is accepted, without a subprotocol.
        #expect(try Self.request([6: []]).subprotocol == nil)
        #expect(try Self.request([6: ["Sec-WebSocket-Protocol: other"]]).subprotocol == nil)
    }

    @Test func `each invalid request is rejected for its error, with the status of that error`() throws {
        // Each case is a valid request in which one line is changed or removed; see `request`.
        let cases: [(changes: [Int: [String]], rejection: HandshakeRejection, status: Int)] = [
            ([0: ["GET /"]], .malformed(.http), 400),
            ([0: ["GET / HTTP/1.0"]], .malformed(.http), 400),
            ([0: ["GET  / HTTP/1.1"]], .malformed(.http), 400),
            ([0: ["GET chat HTTP/1.1"]], .malformed(.target), 400),
            ([0: ["GET http://x/chat HTTP/1.1"]], .malformed(.target), 400),
            ([0: ["GET /chat#x HTTP/1.1"]], .malformed(.target), 400),
            ([0: ["POST /chat HTTP/1.1"]], .methodNotAllowed, 405),
            ([0: ["GET /other HTTP/1.1"]], .notFound, 404),
            ([1: []], .malformed(.host), 400),
            ([1: ["Host: a", "Host: b"]], .malformed(.host), 400),
            ([2: []], .upgradeRequired, 426),
            ([2: ["Upgrade: h2c"]], .upgradeRequired, 426),
            ([3: ["Connection: close"]], .malformed(.connection), 400),
            ([4: []], .malformed(.key), 400),
            ([4: ["Sec-WebSocket-Key: short"]], .malformed(.key), 400),
            ([4: ["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=!"]], .malformed(.key), 400),
            ([4: ["Sec-WebSocket-Key: !!!!!!!!!!!!!!!!!!!!!!=="]], .malformed(.key), 400),
            ([4: [Self.lines[4], Self.lines[4]]], .malformed(.key), 400),
            ([5: ["Content-Length: 3"]], .malformed(.http), 400),
            ([5: ["Transfer-Encoding: chunked"]], .malformed(.http), 400),
            ([6: ["Sec-WebSocket-Protocol: a b"]], .malformed(.subprotocol), 400),
            ([7: []], .malformed(.version), 400),
            ([7: ["Sec-WebSocket-Version: 8"]], .unsupportedVersion, 426),
        ]
        let policy = HandshakePolicy(paths: ["/chat"], subprotocols: ["liveplaza.v1"])
        for (changes, rejection, status) in cases {
            #expect(throws: rejection, "\(changes)") { try Self.request(changes, policy: policy) }
            #expect(rejection.status == status)
            #expect(rejection.response.hasPrefix("HTTP/1.1 \(status) "))
            #expect(rejection.response.hasSuffix("Content-Length: 0\r\n\r\n"))
        }
        #expect(HandshakeRejection.unsupportedVersion.response.contains("\r\nSec-WebSocket-Version: 13\r\n"))
        #expect(HandshakeRejection.methodNotAllowed.response.contains("\r\nAllow: GET\r\n"))
        #expect(HandshakeRejection.unavailable(retryAfter: .seconds(7)).response.contains("\r\nRetry-After: 7\r\n"))
        #expect(HandshakeRejection.headTooLarge.status == 431)
    }

    @Test func `a head that is not HTTP is malformed, and one with too many bytes or fields is too large`() throws {
        let malformedHeads = [
            ["GET / HTTP/1.1", "no colon"], ["GET / HTTP/1.1", ": empty"], ["GET / HTTP/1.1", "Host : x"],
            ["GET / HTTP/1.1", "Host: x", " folded"], ["GET / HTTP/1.1", "A: b\u{0}c"], ["GET /\u{7} HTTP/1.1"], [""],
        ]
        for lines in malformedHeads {
            #expect(throws: HandshakeHeadError.malformed, "\(lines)") { try Self.head(lines) }
        }
        var reader = HandshakeHeadReader(maxBytes: 100)
        // A line must end with CR LF.
        let lineFeedAlone = Array("GET / HTTP/1.1\n\r\n\r\n".utf8)
        #expect(throws: HandshakeHeadError.malformed) { _ = try reader.consume(lineFeedAlone.span) }

        var fullReader = HandshakeHeadReader(maxBytes: 100)
        let overLimit = [UInt8](repeating: 97, count: 101)
        #expect(throws: HandshakeHeadError.tooLarge) { _ = try fullReader.consume(overLimit.span) }
        // A head has at most 64 fields.
        let fields = (0..<64).map { "field-\($0): x" }
        #expect(try Self.head(["GET / HTTP/1.1"] + fields).fields.count == 64)
        #expect(throws: HandshakeHeadError.tooLarge) { try Self.head(["GET / HTTP/1.1", "one-more: x"] + fields) }
    }

    @Test func `a head may arrive in two pieces, and the bytes after it are not consumed`() throws {
        let bytes = Array((Self.lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        // The first bytes of a frame that arrive together with the head.
        let following: [UInt8] = [0x81, 0x80, 1, 2]
        for split in 0..<bytes.count {
            var reader = HandshakeHeadReader(maxBytes: 8_192)
            let firstPiece = Array(bytes[..<split])
            let secondPiece = Array(bytes[split...]) + following
            #expect(try reader.consume(firstPiece.span) == nil)
            let result = try #require(try reader.consume(secondPiece.span))
            #expect(result.usedBytes == secondPiece.count - following.count)
            #expect(result.head.fields.count == Self.lines.count - 1)
        }
    }

    @Test func `random and mutated heads never trap`() throws {
        var random = SeededRandom(seed: 5)
        let bytes = Array((Self.lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        var acceptedCount = 0
        for _ in 0..<20_000 {
            var mutated = bytes
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                mutated[Int.random(in: 0..<mutated.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            var reader = HandshakeHeadReader(maxBytes: 400)
            guard let result = try? reader.consume(mutated.span) else { continue }
            if (try? UpgradeRequest(result.head, policy: HandshakePolicy())) != nil { acceptedCount += 1 }
        }
        // Zero to three bytes of a head are changed, so about a quarter of the heads, 5,000, stays valid.
        #expect(acceptedCount > 1_000, "too few heads were accepted: \(acceptedCount)")
    }

    @Test func `our server accepts our client's request, and our client accepts our server's response`() throws {
        let target = WebSocketTarget(
            host: "127.0.0.1", port: 8_080, path: "/?a=b", subprotocols: ["liveplaza.v1"],
            fields: [HandshakeHead.Field(name: "Authorization", value: "Bearer x")])
        let client = ClientHandshake(target, nonce: (1, 2))
        let lines = client.request.split(separator: "\r\n").map(String.init)
        let request = try UpgradeRequest(
            try Self.head(lines), policy: HandshakePolicy(paths: ["/"], subprotocols: ["liveplaza.v1"]))
        #expect(request.header("host") == "127.0.0.1:8080")
        #expect(request.header("authorization") == "Bearer x")
        let response = try Self.head(request.response.split(separator: "\r\n").map(String.init))
        #expect(try client.check(response) == "liveplaza.v1")
        // A response to the nonce of another request is rejected.
        #expect(throws: HandshakeFailure.notWebSocket) { try ClientHandshake(target, nonce: (1, 3)).check(response) }
    }

    @Test func `each invalid response fails the client's handshake for its error`() throws {
        let client = ClientHandshake(WebSocketTarget(host: "h", port: 1, subprotocols: ["a"]), nonce: (1, 2))
        let request = try UpgradeRequest(
            try Self.head(client.request.split(separator: "\r\n").map(String.init)), policy: HandshakePolicy())
        let validLines = request.response.split(separator: "\r\n").map(String.init)
        // The valid response names no subprotocol.
        #expect(try client.check(Self.head(validLines)) == nil)
        let cases: [([String], HandshakeFailure)] = [
            (["HTTP/1.1 503 No", "Retry-After: 9"], .refused(status: 503, retryAfter: .seconds(9))),
            (["HTTP/1.1 200 OK"], .refused(status: 200, retryAfter: nil)),
            (["HTTP/2 101 x"], .malformed), (["HTTP/1.1"], .malformed), (["HTTP/1.1 abc"], .malformed),
            // A status has exactly three digits; these lines would open the WebSocket if they were read as 101.
            (["HTTP/1.1 +101 x"] + validLines.dropFirst(), .malformed),
            (["HTTP/1.1 0101 x"] + validLines.dropFirst(), .malformed),
            // Only a number of seconds without a sign is a time to wait.
            (["HTTP/1.1 503 No", "Retry-After: -9"], .refused(status: 503, retryAfter: nil)),
            (["HTTP/1.1 503 No", "Retry-After: +9"], .refused(status: 503, retryAfter: nil)),
            // One of the three fields after the status line is missing.
            ([validLines[0], validLines[2], validLines[3]], .notWebSocket),
            ([validLines[0], validLines[1], validLines[3]], .notWebSocket),
            ([validLines[0], validLines[1], validLines[2]], .notWebSocket),
            // The client has offered no extension, and only the subprotocol `a`, which may be chosen once.
            (validLines + ["Sec-WebSocket-Extensions: permessage-deflate"], .unofferedChoice),
            (validLines + ["Sec-WebSocket-Protocol: b"], .unofferedChoice),
            (validLines + ["Sec-WebSocket-Protocol: a", "Sec-WebSocket-Protocol: a"], .unofferedChoice),
        ]
        for (lines, failure) in cases {
            #expect(throws: failure, "\(lines)") { try client.check(Self.head(lines)) }
        }
    }
}
