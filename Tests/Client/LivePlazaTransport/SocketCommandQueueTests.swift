// SPDX-License-Identifier: Apache-2.0
import EventLoop
import TestSupport
import Testing

@testable import LivePlazaTransport

/// The commands of a WebSocket in a queue that is full.
@Suite(.timeLimit(.minutes(1))) struct SocketCommandQueueTests {
    /// What a command does: the text that it sends, or "close" with its code.
    private static func text(of command: SocketCommand) -> String {
        switch command.action {
        case .connect: "connect"
        case .send(let text): String(decoding: text, as: UTF8.self)
        case .close(let code): "close \(code)"
        }
    }

    @Test func `I16 after a lost text no later text is sent, and a close is sent as soon as there is room`() throws {
        let commands = Mailbox<SocketCommand>(capacity: 2)
        let queue = SocketCommandQueue(socket: 1, commands: commands)
        // "c" finds no room, and neither does the close that follows it.
        for text in ["a", "b", "c"] { queue.send(Array(text.utf8)) }
        var received: [String] = []
        try runLoop { loop in
            try commands.attach(to: loop) { batch in
                received += batch.map(Self.text)
                // There is room for "d", but "d" must not be sent after the lost "c".
                if received == ["a", "b"] { queue.send(Array("d".utf8)) } else { loop.stop() }
            }
        }
        #expect(received == ["a", "b", "close 1000"])
    }
}
