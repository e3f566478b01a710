// SPDX-License-Identifier: Apache-2.0
import EventLoop
import TestSupport
import Testing
import WebSocket

/// Peers that do not read, one alone and many together.
@Suite struct SlowPeerTests {
    /// Queues frames until the system accepts no more.
    private func fill(_ connection: WebSocketConnection) {
        while connection.send(FrameEncoder.text(String(repeating: "x", count: 3_000))) == .sent {}
    }

    /// Connects clients one after another, each of which stops reading after the handshake, and then calls `ready`.
    private func connect(
        _ count: Int, _ loop: EventLoop, port: UInt16, _ clients: [RawClient] = [],
        _ ready: @escaping ([RawClient]) -> Void
    ) throws {
        let client = try RawClient(loop, port: port)
        client.onUpgraded = { client in
            client.stream?.pauseReading()
            let all = clients + [client]
            if all.count == count { ready(all) } else { try? self.connect(count, loop, port: port, all, ready) }
        }
    }

    @Test func `I16 a peer that reads nothing is ended, and one that reads slowly is not`() throws {
        let serverEvents = Recorder()
        var slowClient: RawClient?
        var eventsAtClosure = 0
        try runLoop { loop in
            let server = try makeServer(loop, serverEvents) {
                $0.maxPendingBytes = 40_000_000
                $0.outputTimeout = .seconds(2)
                $0.overflowCode = CloseCode(rawValue: 3_008)
                $0.sendBufferBytes = 16_384
            }
            // The second client reads ten frames every 50 ms: less at a time would not open the system's window again.
            let reading = try LoopTimer(loop: loop) { _ in slowClient?.stream?.startReading() }
            try self.connect(2, loop, port: server.port) { clients in
                slowClient = clients[1]
                clients[1].onEvent = { client, _ in
                    if client.events.count.isMultiple(of: 10) { client.stream?.pauseReading() }
                    // It is still served after the other was ended.
                    if eventsAtClosure > 0, client.events.count >= eventsAtClosure + 100 { loop.stop() }
                }
                for connection in serverEvents.connections {
                    for _ in 0..<1_000 { connection.send(FrameEncoder.text(String(repeating: "x", count: 30_000))) }
                }
                reading.start(after: .milliseconds(50), repeating: .milliseconds(50))
            }
            serverEvents.onClosed = { connection, _ in
                guard connection === serverEvents.connections[0], eventsAtClosure == 0 else { return }
                eventsAtClosure = slowClient?.events.count ?? 0
            }
        }
        #expect(eventsAtClosure > 0)
        #expect(
            serverEvents.closures == [
                WebSocketClosure(code: CloseCode(rawValue: 3_008), reason: "too slow", cause: .stalledReader),
                WebSocketClosure(code: .abnormal, reason: "", cause: .connection(.loopEnding)),
            ])
    }

    @Test func `I16 beyond the limit of all queues the largest is ended, and small ones stay and are served`() throws {
        let serverEvents = Recorder()
        var closedIndexes: [Int] = []
        let lastFrame = String(repeating: "z", count: 60_000)
        try runLoop { loop in
            var configuration = WebSocketConfiguration()
            configuration.maxPendingBytes = 10_000_000
            configuration.maxQueuedBytes = 600_000
            configuration.sendBufferBytes = 16_384
            let group = WebSocketGroup(loop: loop, configuration: configuration)
            let server = try WebSocketServer(group: group, host: "127.0.0.1", port: 0, delegate: serverEvents)
            let frame = FrameEncoder.text(String(repeating: "y", count: 10_000))
            let endings = try LoopTimer(loop: loop) { _ in
                if closedIndexes != [0] { return }
                // One queue takes nearly all; the small ones exceed the limit within their share, a third.
                while loop.outputBudget.queuedBytes < 560_000 { serverEvents.connections[1].send(frame) }
                group.sweep()
                #expect(closedIndexes == [0], "all together are within the limit")
                for connection in serverEvents.connections[2...] {
                    #expect(connection.sendText(lastFrame) == .queued)
                }
                #expect(loop.outputBudget.excessBytes > 0)
                group.sweep()
            }
            serverEvents.onClosed = { connection, _ in
                guard let index = serverEvents.connections.firstIndex(where: { $0 === connection }) else { return }
                closedIndexes.append(index)
            }
            try self.connect(4, loop, port: server.port) { clients in
                let connections = serverEvents.connections
                for connection in connections { self.fill(connection) }
                while loop.outputBudget.queuedBytes < 560_000 { connections[0].send(frame) }
                // The share of each of four is 150,000 bytes.
                for connection in connections.dropFirst() {
                    #expect(connection.send(FrameEncoder.text(String(repeating: "y", count: 50_000))) == .queued)
                }
                #expect(connections[0].send(frame) == .overflow)
                #expect(connections[0].send(frame) == .notOpen)
                for client in clients[2...] {
                    client.onEvent = { _, _ in
                        let last = DecodedEvent.text(Array(lastFrame.utf8))
                        if clients[2...].allSatisfy({ $0.events.last == last }) { loop.stop() }
                    }
                }
                endings.start(after: .milliseconds(5), repeating: .milliseconds(5))
                let reading = try? LoopTimer(loop: loop) { _ in
                    if closedIndexes.count < 2 { return }
                    for client in clients[2...] { client.stream?.startReading() }
                }
                reading?.start(after: .milliseconds(5), repeating: .milliseconds(5))
            }
        }
        #expect(closedIndexes.prefix(2) == [0, 1])
        #expect(serverEvents.closures.prefix(2).allSatisfy { $0.cause == .outputLimit })
        #expect(serverEvents.closures.dropFirst(2).allSatisfy { $0.cause == .connection(.loopEnding) })
    }
}
