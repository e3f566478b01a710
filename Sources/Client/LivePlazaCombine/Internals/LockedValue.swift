// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

/// A value behind a lock.
///
/// It is unchecked because the compiler does not know the lock: `value` is touched only in `withValue`, which holds it.
final class LockedValue<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withValue<Result>(_ body: (inout Value) -> Result) -> Result { self.lock.withLock { body(&self.value) } }
}

/// An action on its way to the thread of a scheduler.
///
/// Combine's `Scheduler` takes closures that are not `Sendable`, and hands them to queues that want `Sendable` ones. It
/// is unchecked because of that interface: the action is called once, by the scheduler, and by nobody else.
struct ScheduledAction: @unchecked Sendable {
    let run: () -> Void
}
#endif
