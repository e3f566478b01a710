// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Dispatch
internal import Glibc

/// A thread of its own for code that blocks in C libraries; never one of Swift concurrency's.
package final class ShellThread: Sendable {
    private let finished = DispatchSemaphore(value: 0)

    /// Starts `body` on a new thread.
    package init(_ body: @escaping @Sendable () -> Void) {
        let finished = self.finished
        let start = Start {
            body()
            finished.signal()
        }
        var thread = pthread_t()
        let code = unsafe pthread_create(&thread, nil, runShellThread, Unmanaged.passRetained(start).toOpaque())
        precondition(code == 0, "no thread could be made: error \(code)")
        pthread_detach(thread)
    }

    /// Waits for the thread's end.
    ///
    /// - Returns: false if it did not end within `seconds`.
    package func join(seconds: Double) -> Bool {
        guard self.finished.wait(timeout: .now() + seconds) == .success else { return false }
        self.finished.signal()
        return true
    }

    fileprivate final class Start: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}

/// Runs on the new thread; takes back the one reference that `pthread_create` was given.
private func runShellThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    let start = unsafe Unmanaged<ShellThread.Start>.fromOpaque(argument).takeRetainedValue()
    start.body()
    return nil
}
