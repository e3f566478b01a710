// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

/// A value that a lock protects.
///
/// `Sendable` is unchecked because the compiler does not know about the lock. It is safe because `value` is used only
/// in `withValue`, which holds the lock.
final class LockedValue<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withValue<Result>(_ body: (inout Value) -> Result) -> Result { self.lock.withLock { body(&self.value) } }
}

/// An action that is passed to the thread of a scheduler.
///
/// Combine's `Scheduler` accepts closures that are not `Sendable`, but queues require `Sendable` ones. Therefore
/// `Sendable` is unchecked here: as in Combine, the caller must pass an action that may run where the scheduler runs
/// it.
struct ScheduledAction: @unchecked Sendable {
    let run: () -> Void
}
#endif
