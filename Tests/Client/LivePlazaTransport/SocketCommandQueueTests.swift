// SPDX-License-Identifier: Apache-2.0
import EventLoop
import TestSupport
import Testing

@testable import LivePlazaTransport

/// What happens to the commands for a WebSocket when the mailbox for commands is full.
@Suite(.timeLimit(.minutes(1))) struct SocketCommandQueueTests {
    /// Describes a command: the text that it sends, or "close" with its code.
    private static func description(of command: SocketCommand) -> String {
        switch command.action {
        case .connect: "connect"
        case .send(let text): String(decoding: text, as: UTF8.self)
        case .close(let code): "close \(code)"
        }
    }

    @Test func `I16 after a lost text no later text is sent, and a close is sent as soon as there is room`() throws {
        let commands = Mailbox<SocketCommand>(capacity: 2)
        let queue = SocketCommandQueue(socket: 1, commands: commands)
        // The mailbox has room for "a" and "b". "c" is lost, and the close that must follow a lost text waits for room.
        for text in ["a", "b", "c"] { queue.send(Array(text.utf8)) }
        var received: [String] = []
        try runLoop { loop in
            try commands.attach(to: loop) { batch in
                received += batch.map(Self.description)
                // Now there is room for "d", but "d" must not be sent after the lost "c".
                if received == ["a", "b"] { queue.send(Array("d".utf8)) } else { loop.stop() }
            }
        }
        #expect(received == ["a", "b", "close 1000"])
    }
}
