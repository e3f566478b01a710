// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Glibc

/// A thread made for calls that block, so that they never hold one of Swift's own.
///
/// `@unchecked Sendable`: the thread's id is set before the value is shared; `joined` is behind a lock.
@safe final class EventThread: @unchecked Sendable {
    private let thread: pthread_t
    private let joined = Locked(false)

    /// Starts the thread; the body is released when it ends.
    init(_ body: @escaping @Sendable () -> Void) throws(KafkaError) {
        let start = Start(body)
        let context = unsafe Unmanaged.passRetained(start)
        var thread = pthread_t()
        let code = unsafe pthread_create(&thread, nil, runThread, context.toOpaque())
        guard code == 0 else {
            unsafe context.release()
            throw KafkaError(.other, "A thread could not be made: error \(code).")
        }
        self.thread = thread
    }

    /// Waits for the end of the body; from the thread itself it only lets go of it.
    func join() {
        let isFirst = self.joined.withLock { joined in
            defer { joined = true }
            return !joined
        }
        guard isFirst else { return }
        if pthread_equal(self.thread, pthread_self()) != 0 {
            pthread_detach(self.thread)
        } else {
            pthread_join(self.thread, nil)
        }
    }

    fileprivate final class Start: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}

/// Runs on the new thread and takes over the reference that `EventThread` made for it.
private func runThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    let start = unsafe Unmanaged<EventThread.Start>.fromOpaque(context).takeRetainedValue()
    start.body()
    return nil
}
