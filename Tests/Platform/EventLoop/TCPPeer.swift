// SPDX-License-Identifier: Apache-2.0
import EventLoop
import Testing

/// One end of a TCP connection, with closures for its events.
final class Peer: TCPStreamDelegate {
    var stream: TCPStream?
    var received: [UInt8] = []
    /// The error with which the stream ended; nil while it is open.
    var endError: LoopError?
    var onConnected: ((Peer) -> Void)?
    var onReceived: ((Peer) -> Void)?
    /// Called when the queue of bytes to send has become empty.
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
        #expect(self.endError == nil, "the end was reported twice")
        self.endError = error
        self.onEnded?(self, error)
        self.stream = nil
    }
}

/// Connects `client` to a listener, gives the accepted stream to `server`, and calls `ready` when both are connected.
///
/// `sendBufferBytes` is the size of the send buffer of the server's socket; 0 keeps the system's default.
func connectPair(
    _ loop: EventLoop, server: Peer, client: Peer, sendBufferBytes: Int32 = 0, _ ready: @escaping () -> Void
) throws {
    var listener: TCPListener?
    var connectedSides = 0
    let sideConnected = {
        connectedSides += 1
        if connectedSides == 2 {
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
        sideConnected()
    }
    client.onConnected = { _ in sideConnected() }
    client.stream = try TCPStream.connect(loop: loop, host: "127.0.0.1", port: listener?.port ?? 0, delegate: client)
}
