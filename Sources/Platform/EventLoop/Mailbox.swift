// SPDX-License-Identifier: Apache-2.0
internal import CUV
internal import Concurrency

/// Why a mailbox did not accept a message.
package enum MailboxError: Error, Hashable, Sendable {
    /// The mailbox is full; no message of this post was accepted.
    case overflow(capacity: Int)
    /// The mailbox was closed, or its loop has ended.
    case closed
}

/// A bounded queue of messages from any thread to an event loop.
///
/// The loop receives all queued messages as one batch.
///
/// Only a message that is posted to an empty mailbox wakes the loop. Messages of one sender stay in order. Messages
/// that are posted before `attach` are queued until then.
package final class Mailbox<Message: Sendable>: Sendable {
    /// The maximum number of queued messages.
    package let capacity: Int
    private let state = Locked<State>(State())
    /// The maximum capacity of an array that is reused, in messages.
    private static var maxReusedCapacity: Int { 4_096 }

    /// Creates an open mailbox for at most `capacity` queued messages.
    package init(capacity: Int) {
        precondition(capacity > 0, "a mailbox needs a capacity above 0, not \(capacity)")
        self.capacity = capacity
    }

    /// Adds one message.
    ///
    /// - Throws: `MailboxError.overflow` when the mailbox is full, `MailboxError.closed` when it was closed or its loop
    ///   has ended.
    package func post(_ message: Message) throws(MailboxError) {
        try self.post(contentsOf: CollectionOfOne(message))
    }

    /// Adds several messages, all or none of them.
    ///
    /// - Throws: `MailboxError.overflow` when the messages do not all fit, `MailboxError.closed` when the mailbox was
    ///   closed or its loop has ended.
    package func post(contentsOf messages: some Collection<Message> & Sendable) throws(MailboxError) {
        let capacity = self.capacity
        try self.state.withLock { (state: inout sending State) throws(MailboxError) in
            if state.isClosed { throw .closed }
            if messages.isEmpty { return }
            if state.queue.count + messages.count > capacity { throw .overflow(capacity: capacity) }
            let wasEmpty = state.queue.isEmpty
            state.queue.append(contentsOf: messages)
            // The loop is woken under the lock, because otherwise the handle could be closed meanwhile. A wake-up costs
            // one write to an eventfd for each batch.
            if wasEmpty { state.wakeHandle?.wakeUp() }
        }
    }

    /// The number of queued messages.
    package var count: Int { self.state.withLock { state in state.queue.count } }

    /// Attaches a reader to the mailbox: `read` is called with each batch on the loop's thread.
    ///
    /// Must be called on the loop's thread, once per mailbox. The loop does not end while an attached mailbox is open.
    ///
    /// - Throws: `LoopError.loopEnding`, or `LoopError.closed` when the mailbox is closed or already attached.
    package func attach(to loop: EventLoop, _ read: @escaping ([Message]) -> Void) throws(LoopError) {
        var batch: [Message] = []
        let reader = try MailboxReader(loop: loop)
        reader.receive = { [self, unowned reader] in
            // `takeMessages` returns nil when the mailbox was closed.
            guard let messages = self.takeMessages(replacement: batch) else { return reader.close() }
            batch = messages
            if batch.isEmpty { return }
            read(batch)
            // The queue and `batch` exchange their arrays, so that a steady flow allocates nothing. An array that a
            // burst has enlarged is freed.
            if batch.capacity > Self.maxReusedCapacity { batch = [] } else { batch.removeAll(keepingCapacity: true) }
        }
        reader.closeMailbox = { [self] in self.state.withLock { state in state = State(isClosed: true) } }
        let wakeHandle = reader.wakeHandle
        let isAttached = self.state.withLock { state in
            if state.isClosed || state.wakeHandle != nil { return false }
            state.wakeHandle = wakeHandle
            if !state.queue.isEmpty { wakeHandle.wakeUp() }
            return true
        }
        if !isAttached {
            // This reader was not attached, so closing the reader must not close the mailbox.
            reader.closeMailbox = nil
            reader.close()
            throw .closed
        }
    }

    /// Closes the mailbox.
    ///
    /// Later posts fail, queued messages are dropped, and the mailbox no longer keeps the loop from ending. May be
    /// called from any thread.
    package func close() {
        self.state.withLock { state in
            state.isClosed = true
            state.queue = []
            // Only the loop's thread may close the handle. Wake the loop, so that the reader finds the mailbox closed
            // and closes the handle.
            state.wakeHandle?.wakeUp()
        }
    }

    /// Returns the queued messages, and makes the empty array `replacement` the new queue; nil when the mailbox was
    /// closed.
    private func takeMessages(replacement: [Message]) -> [Message]? {
        self.state.withLock { state in
            if state.isClosed { return nil }
            var messages = replacement
            swap(&messages, &state.queue)
            return messages
        }
    }

    private struct State {
        var queue: [Message] = []
        /// Wakes the loop to which the mailbox is attached; nil before `attach`.
        var wakeHandle: WakeHandle?
        var isClosed = false
    }
}

/// The pointer to a `uv_async_t`, which threads use to wake the loop.
///
/// `@unchecked Sendable`: any thread may call `uv_async_send`, and the mailbox's lock ensures that no thread calls it
/// after the handle has begun to close.
@safe struct WakeHandle: @unchecked Sendable {
    let handle: UnsafeMutablePointer<uv_async_t>

    /// Wakes the loop, which then calls the mailbox's reader.
    func wakeUp() { unsafe uv_async_send(self.handle) }
}

/// The loop's side of a mailbox: the handle that wakes the loop.
final class MailboxReader: LoopHandle {
    /// Reads the queued messages; called after each wake-up.
    var receive: (() -> Void)?
    /// Closes the mailbox; called once, when the reader is closed.
    var closeMailbox: (() -> Void)?

    init(loop: EventLoop) throws(LoopError) {
        try unsafe super.init(loop: loop, size: MemoryLayout<uv_async_t>.size)
        try LoopError.check(unsafe uv_async_init(loop.raw, self.async, mailboxWoken))
        self.retainByHandle()
    }

    var wakeHandle: WakeHandle { unsafe WakeHandle(handle: self.async) }

    private var async: UnsafeMutablePointer<uv_async_t> {
        unsafe self.memory.assumingMemoryBound(to: uv_async_t.self)
    }

    /// Closes the mailbox and then the handle, in this order, so that no thread wakes a handle that is being closed.
    func close() {
        self.closeMailbox?()
        self.closeMailbox = nil
        self.receive = nil
        self.closeHandle()
    }

    override func loopWillEnd() { self.close() }
}

/// Called on the loop's thread, at least once after each wake-up; the handle retains its reader.
private func mailboxWoken(_ handle: UnsafeMutablePointer<uv_async_t>?) {
    guard let data = unsafe handle?.pointee.data else { return }
    unsafe Unmanaged<MailboxReader>.fromOpaque(data).takeUnretainedValue().receive?()
}
