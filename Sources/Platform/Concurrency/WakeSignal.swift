// SPDX-License-Identifier: Apache-2.0

/// Wakes one waiting thread.
///
/// A wake-up without a waiting thread makes the next wait return at once.
package final class WakeSignal: Sendable {
    private let isWoken = ConditionVariable(false)

    /// A signal without a pending wake-up.
    package init() {}

    /// Makes the current wait return.
    ///
    /// If no thread waits, the next wait returns at once instead. Any thread may call it.
    package func wakeUp() { self.isWoken.update { $0 = true } }

    /// Blocks until `wakeUp` is called, and consumes the wake-up.
    ///
    /// - Parameter timeout: how long to wait; nil to wait without limit.
    /// - Returns: false when `wakeUp` was not called within `timeout`.
    @discardableResult
    package func wait(timeout: Duration? = nil) -> Bool {
        self.isWoken.wait(timeout: timeout) { isWoken in
            defer { isWoken = false }
            return isWoken ? true : nil
        } ?? false
    }
}
