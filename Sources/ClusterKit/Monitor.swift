// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
package import Foundation

/// A value that threads change and wait on: every change wakes all who wait.
///
/// The threads of this target block in system calls, so they meet here and not in Swift's cooperative pool.
package final class Monitor<Value: Sendable>: Sendable {
    private let value: Locked<Value>
    private let condition = NSCondition()

    /// Starts with `value`.
    package init(_ value: Value) { self.value = Locked(value) }

    /// What the value is now.
    package var current: Value { self.value.withLock { $0 } }

    /// Changes the value and wakes every waiter.
    ///
    /// Keep `body` short: all other threads stand still meanwhile.
    @discardableResult
    package func update<R: Sendable>(_ body: (inout Value) -> R) -> R {
        self.condition.lock()
        defer {
            self.condition.broadcast()
            self.condition.unlock()
        }
        return self.value.withLock { body(&$0) }
    }

    /// Blocks until `answer` gives something, or the deadline has passed (then nil).
    package func wait<R: Sendable>(until deadline: Date, for answer: (Value) -> R?) -> R? {
        self.condition.lock()
        defer { self.condition.unlock() }
        while true {
            if let found = self.value.withLock({ answer($0) }) { return found }
            // Foundation traps on a date that is too far for the kernel, so a long wait is done in days.
            let step = min(deadline, Date(timeIntervalSinceNow: 86_400))
            if !self.condition.wait(until: step), step == deadline { return self.value.withLock { answer($0) } }
        }
    }
}

/// Runs `body` on a thread made for it, so that its blocking calls hold up no task.
package func onOwnThread<R: Sendable>(_ name: String, _ body: @escaping @Sendable () -> R) async -> R {
    await withCheckedContinuation { continuation in
        let thread = Thread { continuation.resume(returning: body()) }
        thread.name = name
        thread.start()
    }
}
