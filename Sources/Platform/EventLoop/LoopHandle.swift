// SPDX-License-Identifier: Apache-2.0
internal import CUV

/// The base class of all objects on a loop: it owns a libuv handle, which is closed exactly once.
///
/// From `retainByHandle()` until libuv has closed the handle, the handle retains this object. Therefore the object
/// lives until it is closed, or until its loop ends and closes it. It may only be used on the loop's thread.
@safe package class LoopHandle {
    /// Whether the handle is closed or being closed; also true before `retainByHandle()`.
    package private(set) final var isClosed = true
    /// The loop to which the handle belongs.
    package final let loop: EventLoop
    /// The memory of the libuv handle.
    final let memory: UnsafeMutableRawPointer

    /// Allocates the memory of a libuv handle of `size` bytes.
    ///
    /// The subclass initializes the handle, then calls `retainByHandle()`.
    init(loop: EventLoop, size: Int) throws(LoopError) {
        if loop.isEnding { throw .loopEnding }
        self.loop = loop
        // An alignment of 16 bytes suits every structure of libuv.
        unsafe self.memory = .allocate(byteCount: size, alignment: 16)
    }

    deinit { unsafe self.memory.deallocate() }

    final var handle: UnsafeMutablePointer<uv_handle_t> {
        unsafe self.memory.assumingMemoryBound(to: uv_handle_t.self)
    }

    /// Makes the initialized libuv handle retain this object.
    final func retainByHandle() {
        unsafe self.handle.pointee.data = Unmanaged.passRetained(self).toOpaque()
        self.isClosed = false
    }

    /// Begins to close the libuv handle; `didClose()` is called at the end of a loop turn.
    ///
    /// Only the first call does anything.
    final func closeHandle() {
        if self.isClosed { return }
        self.isClosed = true
        unsafe uv_close(self.handle, handleClosed)
    }

    /// Called when libuv has closed the handle.
    ///
    /// Subclasses may override it. The object may be freed right after the call.
    func didClose() {}

    /// Closes this handle because the loop ends.
    ///
    /// A subclass overrides it to tell its user, such as a stream's delegate, that the loop ends.
    func loopWillEnd() { self.closeHandle() }

    /// Closes the object that owns a libuv handle, or the handle itself if it has no owner; called when the loop ends.
    ///
    /// Handles whose `data` field is nil were not created by this class, and have no owner.
    static func closeOwner(of handle: UnsafeMutablePointer<uv_handle_t>) {
        guard let data = unsafe handle.pointee.data else {
            unsafe uv_close(handle, nil)
            return
        }
        unsafe Unmanaged<LoopHandle>.fromOpaque(data).takeUnretainedValue().loopWillEnd()
    }
}

/// Called on the loop's thread, once per handle: releases the reference that `retainByHandle()` retained.
private func handleClosed(_ handle: UnsafeMutablePointer<uv_handle_t>?) {
    guard let data = unsafe handle?.pointee.data else { return }
    let owner = unsafe Unmanaged<LoopHandle>.fromOpaque(data).takeRetainedValue()
    owner.didClose()
}
