// SPDX-License-Identifier: Apache-2.0
import EventLoop
import TestSupport
import Testing
import WebSocket

/// Tests of WebSocket connections from their handshake to their end, over TCP on one event loop.
@Suite struct ConnectionTests {
    /// The code with which a browser closes its connections when the user leaves the page (RFC 6455, section 7.4.1).
    private static let goingAway = CloseCode(rawValue: 1001)

    @Test func `client and server open a connection, exchange messages, close it and release it`() throws {
        let serverEvents = EventRecorder()
        let clientEvents = EventRecorder()
        try runLoop { loop in
            let server = try makeServer(loop, serverEvents) { $0.policy.subprotocols = ["liveplaza.v1"] }
            let group = WebSocketGroup(loop: loop)
            serverEvents.onOpened = { connection in
                #expect(connection.subprotocol == "liveplaza.v1")
                connection.sendText("welcome")
            }
            serverEvents.onText = { connection, text in connection.sendText("\(text) to you") }
            clientEvents.onText = { connection, text in
                if text == "welcome" { #expect(connection.sendText("héllo") == .sent) }
                if text == "héllo to you" { connection.close(.normal, reason: "done") }
            }
            _ = try WebSocketConnection.connect(
                group: group,
                to: WebSocketTarget(
                    host: "127.0.0.1", port: server.port, path: "/?a=1", subprotocols: ["liveplaza.v1"]),
                delegate: clientEvents)
            let releaseTimer = try LoopTimer(loop: loop) { _ in
                let areConnectionsReleased = server.group.count == 0 && group.count == 0
                if areConnectionsReleased { loop.stop() }
            }
            clientEvents.onClosed = { connection, _ in
                #expect(connection.sendText("late") == .notOpen)
                releaseTimer.start(after: .milliseconds(1), repeating: .milliseconds(1))
            }
        }
        #expect(serverEvents.requests.first??.query == "a=1")
        // Only a server receives an upgrade request, so the client reports none.
        #expect(clientEvents.requests == [nil])
        #expect(serverEvents.texts == ["héllo"])
        #expect(clientEvents.texts == ["welcome", "héllo to you"])
        #expect(serverEvents.closures == [WebSocketClosure(code: .normal, reason: "done", cause: .peer)])
        #expect(clientEvents.closures == [WebSocketClosure(code: .normal, reason: "done", cause: .thisSide)])
    }

    @Test func `a server closes a connection with an application's code, and both sides report that code`() throws {
        let serverEvents = EventRecorder()
        let clientEvents = EventRecorder()
        let code = CloseCode(rawValue: 4_001)
        try runLoop { loop in
            let server = try makeServer(loop, serverEvents)
            serverEvents.onOpened = { $0.close(code, reason: "no") }
            clientEvents.onClosed = { _, _ in if serverEvents.closures.count == 1 { loop.stop() } }
            serverEvents.onClosed = { _, _ in if clientEvents.closures.count == 1 { loop.stop() } }
            _ = try WebSocketConnection.connect(
                group: WebSocketGroup(loop: loop), to: WebSocketTarget(host: "127.0.0.1", port: server.port),
                delegate: clientEvents)
        }
        #expect(clientEvents.closures == [WebSocketClosure(code: code, reason: "no", cause: .peer)])
        #expect(serverEvents.closures == [WebSocketClosure(code: code, reason: "no", cause: .thisSide)])
    }

    @Test func `a close frame is answered with the same code, and then the server ends the TCP connection`() throws {
        let serverEvents = EventRecorder()
        var client: RawClient?
        try runLoop { loop in
            let server = try makeServer(loop, serverEvents)
            client = try RawClient(loop, port: server.port)
            client?.onUpgraded = { $0.send(masked(.close, FrameEncoder.closePayload(Self.goingAway, reason: "bye"))) }
            client?.onEnded = { _ in loop.stop() }
        }
        #expect(client?.events == [.close(Self.goingAway, "")])
        #expect(client?.endError == .endOfStream)
        #expect(serverEvents.closures == [WebSocketClosure(code: Self.goingAway, reason: "bye", cause: .peer)])
    }

    @Test func `a client that sends each byte alone is served`() throws {
        let serverEvents = EventRecorder()
        var client: RawClient?
        let bytes =
            Array(RawClient.request.utf8) + masked(.text, Array("héllo".utf8), isFinal: false)
            + masked(.ping, [1, 2, 3]) + masked(.continuation, Array(" wörld".utf8))
            + masked(.text, [UInt8](repeating: 97, count: 300)) + masked(.close, [])
        try runLoop { loop in
            let server = try makeServer(loop, serverEvents)
            let rawClient = try RawClient(loop, port: server.port, opening: "")
            client = rawClient
            var nextByte = 0
            // The timer sends one byte in each turn of the loop. Nagle's algorithm is off, so each byte is a segment.
            let timer = try LoopTimer(loop: loop) { timer in
                if nextByte == bytes.count { return timer.close() }
                rawClient.send([bytes[nextByte]])
                nextByte += 1
            }
            rawClient.onConnected = { _ in timer.start(after: .milliseconds(1), repeating: .milliseconds(1)) }
            rawClient.onEnded = { _ in loop.stop() }
        }
        #expect(serverEvents.texts == ["héllo wörld", String(repeating: "a", count: 300)])
        #expect(client?.events == [.pong([1, 2, 3]), .close(nil, "")])
        #expect(serverEvents.closures == [WebSocketClosure(code: .noCode, reason: "", cause: .peer)])
    }

    @Test func `a frame that arrives together with the handshake is received`() throws {
        let serverEvents = EventRecorder()
        try runLoop { loop in
            let server = try makeServer(loop, serverEvents)
            let client = try RawClient(loop, port: server.port, opening: "")
            client.onConnected = { client in
                client.send(Array(RawClient.request.utf8) + masked(.text, Array("early".utf8)))
            }
            serverEvents.onText = { _, _ in loop.stop() }
        }
        #expect(serverEvents.texts == ["early"])
    }

    @Test func `one encoded frame can be sent to many connections, and twice at once to one connection`() throws {
        let serverEvents = EventRecorder()
        let clientEvents = EventRecorder()
        let frame = FrameEncoder.text(String(repeating: "shared ", count: 50))
        let clientCount = 30
        // Each client receives the frame once alone, and then twice together.
        let textCount = 3 * clientCount
        try runLoop { loop in
            let server = try makeServer(loop, serverEvents)
            let group = WebSocketGroup(loop: loop)
            serverEvents.onOpened = { _ in
                // The last client has connected.
                if serverEvents.connections.count < clientCount { return }
                for connection in serverEvents.connections {
                    #expect(connection.send(frame) == .sent)
                    #expect(connection.send([frame, frame]) == .sent)
                }
            }
            clientEvents.onText = { _, _ in if clientEvents.texts.count == textCount { loop.stop() } }
            for _ in 0..<clientCount {
                _ = try WebSocketConnection.connect(
                    group: group, to: WebSocketTarget(host: "127.0.0.1", port: server.port), delegate: clientEvents)
            }
        }
        #expect(clientEvents.texts == [String](repeating: String(repeating: "shared ", count: 50), count: textCount))
    }

    @Test func `each protocol violation closes the connection with the close code of that violation`() throws {
        let cases: [([UInt8], CloseCode, ProtocolViolation)] = [
            (unmasked(.text, [97]), .protocolError, .maskMissing),
            (masked(.text, [0xFF]), .invalidData, .invalidUTF8),
            // The header announces 0xFFFF = 65,535 bytes, and the maximum is 1,000.
            ([0x82, 0xFE, 0xFF, 0xFF, 1, 2, 3, 4], .messageTooBig, .messageTooBig),
        ]
        for (bytes, code, violation) in cases {
            let serverEvents = EventRecorder()
            var client: RawClient?
            try runLoop { loop in
                let server = try makeServer(loop, serverEvents) { $0.maxMessageBytes = 1_000 }
                client = try RawClient(loop, port: server.port)
                client?.onUpgraded = { $0.send(bytes) }
                client?.onEnded = { _ in loop.stop() }
            }
            #expect(client?.events == [.close(code, "")])
            #expect(client?.endError == .endOfStream)
            #expect(serverEvents.closures == [WebSocketClosure(code: code, reason: "", cause: .violation(violation))])
        }
    }

    @Test func `by default, a binary message closes the connection`() throws {
        let serverEvents = EventRecorder()
        var client: RawClient?
        try runLoop { loop in
            let server = try makeServer(loop, serverEvents) { $0.closeTimeout = .milliseconds(50) }
            client = try RawClient(loop, port: server.port)
            client?.onUpgraded = { $0.send(masked(.binary, [1])) }
            client?.onEnded = { _ in loop.stop() }
        }
        #expect(client?.events == [.close(.unsupportedData, "text only")])
        // The client did not answer the close frame, so the close timeout of 50 ms expired.
        #expect(serverEvents.closures.map(\.cause) == [.closeTimeout])
    }

    @Test func `an ended connection is freed, however it ended`() throws {
        // The client ends the connection by a close frame, a closed socket, invalid bytes, or the end of its stream.
        let endings: [(RawClient) -> Void] = [
            { $0.send(masked(.close, [])) }, { $0.stream?.close() }, { $0.send([UInt8](repeating: 0xFF, count: 14)) },
            { $0.stream?.finish() },
        ]
        for ending in endings {
            let serverEvents = WeakDelegate()
            try runLoop { loop in
                let group = WebSocketGroup(loop: loop)
                let server = try WebSocketServer(group: group, host: "127.0.0.1", port: 0, delegate: serverEvents)
                let client = try RawClient(loop, port: server.port)
                client.onUpgraded = { client in ending(client) }
                let timer = try LoopTimer(loop: loop) { _ in
                    if serverEvents.closureCount == 1, serverEvents.lastConnection == nil, group.count == 0 {
                        loop.stop()
                    }
                }
                timer.start(after: .milliseconds(1), repeating: .milliseconds(1))
            }
            #expect(serverEvents.closureCount == 1)
            #expect(serverEvents.lastConnection == nil)
        }
    }

    @Test func `a client's delegate is notified why the client could not connect`() throws {
        let closedPortEvents = EventRecorder()
        let wrongPathEvents = EventRecorder()
        try runLoop { loop in
            let server = try makeServer(loop, EventRecorder()) { $0.policy.paths = ["/here"] }
            let closedListener = try TCPListener(loop: loop, host: "127.0.0.1", port: 0) { _ in }
            let closedPort = closedListener.port
            closedListener.close()
            let group = WebSocketGroup(loop: loop)

            for recorder in [closedPortEvents, wrongPathEvents] {
                recorder.onClosed = { _, _ in
                    if closedPortEvents.closures.count + wrongPathEvents.closures.count == 2 { loop.stop() }
                }
            }
            _ = try WebSocketConnection.connect(
                group: group, to: WebSocketTarget(host: "127.0.0.1", port: closedPort), delegate: closedPortEvents)
            _ = try WebSocketConnection.connect(
                group: group, to: WebSocketTarget(host: "127.0.0.1", port: server.port, path: "/there"),
                delegate: wrongPathEvents)
        }
        #expect(closedPortEvents.closures.map(\.cause) == [.connection(.connectionRefused)])
        #expect(
            wrongPathEvents.closures.map(\.cause) == [.handshakeFailed(.refused(status: 404, retryAfter: nil))])
        #expect(closedPortEvents.requests.isEmpty && wrongPathEvents.requests.isEmpty)
    }
}

/// A delegate that holds its connection weakly, and is itself held by the connection's `context`.
private final class WeakDelegate: WebSocketDelegate {
    weak var lastConnection: WebSocketConnection?
    var closureCount = 0

    func webSocketOpened(_ connection: WebSocketConnection, _ request: UpgradeRequest?) {
        self.lastConnection = connection
        connection.context = self
    }

    func webSocket(_ connection: WebSocketConnection, receivedText text: Span<UInt8>) {}
    func webSocketClosed(_ connection: WebSocketConnection, _ closure: WebSocketClosure) { self.closureCount += 1 }
}
