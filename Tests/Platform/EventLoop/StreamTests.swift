// SPDX-License-Identifier: Apache-2.0
import ClientAddress
import EventLoop
import TestSupport
import Testing

/// Tests of `TCPStream`: it delivers bytes in order, limits what it queues, and reports its end once.
///
/// Some servers have a small send buffer of 4 or 16 KiB, so that their streams queue most bytes of a larger write.
@Suite struct StreamTests {
    @Test func `bytes flow in both directions, and the end of the stream is reported once`() throws {
        let server = Peer()
        let client = Peer()
        try runLoop { loop in
            try connectPair(loop, server: server, client: client) {
                _ = try? client.stream?.write(SharedBytes("hello"))
            }
            server.onReceived = { server in
                #expect(server.received == Array("hello".utf8))
                _ = try? server.stream?.write(contentsOf: [SharedBytes("wor"), SharedBytes(""), SharedBytes("ld")])
                server.stream?.finish()
            }
            client.onEnded = { _, error in
                #expect(error == .endOfStream)
                loop.stop()
            }
        }
        #expect(client.received == Array("world".utf8))
    }

    @Test func `I16 bytes for a slow reader are queued up to the limit, and a write beyond it throws`() throws {
        let server = Peer()
        let client = Peer()
        let limit = 1_000_000
        let pieceBytes = 5_000
        var accepted: [UInt8] = []
        var overflowCount = 0
        var isQueueDrained = false
        try runLoop { loop in
            try connectPair(loop, server: server, client: client, sendBufferBytes: 16_384) {
                guard let stream = server.stream else {
                    Issue.record("the server has no stream")
                    loop.stop()
                    return
                }
                client.stream?.pauseReading()
                stream.pendingLimitBytes = limit
                var number: UInt32 = 0
                while overflowCount == 0 {
                    number += 1
                    // The pieces differ, so that the comparison at the end would show a lost or repeated piece.
                    let piece = (0..<pieceBytes).map { UInt8(truncatingIfNeeded: Int(number) &* 31 &+ $0) }
                    do throws(LoopError) {
                        try stream.write(SharedBytes(piece))
                        accepted += piece
                    } catch {
                        #expect(error == .overflow(limit: limit))
                        overflowCount += 1
                    }
                    #expect(stream.pendingBytes <= limit)
                }
                #expect(
                    stream.pendingBytes > limit - pieceBytes, "a write was rejected although the queue has room for it")
                client.stream?.startReading()
            }
            server.onDrained = { server in
                isQueueDrained = true
                #expect(server.stream?.pendingBytes == 0)
                server.stream?.finish()
            }
            client.onEnded = { _, _ in loop.stop() }
        }
        #expect(isQueueDrained)
        #expect(client.received == accepted)
    }

    @Test func `the pieces of one write arrive whole and in order, however much the kernel accepts at a time`() throws {
        let server = Peer()
        let client = Peer()
        var expected: [UInt8] = []
        try runLoop { loop in
            try connectPair(loop, server: server, client: client, sendBufferBytes: 4_096) {
                guard let stream = server.stream else {
                    Issue.record("the server has no stream")
                    loop.stop()
                    return
                }
                stream.pendingLimitBytes = 50_000_000
                for round in 0..<30 {
                    // These are more pieces than one system call accepts. Their sizes from 0 to 99 * 37 bytes make the
                    // kernel cut pieces at many positions.
                    let pieces = (0..<100).map { index in
                        SharedBytes([UInt8](repeating: UInt8(truncatingIfNeeded: round &+ index), count: index * 37))
                    }
                    for piece in pieces { expected += piece.array }
                    do throws(LoopError) { try stream.write(contentsOf: pieces) } catch { Issue.record("\(error)") }
                }
                stream.finish()
            }
            client.onEnded = { _, _ in loop.stop() }
        }
        #expect(client.received == expected)
    }

    @Test func `after unsent pieces are dropped, the peer receives whole pieces only`() throws {
        let server = Peer()
        let client = Peer()
        var droppedBytes = 0
        let pieceBytes = 3_000
        // The byte that the piece repeats which is written after the drop.
        let lastByte: UInt8 = 255
        try runLoop { loop in
            try connectPair(loop, server: server, client: client, sendBufferBytes: 4_096) {
                guard let stream = server.stream else {
                    Issue.record("the server has no stream")
                    loop.stop()
                    return
                }
                client.stream?.pauseReading()
                stream.pendingLimitBytes = 8_000_000
                var number = 0
                while stream.pendingBytes < 3_000_000 {
                    number += 1
                    let byte = UInt8(truncatingIfNeeded: number)
                    _ = try? stream.write(SharedBytes([UInt8](repeating: byte, count: pieceBytes)))
                }
                let pendingBefore = stream.pendingBytes
                droppedBytes = stream.dropUnsent()
                #expect(stream.pendingBytes == pendingBefore - droppedBytes)
                _ = try? stream.write(SharedBytes([UInt8](repeating: lastByte, count: pieceBytes)))
                stream.finish()
                client.stream?.startReading()
            }
            client.onEnded = { _, _ in loop.stop() }
        }
        #expect(droppedBytes > 0 && droppedBytes % pieceBytes == 0)
        #expect(client.received.count % pieceBytes == 0)
        for start in stride(from: 0, to: client.received.count, by: pieceBytes) {
            let piece = client.received[start..<start + pieceBytes]
            #expect(piece.allSatisfy { $0 == piece.first }, "each piece repeats one byte")
        }
        #expect(client.received.last == lastByte)
    }

    @Test func `a paused stream delivers no bytes until reading is resumed`() throws {
        let server = Peer()
        let client = Peer()
        try runLoop { loop in
            var timer: LoopTimer?
            try connectPair(loop, server: server, client: client) {
                client.stream?.pauseReading()
                _ = try? server.stream?.write(SharedBytes("later"))
                timer = try? LoopTimer(loop: loop) { _ in
                    #expect(client.received.isEmpty)
                    client.stream?.startReading()
                }
                timer?.start(after: .milliseconds(30))
            }
            client.onReceived = { _ in loop.stop() }
        }
        #expect(client.received == Array("later".utf8))
    }

    @Test func `a write to a peer that reset the connection throws and raises no signal`() throws {
        let server = Peer()
        let client = Peer()
        var writeError: LoopError?
        try runLoop { loop in
            try connectPair(loop, server: server, client: client) {
                // The client pauses reading, so that it closes its socket with unread bytes. Then the client's system
                // sends a reset.
                server.stream?.pauseReading()
                client.stream?.pauseReading()
                _ = try? server.stream?.write(SharedBytes("unread"))
                let closeTimer = try? LoopTimer(loop: loop) { _ in
                    client.stream?.close()
                    // The writes repeat until the reset has arrived.
                    let writeTimer = try? LoopTimer(loop: loop) { _ in
                        do throws(LoopError) { try server.stream?.write(SharedBytes("x")) } catch { writeError = error }
                    }
                    writeTimer?.start(after: .milliseconds(5), repeating: .milliseconds(5))
                }
                closeTimer?.start(after: .milliseconds(5))
            }
            server.onEnded = { _, _ in loop.stop() }
        }
        #expect(writeError == .connectionReset)
        #expect(server.endError == .connectionReset)
        #expect(client.endError == nil, "a delegate is not notified of a close by its own side")
    }

    @Test func `a closed port and an unknown host are reported as errors, and a known host name is resolved`() throws {
        let refusedPeer = Peer()
        let unknownHostPeer = Peer()
        let localhostPeer = Peer()
        try runLoop { loop in
            let listener = try TCPListener(loop: loop, host: "127.0.0.1", port: 0) { stream in
                stream.delegate = Peer()
                stream.startReading()
            }
            let closedListener = try TCPListener(loop: loop, host: "127.0.0.1", port: 0) { _ in }
            let closedPort = closedListener.port
            closedListener.close()
            var pendingConnects = 3
            let connectFinished = {
                pendingConnects -= 1
                if pendingConnects == 0 { loop.stop() }
            }
            refusedPeer.onEnded = { _, _ in connectFinished() }
            unknownHostPeer.onEnded = { _, _ in connectFinished() }
            localhostPeer.onConnected = { _ in connectFinished() }
            refusedPeer.stream = try TCPStream.connect(
                loop: loop, host: "127.0.0.1", port: closedPort, delegate: refusedPeer)
            unknownHostPeer.stream = try TCPStream.connect(
                loop: loop, host: "no such host", port: 1, delegate: unknownHostPeer)
            localhostPeer.stream = try TCPStream.connect(
                loop: loop, host: "localhost", port: listener.port, delegate: localhostPeer)
        }
        #expect(refusedPeer.endError == .connectionRefused)
        #expect(unknownHostPeer.endError == .addressInvalid)
        // The connection to localhost was open until the loop ended.
        #expect(localhostPeer.endError == .loopEnding)
    }

    @Test func `a stream connects from the requested local address`() throws {
        let client = Peer()
        var clientAddress: IPAddress?
        try runLoop { loop in
            let listener = try TCPListener(loop: loop, host: "127.0.0.1", port: 0) { stream in
                clientAddress = stream.peerAddress
                loop.stop()
            }
            client.stream = try TCPStream.connect(
                loop: loop, host: "127.0.0.1", port: listener.port, from: "127.4.5.6", delegate: client)
            #expect(throws: LoopError.addressInvalid) {
                try TCPStream.connect(loop: loop, host: "127.0.0.1", port: 1, from: "a name", delegate: Peer())
            }
        }
        #expect(clientAddress == IPAddress("127.4.5.6"))
    }

    @Test func `delegates of open streams are notified when the loop ends`() throws {
        let server = Peer()
        let client = Peer()
        try runLoop { loop in try connectPair(loop, server: server, client: client) { loop.stop() } }
        #expect(server.endError == .loopEnding)
        #expect(client.endError == .loopEnding)
    }

    @Test func `an abort notifies the delegate and a close does not, and a write after either throws`() throws {
        let server = Peer()
        let client = Peer()
        try runLoop { loop in
            try connectPair(loop, server: server, client: client) {
                // The second close does nothing.
                client.stream?.close()
                client.stream?.close()
                #expect(throws: LoopError.closed) { try client.stream?.write(SharedBytes("x")) }
                server.stream?.abort()
                #expect(throws: LoopError.closed) { try server.stream?.write(contentsOf: []) }
            }
            server.onEnded = { _, error in
                #expect(error == .closed)
                loop.stop()
            }
        }
        #expect(client.endError == nil)
    }

    @Test func `a listener fails at an invalid address, and at a used port unless both listeners share it`() throws {
        try runLoop { loop in
            let unsharedListener = try TCPListener(loop: loop, host: "127.0.0.1", port: 0) { _ in }
            #expect(unsharedListener.port != 0)
            #expect(throws: LoopError.addressInUse) {
                try TCPListener(loop: loop, host: "127.0.0.1", port: unsharedListener.port) { _ in }
            }

            let sharedListener = try TCPListener(loop: loop, host: "127.0.0.1", port: 0, sharesPort: true) { _ in }
            let secondListener = try TCPListener(
                loop: loop, host: "127.0.0.1", port: sharedListener.port, sharesPort: true
            ) { _ in }
            #expect(secondListener.port == sharedListener.port)

            #expect(throws: LoopError.addressInvalid) {
                try TCPListener(loop: loop, host: "300.0.0.1", port: 0) { _ in }
            }
            loop.stop()
        }
    }

    @Test func `an accepted stream without a delegate is closed`() throws {
        let client = Peer()
        try runLoop { loop in
            let listener = try TCPListener(loop: loop, host: "127.0.0.1", port: 0) { _ in }
            client.stream = try TCPStream.connect(
                loop: loop, host: "127.0.0.1", port: listener.port, delegate: client)
            client.onEnded = { _, _ in loop.stop() }
        }
        #expect(client.endError == .endOfStream || client.endError == .connectionReset)
    }
}
