// SPDX-License-Identifier: Apache-2.0
internal import CThread
internal import Synchronization

/// A value behind a lock that Thread Sanitizer understands.
///
/// On Linux a thread waits for a `Mutex` inside the Swift runtime, where the sanitizer sees nothing. Therefore this
/// type itself tells the sanitizer that each access happens after the previous one.
package final class Locked<Value: ~Copyable>: Sendable {
    private let mutex: Mutex<Value>

    /// Takes ownership of `value`.
    package init(_ value: consuming sending Value) { self.mutex = Mutex(value) }

    /// Runs `body` with exclusive access to the value.
    ///
    /// Keep `body` short, because other threads wait for it: it must not call the log, nor code that may block or may
    /// use this lock.
    ///
    /// - Throws: the error of `body`.
    package func withLock<R: ~Copyable, E: Error>(
        _ body: (inout sending Value) throws(E) -> sending R
    ) throws(E) -> sending R {
        try self.mutex.withLock { value throws(E) in
            unsafe plaza_tsan_acquire(Unmanaged.passUnretained(self).toOpaque())
            defer { unsafe plaza_tsan_release(Unmanaged.passUnretained(self).toOpaque()) }
            return try body(&value)
        }
    }
}
