// SPDX-License-Identifier: Apache-2.0
import EventLoop
import TestSupport
import Testing

/// Tests of `Mailbox`, a bounded queue by which any thread sends messages to a loop.
///
/// One reader on the loop gets the messages in batches.
@Suite(.timeLimit(.minutes(1))) struct MailboxTests {
    @Test func `messages of each sender arrive in order, and none is lost or repeated`() throws {
        struct Message: Sendable, Equatable {
            var sender: Int
            var number: Int
        }
        let mailbox = Mailbox<Message>(capacity: 1_000_000)
        let messagesPerSender = 10_000
        let threads = try (0..<4).map { sender in
            try EventLoop.start(name: "sender") { loop in
                for number in 0..<messagesPerSender {
                    do throws(MailboxError) {
                        try mailbox.post(Message(sender: sender, number: number))
                    } catch { Issue.record("a post to a mailbox with room threw \(error)") }
                }
                loop.stop()
            }
        }
        // For each sender, the number that its next message must have.
        var nextNumbers = [0, 0, 0, 0]
        let finalNumbers = [Int](repeating: messagesPerSender, count: 4)
        try runLoop { loop in
            try mailbox.attach(to: loop) { batch in
                for message in batch {
                    #expect(message.number == nextNumbers[message.sender])
                    nextNumbers[message.sender] += 1
                }
                if nextNumbers == finalNumbers { loop.stop() }
            }
        }
        for thread in threads { thread.join() }
        #expect(nextNumbers == finalNumbers)
    }

    @Test func `I16 a post to a full mailbox throws overflow, and the queued messages are kept`() throws {
        let mailbox = Mailbox<Int>(capacity: 3)
        try mailbox.post(contentsOf: [1, 2])
        // There is room for one of the two messages, but they are posted together or not at all.
        #expect(throws: MailboxError.overflow(capacity: 3)) { try mailbox.post(contentsOf: [3, 4]) }
        try mailbox.post(3)
        #expect(throws: MailboxError.overflow(capacity: 3)) { try mailbox.post(4) }
        #expect(mailbox.count == 3)
        var received: [Int] = []
        try runLoop { loop in
            try mailbox.attach(to: loop) { batch in
                received += batch
                loop.stop()
            }
        }
        #expect(received == [1, 2, 3])
    }

    @Test func `the messages that were posted before the reader was attached are the first batch`() throws {
        let mailbox = Mailbox<Int>(capacity: 1_000)
        try mailbox.post(contentsOf: Array(0..<500))
        var batches: [[Int]] = []
        try runLoop { loop in
            try mailbox.attach(to: loop) { batch in
                batches.append(batch)
                // What the reader posts while it handles a batch comes in the next batch.
                if batches.count == 1 {
                    try? mailbox.post(7)
                    try? mailbox.post(8)
                } else {
                    loop.stop()
                }
            }
        }
        #expect(batches == [Array(0..<500), [7, 8]])
    }

    @Test func `a post throws after the mailbox was closed or its loop ended`() throws {
        let mailbox = Mailbox<Int>(capacity: 4)
        try runLoop { loop in
            try mailbox.attach(to: loop) { _ in loop.stop() }
            try mailbox.post(1)
        }
        #expect(throws: MailboxError.closed) { try mailbox.post(2) }

        let closedMailbox = Mailbox<Int>(capacity: 4)
        closedMailbox.close()
        #expect(throws: MailboxError.closed) { try closedMailbox.post(1) }
        try runLoop { loop in
            #expect(throws: LoopError.closed) { try closedMailbox.attach(to: loop) { _ in } }
            loop.stop()
        }
    }

    @Test func `a second reader cannot be attached to a mailbox`() throws {
        let mailbox = Mailbox<Int>(capacity: 4)
        try runLoop { loop in
            try mailbox.attach(to: loop) { _ in }
            #expect(throws: LoopError.closed) { try mailbox.attach(to: loop) { _ in } }
            // The mailbox is still open.
            try mailbox.post(1)
            loop.stop()
        }
    }

    @Test func `a loop ends by itself when another thread closes its only mailbox`() throws {
        let mailbox = Mailbox<Int>(capacity: 4)
        let loop = try EventLoop()
        try mailbox.attach(to: loop) { _ in Issue.record("a batch was delivered although nothing was posted") }
        let closingThread = try EventLoop.start(name: "closer") { loop in
            mailbox.close()
            loop.stop()
        }
        loop.run()
        closingThread.join()
        #expect(throws: MailboxError.closed) { try mailbox.post(1) }
    }

    @Test func `the loop of a thread runs until it is stopped`() throws {
        // The name is longer than the 15 bytes that the system keeps of a thread's name.
        let (thread, mailbox) = try EventLoop.start(name: "a rather long name") { loop throws(LoopError) in
            let mailbox = Mailbox<Int>(capacity: 4)
            try mailbox.attach(to: loop) { _ in }
            return mailbox
        }
        try mailbox.post(1)
        // A second stop and a second join do nothing.
        thread.stop()
        thread.stop()
        thread.join()
        thread.join()
        #expect(throws: MailboxError.closed, "the end of the loop closes its mailbox") { try mailbox.post(2) }
    }

    @Test func `an error of a thread's setup is thrown to the caller of start`() throws {
        #expect(throws: LoopError.addressInvalid) {
            _ = try EventLoop.start(name: "failing") { loop throws(LoopError) in
                try TCPListener(loop: loop, host: "nowhere", port: 0) { _ in }.port
            }
        }
    }
}
