// SPDX-License-Identifier: Apache-2.0
import ChildProcess
import EventLoop
import Foundation
import TestSupport
import Testing
import WebSocket

/// Tests of our WebSocket client and server with another implementation: Python's package `websockets`.
@Suite(.enabled(if: PythonPackages.hasPip, "needs python3 with pip"), .serialized, .timeLimit(.minutes(1)))
struct InteropTests {
    @Test func `a Python client exchanges whole and fragmented messages, pings and closes with our server`()
        throws
    {
        let packages = try #require(PythonPackages.path, "the packages of Tests/requirements.txt do not install")
        let (thread, port) = try EventLoop.start(name: "interop") { loop throws(LoopError) in
            var configuration = WebSocketConfiguration()
            configuration.maxMessageBytes = 2_000_000
            configuration.maxPendingBytes = 8_000_000
            configuration.pingInterval = .milliseconds(100)
            configuration.pongTimeout = .milliseconds(400)
            configuration.policy = HandshakePolicy(paths: ["/"], subprotocols: ["liveplaza.v1"])
            let group = WebSocketGroup(loop: loop, configuration: configuration)
            try group.startSweeping(every: .milliseconds(40))
            return try WebSocketServer(group: group, host: "127.0.0.1", port: 0, delegate: EchoDelegate()).port
        }
        defer {
            thread.stop()
            thread.join()
        }
        let script = String(decoding: PackageResources.client_py, as: UTF8.self)
        let (end, text) = try TestProcess.run(
            ["python3", "-c", script, String(port)], environment: PythonPackages.environment(packages: packages))
        #expect(end == .exited(0))
        // The script prints this after its last scenario.
        #expect(text.contains("all with websockets"), "\(text)")
    }

    @Test func `our client exchanges whole and fragmented messages, pings and closes with a Python server`()
        throws
    {
        let packages = try #require(PythonPackages.path, "the packages of Tests/requirements.txt do not install")
        let script = String(decoding: PackageResources.server_py, as: UTF8.self)
        let process = try TestProcess(
            ["python3", "-c", script], environment: PythonPackages.environment(packages: packages))
        defer {
            try? process.input.close()
            _ = process.waitForEnd()
        }
        // The script's first line has the ports of its two servers; it may arrive in several pieces.
        var line = ""
        while !line.hasSuffix("\n") {
            let chunk = process.output.availableData
            if chunk.isEmpty { break }
            line += String(decoding: chunk, as: UTF8.self)
        }
        let ports = line.split(whereSeparator: \.isWhitespace).compactMap { UInt16($0) }
        try #require(ports.count == 2, "the script wrote: \(line)")

        // There are four connections. The first one exchanges messages. The server closes the second one and rejects
        // the third one. The fourth one goes to the script's other server, which sends each byte alone.
        let exchangeEvents = EventRecorder()
        let serverCloseEvents = EventRecorder()
        let rejectionEvents = EventRecorder()
        let byteByByteEvents = EventRecorder()
        let longText = String(repeating: "ü", count: 40_000)
        // `server.py` echoes a text, but answers "fragments", "ping", "large" and "close" in a way of its own.
        let sentTexts = ["hello", "", "é端😀", longText, "fragments", "ping", "large"]
        try runLoop { loop in
            var configuration = WebSocketConfiguration()
            configuration.maxMessageBytes = 1_000_000
            let group = WebSocketGroup(loop: loop, configuration: configuration)
            func connect(_ recorder: EventRecorder, port: UInt16 = ports[0], path: String = "/") throws {
                let target = WebSocketTarget(
                    host: "127.0.0.1", port: port, path: path, subprotocols: ["liveplaza.v1"])
                recorder.onClosed = { _, _ in
                    let recorders = [exchangeEvents, serverCloseEvents, rejectionEvents, byteByByteEvents]
                    if recorders.allSatisfy({ $0.closures.count == 1 }) { loop.stop() }
                }
                _ = try WebSocketConnection.connect(group: group, to: target, delegate: recorder)
            }
            exchangeEvents.onOpened = { connection in
                #expect(connection.subprotocol == "liveplaza.v1")
                for text in sentTexts { connection.sendText(text) }
            }
            exchangeEvents.onText = { connection, _ in
                if exchangeEvents.texts.count == sentTexts.count {
                    connection.close(CloseCode(rawValue: 3_002), reason: "clïent")
                }
            }
            serverCloseEvents.onOpened = { $0.sendText("close") }
            byteByByteEvents.onOpened = { $0.sendText("one by one 端") }
            byteByByteEvents.onText = { connection, _ in connection.close(.normal) }
            try connect(exchangeEvents)
            try connect(serverCloseEvents)
            try connect(rejectionEvents, path: "/refused")
            // The server at the second port sends each byte alone, and appends "!" to the text.
            try connect(byteByByteEvents, port: ports[1])
        }
        let fragments = "fragménts " + String(repeating: "端", count: 1_000)
        let large = String(repeating: "L", count: 200_000)
        #expect(exchangeEvents.texts == ["hello", "", "é端😀", longText, fragments, "pong came", large])
        #expect(
            exchangeEvents.closures == [
                WebSocketClosure(code: CloseCode(rawValue: 3_002), reason: "clïent", cause: .thisSide)
            ])
        #expect(
            serverCloseEvents.closures
                == [WebSocketClosure(code: CloseCode(rawValue: 4_003), reason: "sérver closes", cause: .peer)])
        #expect(
            rejectionEvents.closures.map(\.cause) == [.handshakeFailed(.refused(status: 403, retryAfter: nil))])
        #expect(byteByByteEvents.texts == ["one by one 端!"])
        #expect(byteByByteEvents.closures == [WebSocketClosure(code: .normal, reason: "", cause: .thisSide)])
    }
}

/// Echoes every message except the text "close CODE REASON", which makes it close the connection.
private final class EchoDelegate: WebSocketDelegate {
    func webSocketOpened(_ connection: WebSocketConnection, _ request: UpgradeRequest?) {}

    func webSocket(_ connection: WebSocketConnection, receivedText text: Span<UInt8>) {
        let string = String(decoding: text.indices.map { text[$0] }, as: UTF8.self)
        let words = string.split(separator: " ", maxSplits: 2)
        if words.count == 3, words[0] == "close", let code = UInt16(words[1]) {
            connection.close(CloseCode(rawValue: code), reason: String(words[2]))
        } else {
            connection.sendText(text)
        }
    }

    func webSocket(_ connection: WebSocketConnection, receivedBinary bytes: Span<UInt8>) {
        connection.send(FrameEncoder.frame(.binary, bytes))
    }

    func webSocketClosed(_ connection: WebSocketConnection, _ closure: WebSocketClosure) {}
}
