// SPDX-License-Identifier: Apache-2.0
import EventLoop
import MachineKit
import TestSupport
import Testing

@testable import WebSocket

/// Input that a peer sends although this side has sent its close frame.
@Suite struct ClosingInputTests {
    @Test func `I16 after a connection has sent its close frame, it buffers no input beyond its limit`() throws {
        let serverEvents = EventRecorder()
        var bufferedBytes: [Int] = []
        try runLoop { loop in
            let server = try makeServer(loop, serverEvents) {
                // The test does not reach the limits of 100 frames and 1 MiB a second.
                var limits = InboundLimits(frames: RateLimit(100), bytes: RateLimit(1 << 20))
                limits.bytesBeforeAccepted = 1000
                $0.inbound = limits
            }
            let rawClient = try RawClient(loop, port: server.port)
            serverEvents.onOpened = { $0.close(.normal) }
            rawClient.onEvent = { rawClient, event in
                guard case .close = event, let connection = serverEvents.connections.first else { return }
                // The client does not answer the close frame, but begins a long message.
                // 20,000 bytes are far over the limit of 1,000.
                rawClient.send(Array(masked(.text, [UInt8](repeating: 65, count: 30_000)).prefix(20_000)))
                let timer = try? LoopTimer(loop: loop) { timer in
                    timer.close()
                    bufferedBytes.append(connection.decoder.bufferedCapacityBytes)
                    loop.stop()
                }
                // By then the server has received the bytes.
                timer?.start(after: .milliseconds(100))
            }
        }
        #expect(bufferedBytes == [0])
    }
}
