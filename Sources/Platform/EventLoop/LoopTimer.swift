// SPDX-License-Identifier: Apache-2.0
internal import CUV
internal import MachineKit

/// A timer on an event loop, one-shot or repeating.
///
/// The timer lives until `close()` or the end of its loop.
package final class LoopTimer: LoopHandle {
    private var action: ((LoopTimer) -> Void)?

    /// Creates a stopped timer that calls `action` with the timer, on the loop's thread, each time the timer fires.
    ///
    /// - Throws: `LoopError.loopEnding` when the loop is ending.
    package init(loop: EventLoop, _ action: @escaping (LoopTimer) -> Void) throws(LoopError) {
        self.action = action
        try unsafe super.init(loop: loop, size: MemoryLayout<uv_timer_t>.size)
        try LoopError.check(unsafe uv_timer_init(loop.raw, self.timer))
        self.retainByHandle()
    }

    /// Starts or restarts the timer: it fires after `delay`, and then after each `interval`.
    ///
    /// A timer whose `interval` is zero fires only once. Fractions of a millisecond are cut off.
    package func start(after delay: Duration, repeating interval: Duration = .zero) {
        if self.isClosed { return }
        unsafe uv_timer_start(
            self.timer, timerFired, UInt64(max(0, Milliseconds(delay).count)),
            UInt64(max(0, Milliseconds(interval).count)))
    }

    /// Stops the timer and frees its handle; it cannot be started again.
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

/// Called on the loop's thread; the handle retains its timer.
private func timerFired(_ handle: UnsafeMutablePointer<uv_timer_t>?) {
    guard let data = unsafe handle?.pointee.data else { return }
    unsafe Unmanaged<LoopTimer>.fromOpaque(data).takeUnretainedValue().fire()
}
