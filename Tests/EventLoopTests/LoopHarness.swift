// SPDX-License-Identifier: Apache-2.0
import EventLoop
import Testing

/// Runs a loop on the test's own thread until the test stops it; one that hangs is stopped and recorded.
func runLoop(
    limitMilliseconds: UInt64 = 20_000, sourceLocation: SourceLocation = #_sourceLocation,
    _ setup: (EventLoop) throws -> Void
) throws {
    let loop = try EventLoop()
    let limit = try LoopTimer(loop: loop) { [unowned loop] _ in
        Issue.record("the loop did not come to its end", sourceLocation: sourceLocation)
        loop.stop()
    }
    limit.start(afterMilliseconds: limitMilliseconds)
    do { try setup(loop) } catch {
        loop.run(andThenThrow: error)
        throw error
    }
    loop.run()
}

extension EventLoop {
    /// Ends at once, so that a failed setup leaves nothing open.
    fileprivate func run(andThenThrow error: any Error) {
        self.stop()
        self.run()
    }
}

/// One end of a TCP connection, as closures.
final class Peer: TCPStreamDelegate {
    var stream: TCPStream?
    var received: [UInt8] = []
    var ended: LoopError?
    var onConnected: ((Peer) -> Void)?
    var onReceived: ((Peer) -> Void)?
    var onDrained: ((Peer) -> Void)?
    var onEnded: ((Peer, LoopError) -> Void)?

    func streamConnected(_ stream: TCPStream) {
        stream.startReading()
        self.onConnected?(self)
    }

    func stream(_ stream: TCPStream, received bytes: inout MutableSpan<UInt8>) {
        let span = bytes.span
        for index in span.indices { self.received.append(span[index]) }
        self.onReceived?(self)
    }

    func streamDrained(_ stream: TCPStream) { self.onDrained?(self) }

    func streamEnded(_ stream: TCPStream, _ error: LoopError) {
        #expect(self.ended == nil, "told twice")
        self.ended = error
        self.onEnded?(self, error)
        self.stream = nil
    }
}

/// A listener whose first connection becomes `server`, and a connected `client`.
func connectPair(
    _ loop: EventLoop, server: Peer, client: Peer, sendBufferBytes: Int32 = 0, _ ready: @escaping () -> Void
) throws {
    var listener: TCPListener?
    var standing = 0
    let stands = {
        standing += 1
        if standing == 2 {
            listener?.close()
            listener = nil
            ready()
        }
    }
    listener = try TCPListener(loop: loop, host: "127.0.0.1", port: 0) { stream in
        stream.delegate = server
        server.stream = stream
        if sendBufferBytes > 0 { stream.setSendBufferSize(sendBufferBytes) }
        stream.startReading()
        stands()
    }
    client.onConnected = { _ in stands() }
    client.stream = try TCPStream.connect(loop: loop, host: "127.0.0.1", port: listener?.port ?? 0, delegate: client)
}
