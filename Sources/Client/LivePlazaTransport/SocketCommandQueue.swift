// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import EventLoop

/// Passes the commands of one WebSocket to the loop, the thread that serves all WebSockets; can be used on any thread.
///
/// The loop's mailbox of commands is bounded. A text that finds no room in it is lost, and then no later text may be
/// sent. From then on `send` drops each text, and tries to close the WebSocket instead; the close may find no room
/// either.
final class SocketCommandQueue: Sendable {
    private static let normalClosure: UInt16 = 1000

    private let socket: UInt64
    private let commands: Mailbox<SocketCommand>
    private let hasLostText = Locked(false)

    /// The queue of the WebSocket with this number.
    init(socket: UInt64, commands: Mailbox<SocketCommand>) {
        self.socket = socket
        self.commands = commands
    }

    /// Sends a text, unless an earlier one was lost.
    func send(_ text: [UInt8]) {
        let isBroken = self.hasLostText.withLock { hasLostText in
            if !hasLostText { hasLostText = !self.post(.send(text)) }
            return hasLostText
        }
        if isBroken { self.close(code: Self.normalClosure) }
    }

    /// Closes the WebSocket after the texts that were sent.
    func close(code: UInt16) { _ = self.post(.close(code: code)) }

    /// Adds a command to the queue.
    ///
    /// - Returns: whether the command found room.
    private func post(_ action: SocketCommand.Action) -> Bool {
        (try? self.commands.post(SocketCommand(socket: self.socket, action))) != nil
    }
}
