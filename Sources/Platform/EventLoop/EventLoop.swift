// SPDX-License-Identifier: Apache-2.0
internal import CUV
internal import Glibc
package import MachineKit

/// An event loop of the library libuv, which one thread runs.
///
/// The loop runs in *turns*. A turn fires the due timers, polls the system for events, and handles these events.
/// Actions that are scheduled as `TurnEndHook` run after all timers or after all events of the turn.
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
    /// One buffer is enough, because a stream passes the bytes of a read to its `TCPStreamDelegate`, which processes
    /// them before the next read begins.
    let readBuffer: UnsafeMutableBufferPointer<UInt8>
    /// Limits the memory of the bytes that all streams of this loop have queued.
    package var outputBudget = OutputBudget()
    /// Empty bytes that take the place of a sent piece in a stream's output queue, so that the piece itself can be
    /// freed.
    ///
    /// Each loop has its own, so that the loops do not all change the reference count of one object.
    let noBytes = SharedBytes([])
    /// Whether the loop is ending or has ended; then no new handle may be created on it.
    private(set) var isEnding = false
    /// True if libuv's loop was closed, or could not be created, so that `raw` must not be used.
    private var isReleased = false
    /// Runs the hooks before each poll.
    private let prepare: UnsafeMutablePointer<uv_prepare_t>
    /// Runs the hooks after each poll.
    private let check: UnsafeMutablePointer<uv_check_t>
    /// The hooks that the next call of `runHooks()` runs.
    private var scheduledHooks: [TurnEndHook] = []
    /// The hooks that the current call of `runHooks()` runs.
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
        // A handle's `data` is the `LoopHandle` that owns it; these two handles have no such owner.
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

    /// The time of the monotonic clock, as read at the beginning of this turn; zero after `run()` has returned.
    package var now: MonotonicTime {
        MonotonicTime(milliseconds: self.isReleased ? 0 : unsafe Int64(clamping: uv_now(self.raw)))
    }

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

    /// Makes `run()` end the loop after the current turn, then close all handles and return.
    ///
    /// Call this method on the loop's thread.
    package func stop() {
        if !self.isReleased { unsafe uv_stop(self.raw) }
    }

    /// Schedules one run of a hook: after all events of the current poll, or, if a timer's action schedules the hook,
    /// after all due timers.
    func schedule(_ hook: TurnEndHook) { self.scheduledHooks.append(hook) }

    /// Runs the scheduled hooks; called before and after each poll.
    ///
    /// A hook that is scheduled meanwhile runs in the next call of this method.
    fileprivate func runHooks() {
        if self.scheduledHooks.isEmpty { return }
        swap(&self.scheduledHooks, &self.runningHooks)
        for hook in self.runningHooks { hook.run() }
        self.runningHooks.removeAll(keepingCapacity: true)
    }

    /// Closes all open handles and frees libuv's loop.
    private func release() {
        self.isEnding = true
        unsafe uv_walk(self.raw, closeForLoopEnd, nil)
        // Runs until libuv has called the close callbacks of all handles.
        unsafe uv_run(self.raw, UV_RUN_DEFAULT)
        let status = unsafe uv_loop_close(self.raw)
        assert(status == 0, "a handle outlived its loop: \(status)")
        self.isReleased = true
        self.scheduledHooks = []
    }
}

/// Runs the hooks that timers have scheduled; called on the loop's thread before each poll.
private func beforePoll(_ handle: UnsafeMutablePointer<uv_prepare_t>?) {
    guard let data = unsafe handle?.pointee.loop.pointee.data else { return }
    unsafe Unmanaged<EventLoop>.fromOpaque(data).takeUnretainedValue().runHooks()
}

/// Runs the hooks that events have scheduled; called on the loop's thread after the events of each poll were handled.
private func afterPoll(_ handle: UnsafeMutablePointer<uv_check_t>?) {
    guard let data = unsafe handle?.pointee.loop.pointee.data else { return }
    unsafe Unmanaged<EventLoop>.fromOpaque(data).takeUnretainedValue().runHooks()
}

/// Closes a handle, unless it is already being closed; called for each handle of a loop that ends.
private func closeForLoopEnd(_ handle: UnsafeMutablePointer<uv_handle_t>?, _: UnsafeMutableRawPointer?) {
    guard let handle = unsafe handle, unsafe uv_is_closing(handle) == 0 else { return }
    unsafe LoopHandle.closeOwner(of: handle)
}
