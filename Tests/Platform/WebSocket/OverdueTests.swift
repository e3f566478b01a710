// SPDX-License-Identifier: Apache-2.0
import EventLoop
import MachineKit
import TestSupport
import Testing
import WebSocket

/// Slow and silent peers, unfinished handshakes, rejected requests, and a full server.
@Suite struct OverdueTests {
    @Test func `I16 a slow reader receives whole frames, then the close code for slow readers`() throws {
        let serverEvents = Recorder()
        var client: RawClient?
        var outcomes: [SendOutcome] = []
        try runLoop { loop in
            let server = try makeServer(loop, serverEvents) {
                // The small send buffer of 16 KiB makes frames wait in the queue soon.
                $0.maxPendingBytes = 200_000
                $0.overflowCode = CloseCode(rawValue: 3_008)
                $0.sendBufferBytes = 16_384
            }
            let rawClient = try RawClient(loop, port: server.port)
            client = rawClient
            rawClient.onUpgraded = { $0.stream?.pauseReading() }
            serverEvents.onOpened = { connection in
                let timer = try? LoopTimer(loop: loop) { timer in
                    timer.close()
                    let frame = FrameEncoder.text(String(repeating: "x", count: 3_000))
                    for _ in 0..<100_000 where outcomes.last != .overflow {
                        outcomes.append(connection.send(frame))
                        // Only the close frame may exceed the limit of 200,000 bytes.
                        #expect(connection.pendingBytes <= 200_500)
                    }
                    #expect(connection.send(frame) == .notOpen)
                    rawClient.stream?.startReading()
                }
                // The timer waits until the client has received the handshake's response and has stopped reading.
                timer?.start(after: .milliseconds(30))
            }
            rawClient.onEvent = { rawClient, event in
                if case .close(let code?, _) = event {
                    rawClient.send(masked(.close, FrameEncoder.closePayload(code, reason: "")))
                }
            }
            rawClient.onEnded = { _ in loop.stop() }
        }
        #expect(outcomes.first == .sent)
        #expect(outcomes.contains(.queued))
        #expect(outcomes.last == .overflow)
        #expect(client?.events.last == .close(CloseCode(rawValue: 3_008), "too slow"))
        let texts = client?.events.dropLast() ?? []
        #expect(texts.allSatisfy { $0 == .text([UInt8](repeating: UInt8(ascii: "x"), count: 3_000)) })
        // At least the frame that overflowed the queue was not sent.
        #expect(texts.count < outcomes.count)
        #expect(
            serverEvents.closures
                == [WebSocketClosure(code: CloseCode(rawValue: 3_008), reason: "too slow", cause: .slowReader)])
    }

    @Test func `when a slow reader catches up, the delegate is notified once that it is writable`() throws {
        let serverEvents = Recorder()
        var writableCount = 0
        var sentCount = 0
        try runLoop { loop in
            let server = try makeServer(loop, serverEvents) { $0.sendBufferBytes = 16_384 }
            let rawClient = try RawClient(loop, port: server.port)
            serverEvents.onOpened = { connection in
                let frame = FrameEncoder.text(String(repeating: "x", count: 3_000))
                while connection.send(frame) == .sent { sentCount += 1 }
                // The last frame was queued, and is sent later.
                sentCount += 1
                #expect(connection.pendingBytes > 0)
            }
            serverEvents.onWritable = { connection in
                writableCount += 1
                #expect(connection.pendingBytes == 0)
            }
            rawClient.onEvent = { rawClient, _ in
                if rawClient.events.count == sentCount && writableCount == 1 { loop.stop() }
            }
            // The connection may become writable after the client has received the last frame.
            let timer = try LoopTimer(loop: loop) { _ in
                if sentCount > 0, rawClient.events.count == sentCount, writableCount == 1 { loop.stop() }
            }
            timer.start(after: .milliseconds(5), repeating: .milliseconds(5))
        }
        #expect(writableCount == 1)
    }

    @Test func `a connection without a pong is closed, and a connection with a pong stays open`() throws {
        let serverEvents = Recorder()
        let aliveEvents = Recorder()
        var silentClient: RawClient?
        try runLoop { loop in
            let server = try makeServer(loop, serverEvents) {
                $0.pingInterval = .milliseconds(40)
                $0.pongTimeout = .milliseconds(80)
            }
            silentClient = try RawClient(loop, port: server.port)
            _ = try WebSocketConnection.connect(
                group: WebSocketGroup(loop: loop), to: WebSocketTarget(host: "127.0.0.1", port: server.port),
                delegate: aliveEvents)
            serverEvents.onClosed = { _, _ in
                // When this timer fires, the peer that sends pongs has received at least two pings.
                let timer = try? LoopTimer(loop: loop) { _ in loop.stop() }
                timer?.start(after: .milliseconds(200))
            }
        }
        #expect(silentClient?.events.first == .ping([]))
        #expect(serverEvents.closures.first?.cause == .pingTimeout)
        // The connection that sends pongs ended only when the test stopped the loop.
        #expect(aliveEvents.closures.map(\.cause) == [.connection(.loopEnding)])
        #expect(serverEvents.closures.count == 2)
    }

    @Test func `a pong that arrives while this process is paused counts, although it is read late`() throws {
        let serverEvents = Recorder()
        let clientEvents = Recorder()
        try runLoop { loop in
            var configuration = WebSocketConfiguration()
            configuration.pongTimeout = .milliseconds(50)
            let group = WebSocketGroup(loop: loop, configuration: configuration)
            let server = try WebSocketServer(group: group, host: "127.0.0.1", port: 0, delegate: serverEvents)
            serverEvents.onOpened = { connection in
                connection.ping()
                // The whole process is blocked for longer than the pong timeout.
                let blockedUntil = loop.nowMilliseconds + 100
                while loop.nowMilliseconds < blockedUntil { loop.updateNow() }
                // A sweep checks the timeouts of all connections; the second one comes after the pong was read.
                group.sweep()
                let timer = try? LoopTimer(loop: loop) { _ in
                    group.sweep()
                    loop.stop()
                }
                timer?.start(after: .milliseconds(30))
            }
            _ = try WebSocketConnection.connect(
                group: WebSocketGroup(loop: loop), to: WebSocketTarget(host: "127.0.0.1", port: server.port),
                delegate: clientEvents)
        }
        #expect(serverEvents.closures.map(\.cause) == [.connection(.loopEnding)], "not .pingTimeout")
    }

    @Test func `an unfinished handshake times out`() throws {
        let serverEvents = Recorder()
        // The array keeps the clients alive.
        var clients: [RawClient] = []
        var openClients = 3
        try runLoop { loop in
            let server = try makeServer(loop, serverEvents) { $0.handshakeTimeout = .milliseconds(60) }
            // Nothing, a part of the first line, and all but the empty line at the end.
            for opening in ["", "GET / HT", String(RawClient.request.dropLast(2))] {
                let client = try RawClient(loop, port: server.port, opening: opening)
                client.onEnded = { _ in
                    openClients -= 1
                    if openClients > 0 { return }
                    // The server's connection may be released later in the same turn.
                    let timer = try? LoopTimer(loop: loop) { _ in
                        #expect(server.group.count == 0)
                        loop.stop()
                    }
                    timer?.start(after: .milliseconds(1))
                }
                clients.append(client)
            }
        }
        #expect(openClients == 0)
        #expect(serverEvents.connections.isEmpty && serverEvents.closures.isEmpty)
    }

    @Test func `a client's handshake times out when the server does not answer`() throws {
        let clientEvents = Recorder()
        let acceptor = SilentAcceptor()
        try runLoop { loop in
            let listener = try TCPListener(loop: loop, host: "127.0.0.1", port: 0) { stream in
                stream.delegate = acceptor
            }
            var configuration = WebSocketConfiguration()
            configuration.handshakeTimeout = .milliseconds(50)
            let group = WebSocketGroup(loop: loop, configuration: configuration)
            try group.startSweeping(every: .milliseconds(20))
            clientEvents.onClosed = { _, _ in loop.stop() }
            _ = try WebSocketConnection.connect(
                group: group, to: WebSocketTarget(host: "127.0.0.1", port: listener.port), delegate: clientEvents)
        }
        #expect(clientEvents.closures.map(\.cause) == [.handshakeTimeout])
    }

    @Test func `a rejected request receives its whole response, then the end of the stream`() throws {
        let cases: [(String, String)] = [
            ("GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 404 Not Found\r\n"),
            ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 426 Upgrade Required\r\n"),
            ("POST / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 405 Method Not Allowed\r\n"),
            ("\u{16}\u{3}\u{1}garbage\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n"),
            // The client sends far more than the server reads: a reset must not discard the response.
            ("GET / HTTP/1.1\r\nA: " + String(repeating: "a", count: 300_000), "HTTP/1.1 431 Request Header"),
        ]
        for (opening, response) in cases {
            var client: RawClient?
            try runLoop { loop in
                let server = try makeServer(loop, Recorder()) { $0.policy.paths = ["/"] }
                let rawClient = try RawClient(loop, port: server.port, opening: opening)
                client = rawClient
                // The client closes its side after it has read the end of the server's stream.
                rawClient.onEnded = { _ in
                    #expect(server.rejectionCount == 1)
                    loop.stop()
                }
            }
            #expect(client?.endError == .endOfStream)
            #expect(client?.response.hasPrefix(response) == true, "\(client?.response ?? "")")
        }
    }

    @Test func `I16 a full server answers 503 with Retry-After, and a request filter answers its own status`() throws {
        let serverEvents = Recorder()
        var refusedClient: RawClient?
        var filteredClient: RawClient?
        try runLoop { loop in
            let server = try makeServer(loop, serverEvents) {
                $0.maxConnections = 1
                $0.retryAfter = .seconds(9)
            }
            let firstClient = try RawClient(loop, port: server.port)
            firstClient.onUpgraded = { firstClient in
                refusedClient = try? RawClient(loop, port: server.port)
                refusedClient?.onEnded = { _ in firstClient.stream?.close() }
            }
            serverEvents.onClosed = { _, _ in
                server.requestFilter = { $0.path == "/" ? .unauthorized : nil }
                let timer = try? LoopTimer(loop: loop) { _ in
                    filteredClient = try? RawClient(loop, port: server.port)
                    filteredClient?.onEnded = { _ in loop.stop() }
                }
                timer?.start(after: .milliseconds(1))
            }
        }
        #expect(refusedClient?.response.hasPrefix("HTTP/1.1 503 ") == true)
        #expect(refusedClient?.response.contains("\r\nRetry-After: 9\r\n") == true)
        #expect(filteredClient?.response.hasPrefix("HTTP/1.1 401 ") == true)
        #expect(serverEvents.connections.count == 1)
    }

    @Test func `random bytes close the connection that sent them with a close code, and no other connection`() throws {
        var random = SeededRandom(seed: 11)
        let serverEvents = Recorder()
        let clientEvents = Recorder()
        let clientCount = 400
        var endedCount = 0
        var closeFrameCount = 0
        try runLoop { loop in
            let server = try makeServer(loop, serverEvents) { $0.maxMessageBytes = 4_096 }
            func sendRandomBytes() throws {
                var invalidBytes =
                    masked(.text, Array("{\"a\":1}".utf8)) + random.bytes(Int.random(in: 20...400, using: &random))
                invalidBytes[Int.random(in: 0..<invalidBytes.count, using: &random)] = 0xFF
                // Without the invalid bytes at the end, the decoder could wait for the end of a frame.
                invalidBytes += [UInt8](repeating: 0xFF, count: 5_000)
                let client = try RawClient(loop, port: server.port)
                client.onUpgraded = { $0.send(invalidBytes) }
                client.onEnded = { client in
                    endedCount += 1
                    if case .close = client.events.last { closeFrameCount += 1 }
                    if endedCount == clientCount {
                        _ = try? WebSocketConnection.connect(
                            group: WebSocketGroup(loop: loop),
                            to: WebSocketTarget(host: "127.0.0.1", port: server.port), delegate: clientEvents)
                    } else {
                        try? sendRandomBytes()
                    }
                }
            }
            serverEvents.onText = { connection, text in if text == "still there?" { connection.sendText("yes") } }
            clientEvents.onOpened = { $0.sendText("still there?") }
            clientEvents.onText = { _, _ in loop.stop() }
            try sendRandomBytes()
        }
        #expect(endedCount == clientCount)
        #expect(closeFrameCount == clientCount)
        #expect(clientEvents.texts == ["yes"])
    }
}

/// Accepts connections and sends nothing.
private final class SilentAcceptor: TCPStreamDelegate {
    func stream(_ stream: TCPStream, received bytes: inout MutableSpan<UInt8>) {}
    func streamEnded(_ stream: TCPStream, _ error: LoopError) {}
}
