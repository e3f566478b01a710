// SPDX-License-Identifier: Apache-2.0
import EventLoop
import Testing
import WebSocket

/// Peers that are slow, silent or gone, and servers that are full.
@Suite struct OverdueTests {
    @Test func `I16 a slow reader gets whole frames, then the close code that says so`() throws {
        let serving = Recorder()
        var client: RawClient?
        var outcomes: [SendOutcome] = []
        try runLoop { loop in
            let server = try makeServer(loop, serving) {
                $0.maxPendingBytes = 200_000
                $0.overflowCode = CloseCode(rawValue: 3_008)
                $0.sendBufferBytes = 16_384
            }
            let raw = try RawClient(loop, port: server.port)
            client = raw
            raw.onUpgraded = { $0.stream?.pauseReading() }
            serving.onOpened = { connection in
                let timer = try? LoopTimer(loop: loop) { timer in
                    timer.close()
                    let frame = FrameEncoder.text(String(repeating: "x", count: 3_000))
                    for _ in 0..<100_000 where outcomes.last != .overflow {
                        outcomes.append(connection.send(frame))
                        #expect(connection.pendingBytes <= 200_500)
                    }
                    #expect(connection.send(frame) == .notOpen)
                    raw.stream?.startReading()
                }
                // Until the client has its answer and stopped to read.
                timer?.start(afterMilliseconds: 30)
            }
            raw.onFound = { raw, found in
                if case .close(let code?, _) = found {
                    raw.send(masked(.close, FrameEncoder.closePayload(code, reason: "")))
                }
            }
            raw.onEnded = { _ in loop.stop() }
        }
        #expect(outcomes.first == .sent)
        #expect(outcomes.contains(.queued))
        #expect(outcomes.last == .overflow)
        #expect(client?.found.last == .close(CloseCode(rawValue: 3_008), "too slow"))
        let texts = client?.found.dropLast() ?? []
        #expect(texts.allSatisfy { $0 == .text([UInt8](repeating: 120, count: 3_000)) })
        #expect(texts.count < outcomes.count)
        #expect(
            serving.closures
                == [WebSocketClosure(code: CloseCode(rawValue: 3_008), reason: "too slow", cause: .slowReader)])
    }

    @Test func `a reader that catches up is told of once as writable`() throws {
        let serving = Recorder()
        var writable = 0
        var sent = 0
        try runLoop { loop in
            let server = try makeServer(loop, serving) { $0.sendBufferBytes = 16_384 }
            let raw = try RawClient(loop, port: server.port)
            serving.onOpened = { connection in
                let frame = FrameEncoder.text(String(repeating: "x", count: 3_000))
                while connection.send(frame) == .sent { sent += 1 }
                sent += 1
                #expect(connection.pendingBytes > 0)
            }
            serving.onWritable = { connection in
                writable += 1
                #expect(connection.pendingBytes == 0)
            }
            raw.onFound = { raw, _ in if raw.found.count == sent && writable == 1 { loop.stop() } }
            let timer = try LoopTimer(loop: loop) { _ in
                if sent > 0, raw.found.count == sent, writable == 1 { loop.stop() }
            }
            timer.start(afterMilliseconds: 5, repeatingMilliseconds: 5)
        }
        #expect(writable == 1)
    }

    @Test func `a half-open peer is found by its missing pong, one that answers stays`() throws {
        let serving = Recorder()
        let alive = Recorder()
        var silent: RawClient?
        try runLoop { loop in
            let server = try makeServer(loop, serving) {
                $0.pingIntervalMilliseconds = 40
                $0.pongTimeoutMilliseconds = 80
            }
            silent = try RawClient(loop, port: server.port)
            _ = try WebSocketConnection.connect(
                group: WebSocketGroup(loop: loop), to: WebSocketTarget(host: "127.0.0.1", port: server.port),
                delegate: alive)
            serving.onClosed = { _, _ in
                // The other has been asked at least twice by then.
                let timer = try? LoopTimer(loop: loop) { _ in loop.stop() }
                timer?.start(afterMilliseconds: 200)
            }
        }
        #expect(silent?.found.first == .ping([]))
        #expect(serving.closures.first?.cause == .pingTimeout)
        #expect(alive.closures.map(\.cause) == [.connection(.loopEnding)])
        #expect(serving.closures.count == 2)
    }

    @Test func `after a pause of our own process an answer that lies unread counts`() throws {
        let serving = Recorder()
        let asking = Recorder()
        try runLoop { loop in
            var configuration = WebSocketConfiguration()
            configuration.pongTimeoutMilliseconds = 50
            let group = WebSocketGroup(loop: loop, configuration: configuration)
            let server = try WebSocketServer(group: group, host: "127.0.0.1", port: 0, delegate: serving)
            serving.onOpened = { connection in
                connection.ping()
                // The whole process stands still for longer than the peer has.
                let end = loop.nowMilliseconds + 100
                while loop.nowMilliseconds < end { loop.updateNow() }
                group.sweep()
                let timer = try? LoopTimer(loop: loop) { _ in
                    group.sweep()
                    loop.stop()
                }
                timer?.start(afterMilliseconds: 30)
            }
            _ = try WebSocketConnection.connect(
                group: WebSocketGroup(loop: loop), to: WebSocketTarget(host: "127.0.0.1", port: server.port),
                delegate: asking)
        }
        #expect(serving.closures.map(\.cause) == [.connection(.loopEnding)])
    }

    @Test func `a handshake that never ends is dropped`() throws {
        let serving = Recorder()
        var clients: [RawClient] = []
        var left = 3
        try runLoop { loop in
            let server = try makeServer(loop, serving) { $0.handshakeTimeoutMilliseconds = 60 }
            for opening in ["", "GET / HT", String(RawClient.request.dropLast(2))] {
                let client = try RawClient(loop, port: server.port, opening: opening)
                client.onEnded = { _ in
                    left -= 1
                    if left > 0 { return }
                    // The server's side may be let go of later in the same turn.
                    let timer = try? LoopTimer(loop: loop) { _ in
                        #expect(server.group.count == 0)
                        loop.stop()
                    }
                    timer?.start(afterMilliseconds: 1)
                }
                clients.append(client)
            }
        }
        #expect(left == 0)
        #expect(serving.connections.isEmpty && serving.closures.isEmpty)
    }

    @Test func `a server that does not answer lets a client's handshake time out`() throws {
        let asking = Recorder()
        let taking = Taker()
        try runLoop { loop in
            let listener = try TCPListener(loop: loop, host: "127.0.0.1", port: 0) { stream in stream.delegate = taking
            }
            var configuration = WebSocketConfiguration()
            configuration.handshakeTimeoutMilliseconds = 50
            let group = WebSocketGroup(loop: loop, configuration: configuration)
            try group.startSweeping(everyMilliseconds: 20)
            asking.onClosed = { _, _ in loop.stop() }
            _ = try WebSocketConnection.connect(
                group: group, to: WebSocketTarget(host: "127.0.0.1", port: listener.port), delegate: asking)
        }
        #expect(asking.closures.map(\.cause) == [.handshakeTimeout])
    }

    @Test func `requests that open nothing get their answer whole, then the end`() throws {
        let cases: [(String, String)] = [
            ("GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 404 Not Found\r\n"),
            ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 426 Upgrade Required\r\n"),
            ("POST / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 405 Method Not Allowed\r\n"),
            ("\u{16}\u{3}\u{1}garbage\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n"),
            // Far more than is read: the answer must not be overtaken by a reset.
            ("GET / HTTP/1.1\r\nA: " + String(repeating: "a", count: 300_000), "HTTP/1.1 431 Request Header"),
        ]
        for (opening, answer) in cases {
            var client: RawClient?
            try runLoop { loop in
                let server = try makeServer(loop, Recorder()) { $0.policy.paths = ["/"] }
                let raw = try RawClient(loop, port: server.port, opening: opening)
                client = raw
                // Ends its side once it has read the end of the other.
                raw.onEnded = { _ in
                    #expect(server.rejections == 1)
                    loop.stop()
                }
            }
            #expect(client?.ended == .endOfStream)
            #expect(client?.answer.hasPrefix(answer) == true, "\(client?.answer ?? "")")
        }
    }

    @Test func `I16 a full server answers 503 with when to come back, and its owner may refuse too`() throws {
        let serving = Recorder()
        var refused: RawClient?
        var screened: RawClient?
        try runLoop { loop in
            let server = try makeServer(loop, serving) {
                $0.maxConnections = 1
                $0.retryAfterSeconds = 9
            }
            let first = try RawClient(loop, port: server.port)
            first.onUpgraded = { first in
                refused = try? RawClient(loop, port: server.port)
                refused?.onEnded = { _ in first.stream?.close() }
            }
            serving.onClosed = { _, _ in
                server.screen = { $0.path == "/" ? .unauthorized : nil }
                let timer = try? LoopTimer(loop: loop) { _ in
                    screened = try? RawClient(loop, port: server.port)
                    screened?.onEnded = { _ in loop.stop() }
                }
                timer?.start(afterMilliseconds: 1)
            }
        }
        #expect(refused?.answer.hasPrefix("HTTP/1.1 503 ") == true)
        #expect(refused?.answer.contains("\r\nRetry-After: 9\r\n") == true)
        #expect(screened?.answer.hasPrefix("HTTP/1.1 401 ") == true)
        #expect(serving.connections.count == 1)
    }

    @Test func `random bytes at a live server close that connection with a code, and no other`() throws {
        var random = Seeded(11)
        let serving = Recorder()
        let asking = Recorder()
        let rounds = 400
        var ended = 0
        var closes = 0
        try runLoop { loop in
            let server = try makeServer(loop, serving) { $0.maxMessageBytes = 4_096 }
            func throwOne() throws {
                var junk =
                    masked(.text, Array("{\"a\":1}".utf8)) + random.bytes(Int.random(in: 20...400, using: &random))
                junk[Int.random(in: 0..<junk.count, using: &random)] = 0xFF
                // In the end something that is surely wrong, lest the decoder wait for more.
                junk += [UInt8](repeating: 0xFF, count: 5_000)
                let client = try RawClient(loop, port: server.port)
                client.onUpgraded = { $0.send(junk) }
                client.onEnded = { client in
                    ended += 1
                    if case .close = client.found.last { closes += 1 }
                    if ended == rounds {
                        _ = try? WebSocketConnection.connect(
                            group: WebSocketGroup(loop: loop),
                            to: WebSocketTarget(host: "127.0.0.1", port: server.port), delegate: asking)
                    } else {
                        try? throwOne()
                    }
                }
            }
            serving.onText = { connection, text in if text == "still there?" { connection.sendText("yes") } }
            asking.onOpened = { $0.sendText("still there?") }
            asking.onText = { _, _ in loop.stop() }
            try throwOne()
        }
        #expect(ended == rounds)
        #expect(closes == rounds)
        #expect(asking.texts == ["yes"])
    }
}

/// Takes connections and says nothing.
private final class Taker: TCPStreamDelegate {
    func stream(_ stream: TCPStream, received bytes: inout MutableSpan<UInt8>) {}
    func streamEnded(_ stream: TCPStream, _ error: LoopError) {}
}
