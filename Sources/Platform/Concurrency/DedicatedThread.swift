// SPDX-License-Identifier: Apache-2.0
internal import CThread
internal import Glibc

/// A thread for code that blocks in system calls or C libraries, so that it never blocks a thread of Swift
/// concurrency.
package final class DedicatedThread: Sendable {
    private let id: pthread_t
    private let hasEnded: ConditionVariable<Bool>

    private init(_ started: (id: pthread_t, hasEnded: ConditionVariable<Bool>)) {
        self.id = started.id
        self.hasEnded = started.hasEnded
    }

    /// Starts `body` on a new thread; traps when the system has no thread left.
    ///
    /// - Parameters:
    ///   - name: shown by `ps -T` and debuggers; the kernel keeps only the first 15 bytes.
    ///   - stackBytes: the size of the thread's stack; nil for the system's default.
    ///   - body: released when it has returned, before `join` returns.
    package convenience init(_ name: String, stackBytes: Int? = nil, _ body: @escaping @Sendable () -> Void) {
        do throws(ThreadCreationError) {
            self.init(try Self.create(name, stackBytes: stackBytes, body))
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// Starts `body` on a new thread, for callers that can continue without a thread.
    ///
    /// - Parameters:
    ///   - name: shown by `ps -T` and debuggers; only the first 15 bytes are used.
    ///   - body: released when it has returned, before `join` returns.
    /// - Returns: the thread.
    /// - Throws: `ThreadCreationError` when the system has no thread left.
    package static func start(
        _ name: String, _ body: @escaping @Sendable () -> Void
    ) throws(ThreadCreationError) -> DedicatedThread {
        DedicatedThread(try Self.create(name, stackBytes: nil, body))
    }

    /// Waits until the body has returned.
    ///
    /// Returns at once when it is called on this thread itself. Several threads may wait.
    package func join() { _ = self.waitForEnd(timeout: nil) }

    /// Waits until the body has returned, but no longer than `timeout`.
    ///
    /// - Returns: whether the body has returned.
    package func join(timeout: Duration) -> Bool { self.waitForEnd(timeout: timeout) }

    /// Blocks the calling thread, which must be a dedicated thread, for `duration`.
    package static func sleep(for duration: Duration) {
        // The condition is never fulfilled, so the wait ends at the timeout.
        _ = ConditionVariable(()).wait(timeout: duration) { _ in Never?.none }
    }

    /// Waits until the body has returned, if `timeout` is nil without limit.
    ///
    /// - Returns: whether the body has returned.
    private func waitForEnd(timeout: Duration?) -> Bool {
        if pthread_equal(self.id, pthread_self()) != 0 { return self.hasEnded.current }
        return self.hasEnded.wait(timeout: timeout) { $0 ? true : nil } ?? false
    }

    private static func create(
        _ name: String, stackBytes: Int?, _ body: @escaping @Sendable () -> Void
    ) throws(ThreadCreationError) -> (id: pthread_t, hasEnded: ConditionVariable<Bool>) {
        let start = ThreadStart(name: name, body: body)
        let hasEnded = start.hasEnded
        let argument = unsafe Unmanaged.passRetained(start)
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        // `join` waits for `hasEnded` and not for the system's thread, so that it can have a timeout and several
        // callers.
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        if let stackBytes { unsafe pthread_attr_setstacksize(&attributes, stackBytes) }
        var id = pthread_t()
        let code = unsafe pthread_create(&id, &attributes, runThread, argument.toOpaque())
        guard code == 0 else {
            unsafe argument.release()
            throw ThreadCreationError(errno: code)
        }
        return (id, hasEnded)
    }
}

/// The system could not create a thread.
package struct ThreadCreationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The system's error number.
    package let errno: Int32

    package var description: String { "no thread could be created: error \(self.errno)" }
}

/// The name and body that are passed to a new thread.
///
/// `@unchecked Sendable`: after the start, only the new thread uses this object.
private final class ThreadStart: @unchecked Sendable {
    let name: String
    let hasEnded = ConditionVariable(false)
    private var body: (@Sendable () -> Void)?

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }

    /// Runs the body and releases it.
    ///
    /// The body is released before `join` returns, so that this thread then retains no object that it has captured.
    func run() {
        self.body?()
        self.body = nil
        self.hasEnded.update { $0 = true }
    }
}

/// The main function of a dedicated thread; consumes the reference that `create` retained.
private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    let start = unsafe Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue()
    unsafe plaza_name_thread(String(decoding: start.name.utf8.prefix(15), as: UTF8.self))
    start.run()
    return nil
}
