// SPDX-License-Identifier: Apache-2.0
internal import CUV

/// A timer on a loop, one-shot or repeating.
///
/// It lives until `close()` or the end of its loop.
package final class LoopTimer: LoopHandle {
    private var action: ((LoopTimer) -> Void)?

    /// Makes a timer that does `action` on `loop` each time it fires; it waits for `start`.
    package init(loop: EventLoop, _ action: @escaping (LoopTimer) -> Void) throws(LoopError) {
        self.action = action
        try unsafe super.init(loop: loop, size: MemoryLayout<uv_timer_t>.size)
        try LoopError.check(unsafe uv_timer_init(loop.raw, self.timer))
        self.started()
    }

    /// Fires after `milliseconds`, then each `repeating` milliseconds if that is not zero.
    ///
    /// A running timer starts anew.
    package func start(afterMilliseconds milliseconds: UInt64, repeatingMilliseconds: UInt64 = 0) {
        if self.isClosed { return }
        unsafe uv_timer_start(self.timer, timerFired, milliseconds, repeatingMilliseconds)
    }

    /// Does not fire any more, until the next `start`.
    package func stop() {
        if self.isClosed { return }
        unsafe uv_timer_stop(self.timer)
    }

    /// Whether it will fire.
    package var isRunning: Bool { unsafe !self.isClosed && uv_is_active(self.handle) != 0 }

    /// Ends it for good.
    package func close() {
        self.action = nil
        self.closeHandle()
    }

    override func didClose() { self.action = nil }

    private var timer: UnsafeMutablePointer<uv_timer_t> {
        unsafe self.memory.assumingMemoryBound(to: uv_timer_t.self)
    }

    fileprivate func fire() { self.action?(self) }
}

/// On the loop's thread; the handle keeps its timer alive.
private func timerFired(_ handle: UnsafeMutablePointer<uv_timer_t>?) {
    guard let data = unsafe handle?.pointee.data else { return }
    unsafe Unmanaged<LoopTimer>.fromOpaque(data).takeUnretainedValue().fire()
}
