// SPDX-License-Identifier: Apache-2.0
internal import CUV
internal import Glibc

/// One libuv loop.
///
/// It, and all that lives on it, belongs to the one thread that runs it.
///
/// Plain classes live here: no locks, no actors, no `async`. The only way in from another thread is a `Mailbox`.
@safe package final class EventLoop {
    /// Bytes that one read of any stream of this loop can bring.
    package static let readBufferSize = 64 * 1024

    let raw: UnsafeMutablePointer<uv_loop_t>
    /// The one buffer that all streams of this loop read into.
    ///
    /// A read hands it on before the next one begins.
    let readBuffer: UnsafeMutableBufferPointer<UInt8>
    /// Set once the loop winds down; from then on nothing new may start on it.
    private(set) var isEnding = false
    private var isReleased = false
    private let prepare: UnsafeMutablePointer<uv_prepare_t>
    private let check: UnsafeMutablePointer<uv_check_t>
    private var dueHooks: [TurnEndHook] = []
    private var runningHooks: [TurnEndHook] = []

    /// Makes a loop; `run()` runs it, on the calling thread.
    ///
    /// - Throws: `LoopError.outOfResources` when the system has no descriptors left for it.
    package init() throws(LoopError) {
        // A peer that went away must be an error of a write, not the end of the process.
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
        // After polling, and again before the next poll, for what timers scheduled. Neither keeps the loop alive.
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
        // A loop that was never run still has its own two handles to close. Others keep their loop alive.
        if !self.isReleased { self.release() }
        unsafe self.prepare.deallocate()
        unsafe self.check.deallocate()
        unsafe self.readBuffer.deallocate()
        unsafe self.raw.deallocate()
    }

    /// Milliseconds of a clock that never goes back, as of the beginning of this loop turn.
    package var nowMilliseconds: UInt64 { self.isReleased ? 0 : unsafe uv_now(self.raw) }

    /// Reads the clock again, after a computation that took long.
    package func updateNow() {
        if !self.isReleased { unsafe uv_update_time(self.raw) }
    }

    /// Runs on the calling thread until `stop()`, or until nothing is left to wait for; then closes all that is open.
    ///
    /// Streams that were open are told `LoopError.loopEnding`. A loop runs once.
    package func run() {
        if self.isReleased { return }
        unsafe uv_run(self.raw, UV_RUN_DEFAULT)
        self.release()
    }

    /// Makes `run()` return after this turn.
    ///
    /// Call it on the loop's thread.
    package func stop() {
        if !self.isReleased { unsafe uv_stop(self.raw) }
    }

    /// Remembers a hook for the end of this turn.
    func schedule(_ hook: TurnEndHook) { self.dueHooks.append(hook) }

    /// Runs what was scheduled for the end of this turn; what is scheduled meanwhile runs in the next round.
    fileprivate func runHooks() {
        if self.dueHooks.isEmpty { return }
        swap(&self.dueHooks, &self.runningHooks)
        for hook in self.runningHooks { hook.run() }
        self.runningHooks.removeAll(keepingCapacity: true)
    }

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

/// On the loop's thread, before it waits for the next events.
private func beforePoll(_ handle: UnsafeMutablePointer<uv_prepare_t>?) {
    guard let data = unsafe handle?.pointee.loop.pointee.data else { return }
    unsafe Unmanaged<EventLoop>.fromOpaque(data).takeUnretainedValue().runHooks()
}

/// On the loop's thread, after all events of a turn were handled.
private func afterPoll(_ handle: UnsafeMutablePointer<uv_check_t>?) {
    guard let data = unsafe handle?.pointee.loop.pointee.data else { return }
    unsafe Unmanaged<EventLoop>.fromOpaque(data).takeUnretainedValue().runHooks()
}

/// On the loop's thread, once per handle, when the loop ends.
private func endHandle(_ handle: UnsafeMutablePointer<uv_handle_t>?, _: UnsafeMutableRawPointer?) {
    guard let handle = unsafe handle, unsafe uv_is_closing(handle) == 0 else { return }
    unsafe LoopHandle.endOwner(of: handle)
}
