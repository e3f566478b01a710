// SPDX-License-Identifier: Apache-2.0
import EventLoop
import TestSupport
import Testing

@testable import WebSocket

/// Tests of what a WebSocket server does about peers that do not read, one alone and many together.
///
/// The sockets have small send buffers of 16 KiB, so that a few frames fill them. The share of a connection is
/// `maxQueuedBytes`, the limit for all queues together, divided by the number of connections with a queue.
@Suite struct SlowPeerTests {
    /// Sends frames until the socket accepts no more and the last frame waits in the queue.
    private func fillSocketBuffer(_ connection: WebSocketConnection) {
        while connection.send(FrameEncoder.text(String(repeating: "x", count: 3_000))) == .sent {}
    }

    /// Connects `count` clients one after the other, each of which stops reading after its handshake, and then calls
    /// `ready` with all of them.
    ///
    /// All clients but the first connect from the local address `laterAddress`. The function calls itself for the next
    /// client; `earlierClients` are already connected.
    private func connect(
        _ count: Int, _ loop: EventLoop, port: UInt16, laterAddress: String? = nil, earlierClients: [RawClient] = [],
        ready: @escaping ([RawClient]) -> Void
    ) throws {
        let client = try RawClient(loop, port: port, from: earlierClients.isEmpty ? nil : laterAddress)
        client.onUpgraded = { client in
            client.stream?.pauseReading()
            let clients = earlierClients + [client]
            if clients.count == count { return ready(clients) }
            try? self.connect(
                count, loop, port: port, laterAddress: laterAddress, earlierClients: clients, ready: ready)
        }
    }

    @Test func `I16 a peer that reads nothing is disconnected, and a peer that reads slowly is not`() throws {
        let serverEvents = EventRecorder()
        var slowClient: RawClient?
        // The number of events that the slow client has when the other client is disconnected; 0 before.
        var slowClientEventsAtDisconnection = 0
        try runLoop { loop in
            let server = try makeServer(loop, serverEvents) {
                $0.maxPendingBytes = 40_000_000
                $0.outputTimeout = .seconds(2)
                $0.overflowCode = CloseCode(rawValue: 3_008)
                $0.sendBufferBytes = 16_384
            }
            // The slow client reads ten frames every 50 ms; with fewer, the kernel would not reopen the TCP window.
            let readTimer = try LoopTimer(loop: loop) { _ in slowClient?.stream?.startReading() }
            try self.connect(2, loop, port: server.port) { clients in
                // The first client reads nothing any more.
                slowClient = clients[1]
                clients[1].onEvent = { client, _ in
                    if client.events.count.isMultiple(of: 10) { client.stream?.pauseReading() }
                    // The test ends when the slow client has received 100 more frames after the disconnection.
                    let isServedAfterDisconnection =
                        slowClientEventsAtDisconnection > 0
                        && client.events.count >= slowClientEventsAtDisconnection + 100
                    if isServedAfterDisconnection { loop.stop() }
                }
                // Each client is sent 1,000 * 30,000 bytes = 30 MB, less than `maxPendingBytes`.
                for connection in serverEvents.connections {
                    for _ in 0..<1_000 { connection.send(FrameEncoder.text(String(repeating: "x", count: 30_000))) }
                }
                readTimer.start(after: .milliseconds(50), repeating: .milliseconds(50))
            }
            serverEvents.onClosed = { connection, _ in
                guard connection === serverEvents.connections[0], slowClientEventsAtDisconnection == 0 else { return }
                slowClientEventsAtDisconnection = slowClient?.events.count ?? 0
            }
        }
        #expect(
            slowClientEventsAtDisconnection > 0, "the slow client must receive frames until the other is disconnected")
        #expect(
            serverEvents.closures == [
                WebSocketClosure(code: CloseCode(rawValue: 3_008), reason: "too slow", cause: .stalledReader),
                WebSocketClosure(code: .abnormal, reason: "", cause: .connection(.loopEnding)),
            ])
    }

    // Step 1: connection 0 fills the limit, and its next frame closes it. Step 2: connection 1 fills the limit, and a
    // sweep closes it. Step 3: clients 2 and 3 read all that was sent to them.
    @Test
    func `I16 when the queues of one address exceed the limit, only the connection with the largest queue is closed`()
        throws
    {
        let serverEvents = EventRecorder()
        // The indexes of the closed connections, in the order in which they closed.
        var closedIndexes: [Int] = []
        let lastText = String(repeating: "z", count: 60_000)
        try runLoop { loop in
            let (server, group) = try self.makeServerWithoutSweeps(loop, serverEvents, maxQueuedBytes: 600_000)
            let frame = FrameEncoder.text(String(repeating: "y", count: 10_000))
            // Step 2; the timer waits until connection 0 is closed.
            let step2Timer = try LoopTimer(loop: loop) { _ in
                if closedIndexes != [0] { return }
                // Connection 1 sends until all queues together hold nearly the limit, 600,000 bytes. With one more text
                // for each of the connections 2 and 3, the total exceeds the limit. Each of these two holds less than
                // its share, which is a third of the limit: 200,000 bytes.
                while loop.outputBudget.queuedBytes < 560_000 { serverEvents.connections[1].send(frame) }
                group.sweep(next: group.count)
                #expect(closedIndexes == [0], "the sweep closed a connection, although the limit is not exceeded")
                for connection in serverEvents.connections[2...] {
                    #expect(connection.sendText(lastText) == .queued)
                }
                #expect(loop.outputBudget.excessBytes > 0)
                group.sweep(next: group.count)
            }
            serverEvents.onClosed = { connection, _ in
                guard let index = serverEvents.connections.firstIndex(where: { $0 === connection }) else { return }
                closedIndexes.append(index)
            }
            try self.connect(4, loop, port: server.port) { clients in
                let connections = serverEvents.connections
                for connection in connections { self.fillSocketBuffer(connection) }
                // Step 1: connection 0 sends until all queues together hold nearly the limit, 600,000 bytes. With one
                // more frame for each of the other connections, the total exceeds the limit. Each of the others holds
                // less than its share, which is a quarter of the limit: 150,000 bytes.
                while loop.outputBudget.queuedBytes < 560_000 { connections[0].send(frame) }
                for connection in connections.dropFirst() {
                    #expect(connection.send(FrameEncoder.text(String(repeating: "y", count: 50_000))) == .queued)
                }
                // Connection 0 holds more than its share, so its next frame closes it.
                #expect(connections[0].send(frame) == .overflow)
                #expect(connections[0].send(frame) == .notOpen)

                // Step 3: clients 2 and 3 read all that was sent to them, and then the test ends.
                for client in clients[2...] {
                    client.onEvent = { _, _ in
                        let lastEvent = DecodedEvent.text(Array(lastText.utf8))
                        if clients[2...].allSatisfy({ $0.events.last == lastEvent }) { loop.stop() }
                    }
                }

                step2Timer.start(after: .milliseconds(5), repeating: .milliseconds(5))
                let readTimer = try? LoopTimer(loop: loop) { _ in
                    if closedIndexes.count < 2 { return }
                    for client in clients[2...] { client.stream?.startReading() }
                }
                readTimer?.start(after: .milliseconds(5), repeating: .milliseconds(5))
            }
        }
        #expect(closedIndexes.prefix(2) == [0, 1])
        #expect(serverEvents.closures.prefix(2).allSatisfy { $0.cause == .outputLimit })
        #expect(serverEvents.closures.dropFirst(2).allSatisfy { $0.cause == .connection(.loopEnding) })
    }

    /// Makes a server, and its group, whose queues are swept only when the test calls the group's `sweep`.
    private func makeServerWithoutSweeps(
        _ loop: EventLoop, _ events: EventRecorder, maxQueuedBytes: Int
    ) throws -> (server: WebSocketServer, group: WebSocketGroup) {
        var configuration = WebSocketConfiguration()
        configuration.maxPendingBytes = 10_000_000
        configuration.maxQueuedBytes = maxQueuedBytes
        configuration.sendBufferBytes = 16_384
        let group = WebSocketGroup(loop: loop, configuration: configuration)
        return (try WebSocketServer(group: group, host: "127.0.0.1", port: 0, delegate: events), group)
    }

    @Test func `I16 the address with the most bytes loses connections, not the one with the largest queue`() throws {
        let serverEvents = EventRecorder()
        var closedIndexes: Set<Int> = []
        try runLoop { loop in
            let (server, group) = try self.makeServerWithoutSweeps(loop, serverEvents, maxQueuedBytes: 600_000)
            serverEvents.onClosed = { connection, closure in
                guard closure.cause == .outputLimit else { return }
                if let index = serverEvents.connections.firstIndex(where: { $0 === connection }) {
                    closedIndexes.insert(index)
                }
            }
            let stopTimer = try LoopTimer(loop: loop) { _ in loop.stop() }
            // Connection 0 comes from 127.0.0.1, the nine others from 127.0.0.2.
            try self.connect(10, loop, port: server.port, laterAddress: "127.0.0.2") { _ in
                let connections = serverEvents.connections
                for connection in connections { self.fillSocketBuffer(connection) }
                #expect(connections[0].send(FrameEncoder.text(String(repeating: "y", count: 180_000))) == .queued)
                // The share of each of the ten connections is 60,000 bytes.
                for connection in connections.dropFirst() {
                    #expect(connection.send(FrameEncoder.text(String(repeating: "y", count: 50_000))) == .queued)
                }
                // At least 180,000 + 9 * 50,000 = 630,000 bytes are queued. The sweep closes connections until an
                // eighth of the limit is free: at most 600,000 * 7 / 8 = 525,000 bytes are left. So at least 105,000
                // bytes must go, which are about three connections with 50,000 bytes each.
                #expect(loop.outputBudget.excessBytes > 0)
                group.sweep(next: group.count)
                // Within 20 ms the delegate is notified of the closures.
                stopTimer.start(after: .milliseconds(20))
            }
        }
        #expect((1...4).contains(closedIndexes.count) && !closedIndexes.contains(0), "\(closedIndexes)")
    }

    @Test func `I16 when no memory is free, the method offer queues nothing and the connection stays open`() throws {
        let serverEvents = EventRecorder()
        var events: [DecodedEvent] = []
        try runLoop { loop in
            let (server, group) = try self.makeServerWithoutSweeps(loop, serverEvents, maxQueuedBytes: 600_000)
            let giveUpTimer = try LoopTimer(loop: loop) { _ in loop.stop() }
            try self.connect(1, loop, port: server.port) { clients in
                let connection = serverEvents.connections[0]
                self.fillSocketBuffer(connection)
                // With this limit no memory is free.
                loop.outputBudget.limitBytes = loop.outputBudget.queuedBytes
                let offered = [FrameEncoder.text("one"), FrameEncoder.text("two")]
                #expect(connection.offer(offered) == nil)
                group.sweep(next: group.count)
                #expect(connection.state == .open)

                loop.outputBudget.limitBytes = 600_000
                #expect(connection.offer(offered) == .queued)
                clients[0].onEvent = { client, event in
                    events.append(event)
                    if event == .text(Array("two".utf8)) { loop.stop() }
                }
                clients[0].stream?.startReading()
                giveUpTimer.start(after: .seconds(5))
            }
        }
        #expect(events.suffix(2) == [.text(Array("one".utf8)), .text(Array("two".utf8))])
        #expect(serverEvents.closures.map(\.cause) == [.connection(.loopEnding)])
    }

    @Test func `a connection that holds more than its share can still send its close frame`() throws {
        let serverEvents = EventRecorder()
        var events: [DecodedEvent] = []
        try runLoop { loop in
            let (server, _) = try self.makeServerWithoutSweeps(loop, serverEvents, maxQueuedBytes: 600_000)
            let giveUpTimer = try LoopTimer(loop: loop) { _ in loop.stop() }
            try self.connect(2, loop, port: server.port) { clients in
                for connection in serverEvents.connections { self.fillSocketBuffer(connection) }
                // With a limit of 1 byte, each connection holds more than its share.
                loop.outputBudget.limitBytes = 1
                #expect(serverEvents.connections[0].offer([FrameEncoder.text("x")]) == nil)
                serverEvents.connections[0].close(CloseCode(rawValue: 3_000), reason: "bye")

                #expect(serverEvents.connections[1].sendText("x") == .overflow)
                // The overflow has closed this connection; a further close does not change the cause `outputLimit`.
                serverEvents.connections[1].close(CloseCode(rawValue: 3_000), reason: "bye")

                clients[0].onEvent = { client, event in
                    events.append(event)
                    if case .close = event { loop.stop() }
                }
                clients[0].stream?.startReading()
                giveUpTimer.start(after: .seconds(5))
            }
        }
        #expect(events.last == .close(CloseCode(rawValue: 3_000), "bye"))
        #expect(serverEvents.closures.contains { $0.cause == .outputLimit })
    }
}
