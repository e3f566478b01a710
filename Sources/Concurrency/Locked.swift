// SPDX-License-Identifier: Apache-2.0
internal import CTsan
internal import Synchronization

/// A value behind a lock that Thread Sanitizer understands.
///
/// `Mutex` on Linux takes its contended path inside the runtime, which is not instrumented, so the ordering is told to
/// the sanitizer by hand. Keep what happens under the lock short: no callback, no log, no C call.
package final class Locked<Value: ~Copyable>: Sendable {
    private let mutex: Mutex<Value>

    /// Takes ownership of `value`.
    package init(_ value: consuming sending Value) { self.mutex = Mutex(value) }

    /// Runs `body` with exclusive access to the value.
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
