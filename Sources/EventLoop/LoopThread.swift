// SPDX-License-Identifier: Apache-2.0
internal import CUV
internal import Concurrency
internal import Glibc

/// A thread that runs one event loop.
package final class LoopThread: Sendable {
    private let control: Mailbox<Control>
    private let thread: Locked<pthread_t?>

    fileprivate init(control: Mailbox<Control>, thread: pthread_t) {
        self.control = control
        self.thread = Locked(thread)
    }

    /// Makes the loop end after its current turn; all that lives on it is closed.
    ///
    /// From any thread; does not wait.
    package func stop() {
        // A loop that already ended has closed the mailbox, and a full one holds a stop.
        try? self.control.post(.stop)
    }

    /// Waits until the thread has ended.
    ///
    /// The second call, or one on the thread itself, returns at once.
    package func join() {
        let thread = self.thread.withLock { thread in
            if thread == pthread_self() { return pthread_t?.none }
            defer { thread = nil }
            return thread
        }
        if let thread { pthread_join(thread, nil) }
    }

    fileprivate enum Control: Sendable { case stop }
}

extension EventLoop {
    /// Starts a thread with a loop of its own, and has `setup` populate it, on that thread.
    ///
    /// Returns before `setup` ran. The loop runs until it is stopped, by `LoopThread.stop()` or from within.
    /// - Parameters:
    ///   - name: Shown by tools for the thread; the first 15 bytes count.
    ///   - setup: Makes what lives on the loop.
    /// - Returns: The thread.
    /// - Throws: `LoopError.outOfResources` when there is no descriptor or thread left.
    package static func start(
        name: String, _ setup: @Sendable @escaping (EventLoop) -> Void
    ) throws(LoopError) -> LoopThread {
        let loop = try EventLoop()
        let control = Mailbox<LoopThread.Control>(capacity: 1)
        try control.attach(to: loop) { [unowned loop] _ in loop.stop() }
        let start = unsafe Unmanaged.passRetained(ThreadStart(name: name, loop: loop, setup: setup))
        var thread = pthread_t()
        let status = unsafe pthread_create(&thread, nil, runLoop, start.toOpaque())
        if status != 0 {
            unsafe start.release()
            control.close()
            loop.run()
            throw LoopError(status: -status)
        }
        return LoopThread(control: control, thread: thread)
    }

    /// Starts a thread with a loop of its own, waits until `setup` ran on it, and gives back what it made.
    ///
    /// What `setup` returns is how a listener's real port, or a mailbox, gets out.
    /// - Throws: What `setup` throws, after the thread has ended, or what `start(name:_:)` throws.
    package static func start<Value: Sendable>(
        name: String, returning setup: @Sendable @escaping (EventLoop) throws(LoopError) -> Value
    ) throws(LoopError) -> (LoopThread, Value) {
        let outcome = Outcome<Value>()
        let thread = try EventLoop.start(name: name) { loop in
            do throws(LoopError) {
                outcome.set(.success(try setup(loop)))
            } catch {
                outcome.set(.failure(error))
                loop.stop()
            }
        }
        do throws(LoopError) {
            return (thread, try outcome.wait().get())
        } catch {
            thread.join()
            throw error
        }
    }
}

/// What a new thread needs; handed over whole, and touched by nobody else afterwards.
private final class ThreadStart {
    let name: String
    let loop: EventLoop
    let setup: @Sendable (EventLoop) -> Void

    init(name: String, loop: EventLoop, setup: @Sendable @escaping (EventLoop) -> Void) {
        self.name = name
        self.loop = loop
        self.setup = setup
    }
}

/// The whole life of a loop's thread; takes the reference that `start` made for it.
private func runLoop(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    let start = unsafe Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue()
    let name = String(decoding: start.name.utf8.prefix(15), as: UTF8.self)
    unsafe plaza_name_thread(name)
    start.setup(start.loop)
    start.loop.run()
    return nil
}

/// One value on its way from a new thread to the one that waits for it.
@safe private final class Outcome<Value: Sendable>: @unchecked Sendable {
    // Sendable because the semaphore is made for several threads, and the value is behind a lock.
    private let done: UnsafeMutablePointer<sem_t>
    private let value = Locked<Result<Value, LoopError>?>(nil)

    init() {
        unsafe self.done = .allocate(capacity: 1)
        unsafe sem_init(self.done, 0, 0)
    }

    deinit {
        unsafe sem_destroy(self.done)
        unsafe self.done.deallocate()
    }

    func set(_ result: Result<Value, LoopError>) {
        self.value.withLock { value in value = result }
        unsafe sem_post(self.done)
    }

    func wait() -> Result<Value, LoopError> {
        while unsafe sem_wait(self.done) != 0 {}
        return self.value.withLock { value in value } ?? .failure(.loopEnding)
    }
}
