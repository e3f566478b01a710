// SPDX-License-Identifier: Apache-2.0
import EventLoop
import MachineKit
import TestSupport
import Testing

@testable import WebSocket

/// Tests that all frames count for the limits of frames, even frames that complete no message.
@Suite struct FrameLimitTests {
    /// Records the limits that connections exceed, and closes those connections.
    private final class ExcessRecorder: WebSocketDelegate {
        var excesses: [InboundExcess] = []
        var textCount = 0
        var onClosed: () -> Void = {}
        /// Whether the connections are accepted when they open, as after a login.
        let acceptsConnections: Bool

        init(acceptsConnections: Bool) { self.acceptsConnections = acceptsConnections }

        func webSocketOpened(_ connection: WebSocketConnection, _ request: UpgradeRequest?) {
            if self.acceptsConnections { connection.accept() }
        }
        func webSocket(_ connection: WebSocketConnection, receivedText text: Span<UInt8>) { self.textCount += 1 }
        func webSocket(_ connection: WebSocketConnection, exceeded limit: InboundExcess) {
            self.excesses.append(limit)
            connection.close(.policyViolation)
        }
        func webSocketClosed(_ connection: WebSocketConnection, _ closure: WebSocketClosure) { self.onClosed() }
    }

    /// A message in `frameCount` frames, all of them empty but the first one.
    private static func fragmentedMessage(frameCount: Int) -> [UInt8] {
        let emptyFrame = masked(.continuation, [], isFinal: false)
        let middle = [[UInt8]](repeating: emptyFrame, count: frameCount - 2).flatMap { $0 }
        return masked(.text, [97], isFinal: false) + middle + masked(.continuation, [])
    }

    /// Sends bytes and then a close frame to a server, and waits for the end of the connection.
    ///
    /// The server's limit is 40 frames if it accepts the connection when the connection opens (`isAccepted`); if not,
    /// the limit is 10 frames.
    private func send(_ bytes: [UInt8], isAccepted: Bool) throws -> ExcessRecorder {
        let recorder = ExcessRecorder(acceptsConnections: isAccepted)
        try runLoop { loop in
            var configuration = WebSocketConfiguration()
            configuration.inbound = InboundLimits(frames: RateLimit(40, per: .seconds(600)), bytes: RateLimit(1 << 20))
            configuration.closeTimeout = .milliseconds(50)
            let group = WebSocketGroup(loop: loop, configuration: configuration)
            try group.startSweeping(every: .milliseconds(20))
            let server = try WebSocketServer(group: group, host: "127.0.0.1", port: 0, delegate: recorder)
            recorder.onClosed = { loop.stop() }
            let client = try RawClient(loop, port: server.port)
            client.onUpgraded = { $0.send(bytes + masked(.close, [])) }
        }
        return recorder
    }

    /// Rules: R12.9.
    @Test func `I16 empty frames of a message that does not end count for the rate of frames`() throws {
        // The frames have fewer than 64 KiB, so one read of the loop can contain all of them.
        let fragments = Self.fragmentedMessage(frameCount: 8_000)
        let recorder = try self.send(fragments, isAccepted: true)
        #expect(recorder.excesses == [.frames] && recorder.textCount == 0)
    }

    /// Rules: R12.9.
    @Test(arguments: [(39, []), (40, [InboundExcess.frames])])
    func `I16 the frames of a message and the close frame may together be as many as the limit`(
        frameCount: Int, excesses: [InboundExcess]
    ) throws {
        let recorder = try self.send(Self.fragmentedMessage(frameCount: frameCount), isAccepted: true)
        #expect(recorder.excesses == excesses)
        #expect(recorder.textCount == 1, "the message itself is within the limit of 40 frames")
    }

    /// Rules: R12.9.
    @Test(arguments: [(9, []), (10, [InboundExcess.beforeAccepted])])
    func `I16 each frame of a message counts before the connection is accepted`(
        frameCount: Int, excesses: [InboundExcess]
    ) throws {
        let recorder = try self.send(Self.fragmentedMessage(frameCount: frameCount), isAccepted: false)
        #expect(recorder.excesses == excesses && recorder.textCount == 1)
    }

    @Test func `the decoder counts the same frames in chunks of any size`() {
        let frames = [
            masked(.text, [97], isFinal: false), masked(.continuation, [], isFinal: false), masked(.ping, [1]),
            masked(.continuation, [98, 99], isFinal: false), masked(.continuation, []), masked(.binary, [1, 2]),
            masked(.pong, []), masked(.text, [], isFinal: false), masked(.continuation, [100]),
            // This frame breaks the protocol, because no message has begun.
            masked(.continuation, [101]),
        ]
        let bytes = frames.flatMap { $0 }
        for chunkSize in 1...bytes.count {
            var decoder = FrameDecoder(role: .server, maxMessageBytes: 1_000)
            var frameCount = 0
            for start in stride(from: 0, to: bytes.count, by: chunkSize) {
                _ = decode(&decoder, [Array(bytes[start..<min(start + chunkSize, bytes.count)])])
                frameCount += decoder.takeFrameCount()
            }
            #expect(frameCount == frames.count, "chunks of \(chunkSize) bytes")
        }
    }
}
