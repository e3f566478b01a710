// SPDX-License-Identifier: Apache-2.0
import EventLoop
import MachineKit
import TestSupport
import Testing

@testable import WebSocket

/// Tests of what a WebSocket connection does with input that arrives after it has sent its close frame.
@Suite struct ClosingInputTests {
    @Test func `I16 a connection that has sent its close frame buffers nothing of a message over its limit`() throws {
        let serverEvents = EventRecorder()
        var bufferedBytes: [Int] = []
        try runLoop { loop in
            let server = try makeServer(loop, serverEvents) {
                // Until the connection is accepted (as after a login), it may receive 1,000 bytes. Only this limit
                // matters here, because the test stays below 100 frames and 1 MiB a second.
                var limits = InboundLimits(frames: RateLimit(100), bytes: RateLimit(1 << 20))
                limits.bytesBeforeAccepted = 1000
                $0.inbound = limits
            }
            let rawClient = try RawClient(loop, port: server.port)
            serverEvents.onOpened = { $0.close(.normal) }
            rawClient.onEvent = { rawClient, event in
                guard case .close = event, let connection = serverEvents.connections.first else { return }
                // Instead of answering the close frame, the client begins a message of 30,000 bytes, and sends 20,000
                // of them, far more than the limit of 1,000.
                rawClient.send(Array(masked(.text, [UInt8](repeating: 65, count: 30_000)).prefix(20_000)))
                let timer = try? LoopTimer(loop: loop) { timer in
                    timer.close()
                    bufferedBytes.append(connection.decoder.bufferedCapacityBytes)
                    loop.stop()
                }
                // Within 100 ms the server receives the bytes.
                timer?.start(after: .milliseconds(100))
            }
        }
        #expect(bufferedBytes == [0])
    }
}
