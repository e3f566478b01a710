// SPDX-License-Identifier: Apache-2.0
import EventLoop
import MachineKit
import TestSupport
import Testing
import WebSocket

/// Slow, silent and lost peers, and full servers.
@Suite struct OverdueTests {
    @Test func `I16 a slow reader receives whole frames, then the close code for slow readers`() throws {
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
                // Waits until the client has its response and has stopped reading.
                timer?.start(after: .milliseconds(30))
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

    @Test func `when a slow reader catches up, the delegate is notified once that it is writable`() throws {
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
            timer.start(after: .milliseconds(5), repeating: .milliseconds(5))
        }
        #expect(writable == 1)
    }

    @Test func `a half-open peer is closed for its missing pong, and a peer that answers stays`() throws {
        let serving = Recorder()
        let alive = Recorder()
        var silent: RawClient?
        try runLoop { loop in
            let server = try makeServer(loop, serving) {
                $0.pingInterval = .milliseconds(40)
                $0.pongTimeout = .milliseconds(80)
            }
            silent = try RawClient(loop, port: server.port)
            _ = try WebSocketConnection.connect(
                group: WebSocketGroup(loop: loop), to: WebSocketTarget(host: "127.0.0.1", port: server.port),
                delegate: alive)
            serving.onClosed = { _, _ in
                // By then, the other peer has received at least two pings.
                let timer = try? LoopTimer(loop: loop) { _ in loop.stop() }
                timer?.start(after: .milliseconds(200))
            }
        }
        #expect(silent?.found.first == .ping([]))
        #expect(serving.closures.first?.cause == .pingTimeout)
        #expect(alive.closures.map(\.cause) == [.connection(.loopEnding)])
        #expect(serving.closures.count == 2)
    }

    @Test func `after a pause of our own process, an unread pong still counts`() throws {
        let serving = Recorder()
        let asking = Recorder()
        try runLoop { loop in
            var configuration = WebSocketConfiguration()
            configuration.pongTimeout = .milliseconds(50)
            let group = WebSocketGroup(loop: loop, configuration: configuration)
            let server = try WebSocketServer(group: group, host: "127.0.0.1", port: 0, delegate: serving)
            serving.onOpened = { connection in
                connection.ping()
                // The whole process is blocked for longer than the pong timeout.
                let end = loop.nowMilliseconds + 100
                while loop.nowMilliseconds < end { loop.updateNow() }
                group.sweep()
                let timer = try? LoopTimer(loop: loop) { _ in
                    group.sweep()
                    loop.stop()
                }
                timer?.start(after: .milliseconds(30))
            }
            _ = try WebSocketConnection.connect(
                group: WebSocketGroup(loop: loop), to: WebSocketTarget(host: "127.0.0.1", port: server.port),
                delegate: asking)
        }
        #expect(serving.closures.map(\.cause) == [.connection(.loopEnding)])
    }

    @Test func `an unfinished handshake times out`() throws {
        let serving = Recorder()
        var clients: [RawClient] = []
        var left = 3
        try runLoop { loop in
            let server = try makeServer(loop, serving) { $0.handshakeTimeout = .milliseconds(60) }
            for opening in ["", "GET / HT", String(RawClient.request.dropLast(2))] {
                let client = try RawClient(loop, port: server.port, opening: opening)
                client.onEnded = { _ in
                    left -= 1
                    if left > 0 { return }
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
        #expect(left == 0)
        #expect(serving.connections.isEmpty && serving.closures.isEmpty)
    }

    @Test func `a client's handshake times out when the server does not answer`() throws {
        let asking = Recorder()
        let taking = Taker()
        try runLoop { loop in
            let listener = try TCPListener(loop: loop, host: "127.0.0.1", port: 0) { stream in stream.delegate = taking
            }
            var configuration = WebSocketConfiguration()
            configuration.handshakeTimeout = .milliseconds(50)
            let group = WebSocketGroup(loop: loop, configuration: configuration)
            try group.startSweeping(every: .milliseconds(20))
            asking.onClosed = { _, _ in loop.stop() }
            _ = try WebSocketConnection.connect(
                group: group, to: WebSocketTarget(host: "127.0.0.1", port: listener.port), delegate: asking)
        }
        #expect(asking.closures.map(\.cause) == [.handshakeTimeout])
    }

    @Test func `a rejected request receives its whole response, then the end of the stream`() throws {
        let cases: [(String, String)] = [
            ("GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 404 Not Found\r\n"),
            ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 426 Upgrade Required\r\n"),
            ("POST / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 405 Method Not Allowed\r\n"),
            ("\u{16}\u{3}\u{1}garbage\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n"),
            // Sends far more than the server reads: a reset must not discard the response.
            ("GET / HTTP/1.1\r\nA: " + String(repeating: "a", count: 300_000), "HTTP/1.1 431 Request Header"),
        ]
        for (opening, answer) in cases {
            var client: RawClient?
            try runLoop { loop in
                let server = try makeServer(loop, Recorder()) { $0.policy.paths = ["/"] }
                let raw = try RawClient(loop, port: server.port, opening: opening)
                client = raw
                // Closes its side after it has read the end of the other.
                raw.onEnded = { _ in
                    #expect(server.rejections == 1)
                    loop.stop()
                }
            }
            #expect(client?.ended == .endOfStream)
            #expect(client?.answer.hasPrefix(answer) == true, "\(client?.answer ?? "")")
        }
    }

    @Test func `I16 a full server answers 503 with Retry-After, and its owner may reject requests too`() throws {
        let serving = Recorder()
        var refused: RawClient?
        var screened: RawClient?
        try runLoop { loop in
            let server = try makeServer(loop, serving) {
                $0.maxConnections = 1
                $0.retryAfter = .seconds(9)
            }
            let first = try RawClient(loop, port: server.port)
            first.onUpgraded = { first in
                refused = try? RawClient(loop, port: server.port)
                refused?.onEnded = { _ in first.stream?.close() }
            }
            serving.onClosed = { _, _ in
                server.requestFilter = { $0.path == "/" ? .unauthorized : nil }
                let timer = try? LoopTimer(loop: loop) { _ in
                    screened = try? RawClient(loop, port: server.port)
                    screened?.onEnded = { _ in loop.stop() }
                }
                timer?.start(after: .milliseconds(1))
            }
        }
        #expect(refused?.answer.hasPrefix("HTTP/1.1 503 ") == true)
        #expect(refused?.answer.contains("\r\nRetry-After: 9\r\n") == true)
        #expect(screened?.answer.hasPrefix("HTTP/1.1 401 ") == true)
        #expect(serving.connections.count == 1)
    }

    @Test func `random bytes close their own connection with a code, and no other connection`() throws {
        var random = SeededRandom(seed: 11)
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
                // Ends with invalid bytes; otherwise the decoder could wait for more.
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

/// Accepts connections and sends nothing.
private final class Taker: TCPStreamDelegate {
    func stream(_ stream: TCPStream, received bytes: inout MutableSpan<UInt8>) {}
    func streamEnded(_ stream: TCPStream, _ error: LoopError) {}
}
