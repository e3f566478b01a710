// SPDX-License-Identifier: Apache-2.0
internal import CUV
internal import Glibc

/// One libuv event loop.
///
/// The loop and all its handles belong to the one thread that runs it. They are plain classes without locks, actors or
/// `async`. Other threads communicate with them through a `Mailbox` only.
@safe package final class EventLoop {
    /// The maximum number of bytes that one read from a stream returns.
    package static let readBufferSize = 64 * 1024

    /// libuv's loop.
    let raw: UnsafeMutablePointer<uv_loop_t>
    /// The read buffer that all streams of this loop share.
    ///
    /// One buffer is enough, because the delegate has processed the bytes of a read before the next read begins.
    let readBuffer: UnsafeMutableBufferPointer<UInt8>
    /// Whether the loop is ending or has ended; then no new handle may be created on it.
    private(set) var isEnding = false
    /// Whether libuv has freed the loop.
    private var isReleased = false
    private let prepare: UnsafeMutablePointer<uv_prepare_t>
    private let check: UnsafeMutablePointer<uv_check_t>
    /// The hooks that the next call of `runHooks()` runs.
    private var dueHooks: [TurnEndHook] = []
    /// The hooks that the present call of `runHooks()` runs.
    private var runningHooks: [TurnEndHook] = []

    /// Creates a loop that does nothing until a thread calls `run()`; from then on it belongs to that thread.
    ///
    /// - Throws: `LoopError.outOfResources` when the system has no free descriptor.
    package init() throws(LoopError) {
        // With the default action of SIGPIPE, a write to a closed socket would end the process instead of returning an
        // error.
        _ = signal(SIGPIPE, SIG_IGN)
        unsafe self.raw = .allocate(capacity: 1)
        unsafe self.readBuffer = .allocate(capacity: Self.readBufferSize)
        unsafe self.readBuffer.initialize(repeating: 0)
        unsafe self.prepare = .allocate(capacity: 1)
        unsafe self.check = .allocate(capacity: 1)
        let status = unsafe uv_loop_init(self.raw)
        if status < 0 {
            self.isReleased = true
            throw LoopError(status: status)
        }
        unsafe self.raw.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        // Hooks run after each poll. They also run before each poll, because timers, which may schedule hooks, fire
        // before it. Neither of the two handles keeps the loop alive.
        unsafe uv_prepare_init(self.raw, self.prepare)
        unsafe uv_check_init(self.raw, self.check)
        unsafe self.prepare.pointee.data = nil
        unsafe self.check.pointee.data = nil
        unsafe uv_prepare_start(self.prepare, beforePoll)
        unsafe uv_check_start(self.check, afterPoll)
        unsafe uv_unref(UnsafeMutableRawPointer(self.prepare).assumingMemoryBound(to: uv_handle_t.self))
        unsafe uv_unref(UnsafeMutableRawPointer(self.check).assumingMemoryBound(to: uv_handle_t.self))
    }

    deinit {
        // A loop that was never run must still close the two handles that it owns, `prepare` and `check`. No other
        // handle is open, because every other handle retains its loop.
        if !self.isReleased { self.release() }
        unsafe self.prepare.deallocate()
        unsafe self.check.deallocate()
        unsafe self.readBuffer.deallocate()
        unsafe self.raw.deallocate()
    }

    /// The time in milliseconds of the monotonic clock, as read at the beginning of this loop turn.
    package var nowMilliseconds: UInt64 { self.isReleased ? 0 : unsafe uv_now(self.raw) }

    /// Reads the clock again; useful after a long computation.
    package func updateNow() {
        if !self.isReleased { unsafe uv_update_time(self.raw) }
    }

    /// Runs on the calling thread until `stop()`, or until no active handle is left; then closes all open handles.
    ///
    /// Open streams end with `LoopError.loopEnding`. A loop can be run only once.
    package func run() {
        if self.isReleased { return }
        unsafe uv_run(self.raw, UV_RUN_DEFAULT)
        self.release()
    }

    /// Makes `run()` end the loop after the present turn, then close all handles and return.
    ///
    /// A turn is one pass over the due timers and one poll. Call this method on the loop's thread.
    package func stop() {
        if !self.isReleased { unsafe uv_stop(self.raw) }
    }

    /// Makes a hook run soon.
    ///
    /// It runs after the current poll. If a timer's handler schedules it, it runs before the next poll, because timers
    /// fire before the loop polls.
    func schedule(_ hook: TurnEndHook) { self.dueHooks.append(hook) }

    /// Runs the scheduled hooks; called before and after each poll.
    ///
    /// A hook that is scheduled meanwhile runs in the next call of this method.
    fileprivate func runHooks() {
        if self.dueHooks.isEmpty { return }
        swap(&self.dueHooks, &self.runningHooks)
        for hook in self.runningHooks { hook.run() }
        self.runningHooks.removeAll(keepingCapacity: true)
    }

    /// Closes all open handles and frees libuv's loop.
    private func release() {
        self.isEnding = true
        unsafe uv_walk(self.raw, endHandle, nil)
        unsafe uv_run(self.raw, UV_RUN_DEFAULT)
        let status = unsafe uv_loop_close(self.raw)
        assert(status == 0, "a handle outlived its loop: \(status)")
        self.isReleased = true
        self.dueHooks = []
    }
}

/// Called on the loop's thread, before it waits for the next events.
private func beforePoll(_ handle: UnsafeMutablePointer<uv_prepare_t>?) {
    guard let data = unsafe handle?.pointee.loop.pointee.data else { return }
    unsafe Unmanaged<EventLoop>.fromOpaque(data).takeUnretainedValue().runHooks()
}

/// Called on the loop's thread, after it has handled the events that its poll returned.
private func afterPoll(_ handle: UnsafeMutablePointer<uv_check_t>?) {
    guard let data = unsafe handle?.pointee.loop.pointee.data else { return }
    unsafe Unmanaged<EventLoop>.fromOpaque(data).takeUnretainedValue().runHooks()
}

/// Called on the loop's thread, once per handle, when the loop ends.
private func endHandle(_ handle: UnsafeMutablePointer<uv_handle_t>?, _: UnsafeMutableRawPointer?) {
    guard let handle = unsafe handle, unsafe uv_is_closing(handle) == 0 else { return }
    unsafe LoopHandle.endOwner(of: handle)
}
