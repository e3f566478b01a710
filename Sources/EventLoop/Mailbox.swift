// SPDX-License-Identifier: Apache-2.0
internal import CUV
internal import Concurrency

/// Why a mailbox took no message.
package enum MailboxError: Error, Hashable, Sendable {
    /// It holds as many messages as it may; nothing of this post was taken.
    case overflow(capacity: Int)
    /// Its reader is gone, or its loop ended.
    case closed
}

/// The way onto a loop from any thread: a bounded queue whose whole content is handed over at once.
///
/// The loop is woken only by the message that finds the mailbox empty. Messages of one sender stay in order. What is
/// posted before `attach` waits for it.
package final class Mailbox<Message: Sendable>: Sendable {
    /// How many messages may wait.
    package let capacity: Int
    private let state = Locked<State>(State())

    /// Makes an open mailbox for at most `capacity` waiting messages.
    package init(capacity: Int) {
        precondition(capacity > 0, "a mailbox without room")
        self.capacity = capacity
    }

    /// Adds one message.
    ///
    /// - Throws: `MailboxError.overflow` when it is full, `MailboxError.closed` when nobody will read it.
    package func post(_ message: Message) throws(MailboxError) {
        try self.post(contentsOf: CollectionOfOne(message))
    }

    /// Adds several messages, all or none of them.
    ///
    /// - Throws: `MailboxError.overflow` when they do not all fit, `MailboxError.closed` when nobody will read them.
    package func post(contentsOf messages: some Collection<Message> & Sendable) throws(MailboxError) {
        let capacity = self.capacity
        try self.state.withLock { (state: inout sending State) throws(MailboxError) in
            if state.isClosed { throw .closed }
            if messages.isEmpty { return }
            if state.waiting.count + messages.count > capacity { throw .overflow(capacity: capacity) }
            let wasEmpty = state.waiting.isEmpty
            state.waiting.append(contentsOf: messages)
            // Inside the lock, or it could meet a handle that the loop is closing. It is one write to an eventfd, and
            // happens once per batch.
            if wasEmpty, let wake = state.wake { unsafe uv_async_send(wake.handle) }
        }
    }

    /// How many messages wait.
    package var count: Int { self.state.withLock { state in state.waiting.count } }

    /// Hands each batch to `read`, on the loop's thread, which this call is made on.
    ///
    /// Once per mailbox.
    ///
    /// It keeps the loop alive until it is closed.
    /// - Throws: `LoopError.loopEnding`, or `LoopError.closed` when the mailbox is closed or attached.
    package func attach(to loop: EventLoop, _ read: @escaping ([Message]) -> Void) throws(LoopError) {
        var batch: [Message] = []
        let reader = try MailboxReader(loop: loop)
        reader.receive = { [self, unowned reader] in
            guard let taken = self.take(replacement: batch) else { return reader.close() }
            batch = taken
            if batch.isEmpty { return }
            read(batch)
            // The two arrays take turns, so that a steady flow allocates nothing; one that a burst has swollen goes.
            if batch.capacity > 4_096 { batch = [] } else { batch.removeAll(keepingCapacity: true) }
        }
        reader.ended = { [self] in self.state.withLock { state in state = State(isClosed: true) } }
        let wake = reader.wake
        let taken = self.state.withLock { state in
            if state.isClosed || state.wake != nil { return false }
            state.wake = wake
            if !state.waiting.isEmpty { unsafe uv_async_send(wake.handle) }
            return true
        }
        if !taken {
            reader.ended = nil
            reader.close()
            throw .closed
        }
    }

    /// Closes it, from any thread: later posts fail, waiting messages are dropped, the loop is released.
    package func close() {
        self.state.withLock { state in
            state.isClosed = true
            state.waiting = []
            // The handle may only be closed by its loop; the reader finds the mailbox closed and does so.
            if let wake = state.wake { unsafe uv_async_send(wake.handle) }
        }
    }

    /// Swaps the waiting messages for an empty array; nil when the mailbox was closed.
    private func take(replacement: [Message]) -> [Message]? {
        self.state.withLock { state in
            if state.isClosed { return nil }
            var taken = replacement
            swap(&taken, &state.waiting)
            return taken
        }
    }

    private struct State {
        var waiting: [Message] = []
        var wake: WakeHandle?
        var isClosed = false
    }
}

/// The pointer to a `uv_async_t`, on its way to other threads.
///
/// Sendable because `uv_async_send` may be called on any thread, and the mailbox's lock sees to it that this does not
/// happen after the handle began to close.
@safe struct WakeHandle: @unchecked Sendable {
    let handle: UnsafeMutablePointer<uv_async_t>
}

/// The loop's side of a mailbox: the handle that wakes the loop.
final class MailboxReader: LoopHandle {
    var receive: (() -> Void)?
    var ended: (() -> Void)?

    init(loop: EventLoop) throws(LoopError) {
        try unsafe super.init(loop: loop, size: MemoryLayout<uv_async_t>.size)
        try LoopError.check(unsafe uv_async_init(loop.raw, self.async, mailboxWoken))
        self.started()
    }

    var wake: WakeHandle { unsafe WakeHandle(handle: self.async) }

    private var async: UnsafeMutablePointer<uv_async_t> {
        unsafe self.memory.assumingMemoryBound(to: uv_async_t.self)
    }

    /// Ends the mailbox first, so that nobody sends to a closing handle.
    func close() {
        self.ended?()
        self.ended = nil
        self.receive = nil
        self.closeHandle()
    }

    override func loopEnds() { self.close() }
}

/// On the loop's thread, once or more after each wake; the handle keeps its reader alive.
private func mailboxWoken(_ handle: UnsafeMutablePointer<uv_async_t>?) {
    guard let data = unsafe handle?.pointee.data else { return }
    unsafe Unmanaged<MailboxReader>.fromOpaque(data).takeUnretainedValue().receive?()
}
