// SPDX-License-Identifier: Apache-2.0
package import MachineKit
internal import Synchronization

/// Tells a health check on another thread when a thread began its current piece of work.
///
/// It is for a thread that may wait without a limit between two pieces of work. A loop that makes a turn every few
/// seconds at least uses `TurnClock` instead.
package final class BusyClock: Sendable {
    /// When the work began, in milliseconds of the monotonic clock; `idle` between two pieces of work.
    private let beganMilliseconds = Atomic<Int64>(BusyClock.idle)

    private static let idle = Int64.min

    /// Creates the clock of an idle thread.
    package init() {}

    /// When the current piece of work began; nil if there is none.
    package var busySince: MonotonicTime? {
        let milliseconds = self.beganMilliseconds.load(ordering: .relaxed)
        return milliseconds == Self.idle ? nil : MonotonicTime(milliseconds: milliseconds)
    }

    /// Does a piece of work on the calling thread, which counts as busy meanwhile.
    package func whileBusy<Result>(_ work: () -> Result) -> Result {
        self.beganMilliseconds.store(MonotonicClock.now.milliseconds, ordering: .relaxed)
        defer { self.beganMilliseconds.store(Self.idle, ordering: .relaxed) }
        return work()
    }
}
