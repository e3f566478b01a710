// SPDX-License-Identifier: Apache-2.0
internal import CUV

/// What all things living on a loop have in common: memory of libuv's, and a close that happens once.
///
/// From its start until libuv has let go of it, the handle keeps its owner object alive. So an owner lives until it is
/// closed, or until its loop ends (which closes all that is left), whoever else forgets it. Touch it on the loop's thread
/// only.
@safe package class LoopHandle {
    /// Whether it is closed, or about to be.
    package private(set) final var isClosed = true
    /// The loop it lives on.
    package final let loop: EventLoop
    final let memory: UnsafeMutableRawPointer

    /// Takes memory for a C handle of `size` bytes.
    ///
    /// The subclass initializes it, then calls `started()`.
    init(loop: EventLoop, size: Int) throws(LoopError) {
        if loop.isEnding { throw .loopEnding }
        self.loop = loop
        unsafe self.memory = .allocate(byteCount: size, alignment: 16)
    }

    deinit { unsafe self.memory.deallocate() }

    final var handle: UnsafeMutablePointer<uv_handle_t> {
        unsafe self.memory.assumingMemoryBound(to: uv_handle_t.self)
    }

    /// Ties this object to its C handle, which libuv has accepted.
    final func started() {
        unsafe self.handle.pointee.data = Unmanaged.passRetained(self).toOpaque()
        self.isClosed = false
    }

    /// Begins to close the C handle; `didClose()` follows at the end of a loop turn.
    ///
    /// Only the first call does anything.
    final func closeHandle() {
        if self.isClosed { return }
        self.isClosed = true
        unsafe uv_close(self.handle, handleClosed)
    }

    /// The C handle is gone.
    ///
    /// For subclasses; the object may be freed right after.
    func didClose() {}

    /// The loop ends and takes this handle with it.
    ///
    /// For subclasses that tell their owner.
    func loopEnds() { self.closeHandle() }

    /// Closes what has `handle`, for a loop that ends.
    ///
    /// Only handles made by this class have data.
    static func endOwner(of handle: UnsafeMutablePointer<uv_handle_t>) {
        guard let data = unsafe handle.pointee.data else {
            unsafe uv_close(handle, nil)
            return
        }
        unsafe Unmanaged<LoopHandle>.fromOpaque(data).takeUnretainedValue().loopEnds()
    }
}

/// On the loop's thread, once per handle: gives back the reference taken by `started()`.
private func handleClosed(_ handle: UnsafeMutablePointer<uv_handle_t>?) {
    guard let data = unsafe handle?.pointee.data else { return }
    let owner = unsafe Unmanaged<LoopHandle>.fromOpaque(data).takeRetainedValue()
    owner.didClose()
}
