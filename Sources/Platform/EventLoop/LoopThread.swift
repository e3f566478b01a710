// SPDX-License-Identifier: Apache-2.0
internal import Concurrency

/// A thread that runs one event loop.
package final class LoopThread: Sendable {
    private let control: Mailbox<Control>
    private let thread: DedicatedThread

    fileprivate init(control: Mailbox<Control>, thread: DedicatedThread) {
        self.control = control
        self.thread = thread
    }

    /// Makes the loop end after its current turn, and close all its handles.
    ///
    /// Any thread may call it; it does not block.
    package func stop() {
        // A failure needs no handling: the loop has ended, or another stop is already pending.
        try? self.control.post(.stop)
    }

    /// Waits until the thread has ended; returns at once when it is called on that thread.
    package func join() { self.thread.join() }

    fileprivate enum Control: Sendable { case stop }
}

extension EventLoop {
    /// Starts a thread with a new loop, and calls `setup` on that thread.
    ///
    /// Returns before `setup` has run. The loop runs until `LoopThread.stop()`, or `EventLoop.stop()` on its thread,
    /// is called.
    /// - Parameters:
    ///   - name: Shown by `ps -T` and debuggers; only the first 15 bytes are used.
    ///   - setup: Creates the handles of the loop.
    /// - Returns: The thread.
    /// - Throws: `LoopError.outOfResources` when the system has no free descriptor or thread.
    package static func start(
        name: String, _ setup: @Sendable @escaping (EventLoop) -> Void
    ) throws(LoopError) -> LoopThread {
        let loop = try EventLoop()
        let control = Mailbox<LoopThread.Control>(capacity: 1)
        try control.attach(to: loop) { [unowned loop] _ in loop.stop() }
        let handover = LoopHandover(loop)
        do {
            let thread = try DedicatedThread.start(name) {
                setup(handover.loop)
                handover.loop.run()
            }
            return LoopThread(control: control, thread: thread)
        } catch {
            // Without a thread, only this call closes the loop's handles. It returns soon, because the closed mailbox
            // no longer keeps the loop alive.
            control.close()
            loop.run()
            throw LoopError(status: -error.errno)
        }
    }

    /// Starts a thread with a new loop, waits until `setup` has run on it, and returns its result.
    ///
    /// The result can be, for example, a listener's port or a mailbox.
    /// - Throws: The error of `setup`, after the thread has ended, or the error of `start(name:_:)`.
    package static func start<Value: Sendable>(
        name: String, returning setup: @Sendable @escaping (EventLoop) throws(LoopError) -> Value
    ) throws(LoopError) -> (LoopThread, Value) {
        let outcome = ConditionVariable<Result<Value, LoopError>?>(nil)
        let thread = try EventLoop.start(name: name) { loop in
            do throws(LoopError) {
                let value = try setup(loop)
                outcome.update { $0 = .success(value) }
            } catch {
                outcome.update { $0 = .failure(error) }
                loop.stop()
            }
        }
        do throws(LoopError) {
            // The default is never used, because a wait without a timeout ends only with a result.
            return (thread, try (outcome.wait { $0 } ?? .failure(.loopEnding)).get())
        } catch {
            thread.join()
            throw error
        }
    }
}

/// Passes a loop to the thread that runs it.
///
/// `@unchecked Sendable`: the thread that made the loop does not use it any more once the new thread has started.
private final class LoopHandover: @unchecked Sendable {
    let loop: EventLoop

    init(_ loop: EventLoop) { self.loop = loop }
}
