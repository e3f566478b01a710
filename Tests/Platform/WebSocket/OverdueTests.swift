// SPDX-License-Identifier: Apache-2.0
import EventLoop
import MachineKit
import TestSupport
import Testing

@testable import WebSocket

/// Tests of what WebSocket connections do about slow and silent peers, and of handshakes that do not succeed.
///
/// A handshake does not succeed if it is not finished in time, is rejected, or exceeds the server's limit of clients.
@Suite struct OverdueTests {
    @Test func `I16 a slow reader receives whole frames, then the close code for slow readers`() throws {
        let serverEvents = EventRecorder()
        var client: RawClient?
        // `sent` while the socket takes the frames, then `queued`, and `overflow` beyond `maxPendingBytes`.
        var outcomes: [SendOutcome] = []
        try runLoop { loop in
            let server = try makeServer(loop, serverEvents) {
                // With a small send buffer of 16 KiB, frames soon wait in the connection's queue.
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
        // The frame that overflowed the queue was not sent. The close frame replaced the queued frames, so these were
        // not sent either.
        #expect(texts.count < outcomes.count)
        #expect(
            serverEvents.closures
                == [WebSocketClosure(code: CloseCode(rawValue: 3_008), reason: "too slow", cause: .slowReader)])
    }

    @Test func `when a slow reader catches up, the delegate is notified once that it is writable`() throws {
        let serverEvents = EventRecorder()
        var writableCount = 0
        var sentCount = 0
        try runLoop { loop in
            // With a small send buffer of 16 KiB, a frame soon waits in the connection's queue.
            let server = try makeServer(loop, serverEvents) { $0.sendBufferBytes = 16_384 }
            let rawClient = try RawClient(loop, port: server.port)
            serverEvents.onOpened = { connection in
                let frame = FrameEncoder.text(String(repeating: "x", count: 3_000))
                while connection.send(frame) == .sent { sentCount += 1 }
                // The frame that ended the loop was queued; the client receives it later.
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
            // The timer stops the loop if the connection becomes writable only after the client has received the last
            // frame.
            let timer = try LoopTimer(loop: loop) { _ in
                if sentCount > 0, rawClient.events.count == sentCount, writableCount == 1 { loop.stop() }
            }
            timer.start(after: .milliseconds(5), repeating: .milliseconds(5))
        }
        #expect(writableCount == 1)
    }

    @Test func `a connection is closed if its peer sends no pong, and stays open if its peer sends pongs`() throws {
        let serverEvents = EventRecorder()
        // The other client is a `WebSocketConnection`, which answers each ping.
        let answeringClientEvents = EventRecorder()
        // A `RawClient` answers no ping.
        var silentClient: RawClient?
        try runLoop { loop in
            let server = try makeServer(loop, serverEvents) {
                $0.pingInterval = .milliseconds(40)
                $0.pongTimeout = .milliseconds(80)
            }
            silentClient = try RawClient(loop, port: server.port)
            _ = try WebSocketConnection.connect(
                group: WebSocketGroup(loop: loop), to: WebSocketTarget(host: "127.0.0.1", port: server.port),
                delegate: answeringClientEvents)
            serverEvents.onClosed = { _, _ in
                // Until this timer fires after 200 ms, the answering client receives at least two pings.
                let timer = try? LoopTimer(loop: loop) { _ in loop.stop() }
                timer?.start(after: .milliseconds(200))
            }
        }
        #expect(silentClient?.events.first == .ping([]))
        #expect(serverEvents.closures.first?.cause == .pingTimeout)
        // The answering client's connection ended only when the test stopped the loop.
        #expect(answeringClientEvents.closures.map(\.cause) == [.connection(.loopEnding)])
        #expect(serverEvents.closures.count == 2)
    }

    @Test func `a pong that arrives in time while the process is paused counts, although it is read too late`() throws {
        let serverEvents = EventRecorder()
        let clientEvents = EventRecorder()
        try runLoop { loop in
            var configuration = WebSocketConfiguration()
            configuration.pongTimeout = .milliseconds(50)
            let group = WebSocketGroup(loop: loop, configuration: configuration)
            let server = try WebSocketServer(group: group, host: "127.0.0.1", port: 0, delegate: serverEvents)
            serverEvents.onOpened = { connection in
                connection.ping()
                // Blocks the loop, and so both client and server, for longer than the pong timeout.
                let blockedUntil = loop.now + Milliseconds(100)
                while loop.now < blockedUntil { loop.updateNow() }
                // A sweep checks the timeouts of all connections. The first sweep finds the pong overdue; before the
                // second one, 30 ms later, the pong is read.
                group.sweep(next: group.count)
                let timer = try? LoopTimer(loop: loop) { _ in
                    group.sweep(next: group.count)
                    loop.stop()
                }
                timer?.start(after: .milliseconds(30))
            }
            _ = try WebSocketConnection.connect(
                group: WebSocketGroup(loop: loop), to: WebSocketTarget(host: "127.0.0.1", port: server.port),
                delegate: clientEvents)
        }
        #expect(serverEvents.closures.map(\.cause) == [.connection(.loopEnding)], "the pong must count")
    }

    @Test func `a client that does not finish its handshake is disconnected after the handshake timeout`() throws {
        let serverEvents = EventRecorder()
        // The array keeps the clients alive.
        var clients: [RawClient] = []
        var openClients = 3
        try runLoop { loop in
            let server = try makeServer(loop, serverEvents) { $0.handshakeTimeout = .milliseconds(60) }
            // The clients send nothing, a part of the first line, and all but the empty line at the end.
            for opening in ["", "GET / HT", String(RawClient.request.dropLast(2))] {
                let client = try RawClient(loop, port: server.port, opening: opening)
                client.onEnded = { _ in
                    openClients -= 1
                    if openClients > 0 { return }
                    // The server may release its connection later in this turn of the loop, so the check waits.
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

    @Test func `a client whose handshake is not answered ends the connection after the handshake timeout`() throws {
        let clientEvents = EventRecorder()
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
        let cases: [(request: String, responseStart: String)] = [
            ("GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 404 Not Found\r\n"),
            ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 426 Upgrade Required\r\n"),
            ("POST / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 405 Method Not Allowed\r\n"),
            ("\u{16}\u{3}\u{1}garbage\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n"),
            // The client sends far more than the server reads. If the server closed with unread bytes, its system would
            // send a reset, and the client would lose the response.
            ("GET / HTTP/1.1\r\nA: " + String(repeating: "a", count: 300_000), "HTTP/1.1 431 Request Header"),
        ]
        for (request, responseStart) in cases {
            var client: RawClient?
            try runLoop { loop in
                let server = try makeServer(loop, EventRecorder()) { $0.policy.paths = ["/"] }
                let rawClient = try RawClient(loop, port: server.port, opening: request)
                client = rawClient
                // The client has read the response and the end of the server's stream.
                rawClient.onEnded = { _ in
                    #expect(server.rejectionCount == 1)
                    loop.stop()
                }
            }
            #expect(client?.endError == .endOfStream)
            #expect(client?.response.hasPrefix(responseStart) == true, "\(client?.response ?? "")")
        }
    }

    @Test func `I16 a full server answers 503, and a request that a filter rejects gets the filter's status`() throws {
        let serverEvents = EventRecorder()
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
                // In a later turn of the loop the closed connection no longer counts.
                timer?.start(after: .milliseconds(1))
            }
        }
        #expect(refusedClient?.response.hasPrefix("HTTP/1.1 503 ") == true)
        #expect(refusedClient?.response.contains("\r\nRetry-After: 9\r\n") == true)
        #expect(filteredClient?.response.hasPrefix("HTTP/1.1 401 ") == true)
        #expect(serverEvents.connections.count == 1)
    }

    @Test func `random bytes close only the connection that sent them, with a close frame`() throws {
        var random = SeededRandom(seed: 11)
        let serverEvents = EventRecorder()
        let clientEvents = EventRecorder()
        let clientCount = 400
        var endedCount = 0
        var closeFrameCount = 0
        try runLoop { loop in
            let server = try makeServer(loop, serverEvents) { $0.maxMessageBytes = 4_096 }
            func sendRandomBytes() throws {
                var invalidBytes =
                    masked(.text, Array("{\"a\":1}".utf8)) + random.bytes(Int.random(in: 20...400, using: &random))
                invalidBytes[Int.random(in: 0..<invalidBytes.count, using: &random)] = 0xFF
                // The bytes at the end exceed every length that the random bytes may announce, up to `maxMessageBytes`.
                // So the decoder cannot wait for the rest of a frame.
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
