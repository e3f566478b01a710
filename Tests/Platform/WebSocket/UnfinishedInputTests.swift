// SPDX-License-Identifier: Apache-2.0
import EventLoop
import TestSupport
import Testing

@testable import WebSocket

/// Tests of which WebSocket connection a server closes when unfinished messages take too much memory.
@Suite struct UnfinishedInputTests {
    /// A client that sends a message in two parts.
    private struct Sender {
        /// The client's address.
        var address: String
        /// The size of its message.
        var messageBytes: Int
        /// How many bytes of the message the client sends at first.
        var firstBytes: Int
    }

    /// What the server did.
    private struct Result {
        /// The indexes of the clients whose connections were closed.
        var closed: [Int] = []
        /// The sizes of the messages that the server received.
        var received: [Int] = []
    }

    /// Connects the clients one after another; each of them sends the first part of its message.
    ///
    /// Then the last client sends the rest of its message. The buffers of all unfinished messages together may take
    /// 100,000 bytes. The buffer of a message doubles when it is full, up to `maxMessageBytes`.
    private func run(_ senders: [Sender], maxMessageBytes: Int) throws -> Result {
        let events = EventRecorder()
        var result = Result()
        try runLoop { loop in
            let server = try makeServer(loop, events) {
                $0.maxUnfinishedBytes = 100_000
                $0.maxMessageBytes = maxMessageBytes
            }
            var clients: [RawClient] = []
            var frames: [[UInt8]] = []
            events.onText = { _, text in result.received.append(text.utf8.count) }
            /// The number of bytes that the clients have sent of their messages.
            var sentBytes = 0
            var hasSentRest = false
            // The first part also contains the frame's header, which has at most 14 bytes.
            let maxHeaderBytes = 14
            let timer = try LoopTimer(loop: loop) { [unowned loop] timer in
                // The next step begins when the server has received all, or has freed the memory of a connection.
                let isReceived = server.group.unfinishedBytes >= sentBytes || !result.closed.isEmpty
                if !clients.allSatisfy({ $0.isUpgraded || $0.endError != nil }) || !isReceived { return }
                if clients.count < senders.count {
                    let sender = senders[clients.count]
                    let frame = masked(.text, [UInt8](repeating: 65, count: sender.messageBytes))
                    frames.append(frame)
                    guard let client = try? RawClient(loop, port: server.port, from: sender.address) else {
                        return loop.stop()
                    }
                    let index = clients.count
                    client.onUpgraded = { client in
                        client.send(Array(frame.prefix(sender.firstBytes + maxHeaderBytes)))
                        sentBytes += sender.firstBytes
                    }
                    client.onEvent = { _, event in
                        if case .close = event { result.closed.append(index) }
                    }
                    clients.append(client)
                } else if !hasSentRest {
                    hasSentRest = true
                    let last = clients.count - 1
                    clients[last].send(Array(frames[last].dropFirst(senders[last].firstBytes + maxHeaderBytes)))
                } else if !result.received.isEmpty || result.closed.contains(clients.count - 1) {
                    timer.close()
                    loop.stop()
                }
            }
            timer.start(after: .milliseconds(5), repeating: .milliseconds(5))
        }
        return result
    }

    /// Rules: R12.10.
    @Test func `I16 the connection with the largest unfinished message is closed, not the one that exceeds the limit`()
        throws
    {
        let senders = [
            Sender(address: "127.0.0.2", messageBytes: 80_000, firstBytes: 70_000),
            Sender(address: "127.0.0.3", messageBytes: 30_000, firstBytes: 10_000),
            Sender(address: "127.0.0.4", messageBytes: 30_000, firstBytes: 25_000),
        ]
        let result = try self.run(senders, maxMessageBytes: 80_000)
        #expect(result.closed == [0])
        #expect(result.received == [30_000], "the message that exceeded the limit is received")
    }

    /// Rules: R12.10.
    @Test func `I16 an address with many small unfinished messages loses connections, not one with a larger message`()
        throws
    {
        let many = (0..<5).map { _ in Sender(address: "127.0.0.2", messageBytes: 45_000, firstBytes: 15_000) }
        // This message is larger than each message of `many`, but smaller than all of them together.
        let large = Sender(address: "127.0.0.3", messageBytes: 45_000, firstBytes: 40_000)
        let result = try self.run(many + [large], maxMessageBytes: 45_000)
        #expect(!result.closed.isEmpty && !result.closed.contains(5))
        #expect(result.received == [45_000])
    }
}
