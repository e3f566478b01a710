// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A value that threads can change and wait for; each change wakes all waiting threads.
///
/// A wait blocks the thread, so only dedicated threads may wait.
@safe package final class ConditionVariable<Value: Sendable>: @unchecked Sendable {
    // `@unchecked Sendable`: `value` is read and changed only while `mutex` is held.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value

    /// Starts with `value`.
    package init(_ value: Value) {
        self.value = value
        unsafe self.mutex = .allocate(capacity: 1)
        unsafe self.changed = .allocate(capacity: 1)
        unsafe pthread_mutex_init(self.mutex, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(self.changed, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(self.changed)
        unsafe pthread_mutex_destroy(self.mutex)
        unsafe self.changed.deallocate()
        unsafe self.mutex.deallocate()
    }

    /// A copy of the value.
    package var current: Value {
        unsafe pthread_mutex_lock(self.mutex)
        defer { unsafe pthread_mutex_unlock(self.mutex) }
        return self.value
    }

    /// Changes the value and wakes all waiting threads.
    ///
    /// Keep `body` short: all other threads that use the value wait meanwhile.
    @discardableResult
    package func update<R>(_ body: (inout Value) -> R) -> R {
        unsafe pthread_mutex_lock(self.mutex)
        defer {
            unsafe pthread_cond_broadcast(self.changed)
            unsafe pthread_mutex_unlock(self.mutex)
        }
        return body(&self.value)
    }

    /// Blocks until `condition` returns a result.
    ///
    /// - Parameters:
    ///   - timeout: how long to wait; nil to wait without limit.
    ///   - condition: called with the value at once and after each change. It may also change the value, for example
    ///     remove the result from it.
    /// - Returns: the result of `condition`; nil when `condition` returned nil until the timeout.
    package func wait<R>(timeout: Duration? = nil, for condition: (inout Value) -> R?) -> R? {
        let deadline = timeout.map(Self.deadline(after:))
        unsafe pthread_mutex_lock(self.mutex)
        defer { unsafe pthread_mutex_unlock(self.mutex) }
        var isInTime = true
        while true {
            if let result = condition(&self.value) { return result }
            if !isInTime { return nil }
            if var deadline {
                isInTime = unsafe pthread_cond_timedwait(self.changed, self.mutex, &deadline) != ETIMEDOUT
            } else {
                unsafe pthread_cond_wait(self.changed, self.mutex)
            }
        }
    }

    /// The time on the monotonic clock at which `timeout` is over.
    private static func deadline(after timeout: Duration) -> timespec {
        // A timeout of more than a year is shortened to a year, so that the sum cannot overflow.
        let (seconds, attoseconds) = min(max(timeout, .zero), .seconds(365 * 86_400)).components
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        // A nanosecond is 10^9 attoseconds, and a second is 10^9 nanoseconds.
        let nanoseconds = time.tv_nsec + Int(attoseconds / 1_000_000_000)
        return timespec(
            tv_sec: time.tv_sec + Int(seconds) + nanoseconds / 1_000_000_000,
            tv_nsec: nanoseconds % 1_000_000_000)
    }
}
