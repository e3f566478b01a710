// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
package import MachineKit

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The clock and the timers of a client; tests use a clock that they control.
package protocol PlazaClock: Sendable {
    /// The time of a monotonic clock, for pauses and timeouts.
    var now: MonotonicTime { get }
    /// The device's date; the user may change it at any time.
    var wall: WallTime { get }
    /// Calls `action` on the queue after `delay`, and not before, unless the timer is cancelled.
    func schedule(
        after delay: Milliseconds, on queue: EngineQueue, _ action: @escaping @Sendable () -> Void
    ) -> PlazaTimer
}

/// A scheduled action.
package struct PlazaTimer: Sendable {
    /// Cancels the action; has no effect once it has run.
    package let cancel: @Sendable () -> Void

    /// A timer that this closure cancels.
    package init(_ cancel: @escaping @Sendable () -> Void) { self.cancel = cancel }
}

/// The clock and the timers of the system.
struct DeviceClock: PlazaClock {
    /// The moment from which `now` counts.
    private static let origin = ContinuousClock.now

    /// The longest delay: a day.
    ///
    /// The nanoseconds of an unlimited delay would overflow.
    private static let maxDelay = Milliseconds.seconds(86_400)

    /// The fraction of a millisecond is cut off, so a timer whose delay was computed with `now` never fires too early.
    var now: MonotonicTime { MonotonicTime(milliseconds: Milliseconds(ContinuousClock.now - Self.origin).count) }
    var wall: WallTime { WallTime(fractionalMilliseconds: Date().timeIntervalSince1970 * 1000) }

    func schedule(
        after delay: Milliseconds, on queue: EngineQueue, _ action: @escaping @Sendable () -> Void
    ) -> PlazaTimer {
        // Dispatch retains the closure until the deadline, even if the timer is cancelled. Therefore a cancellation
        // releases the action, and with it the objects that the action captures.
        let pendingAction = Locked<(@Sendable () -> Void)?>(action)
        let milliseconds = Int(min(max(delay, Milliseconds(0)), Self.maxDelay).count)
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) {
            queue.async {
                let action = pendingAction.withLock { $0 }
                action?()
            }
        }
        return PlazaTimer { pendingAction.withLock { $0 = nil } }
    }
}

extension TimePoint {
    /// Makes a time from milliseconds since the clock's zero, of which the fraction is dropped; any number is allowed.
    package init(fractionalMilliseconds: Double) {
        // Up to about 9e15 (2^53), a Double holds every whole number exactly, and the result fits into Int64.
        let bounded = min(max(fractionalMilliseconds, -9e15), 9e15)
        self.init(milliseconds: bounded.isNaN ? 0 : Int64(bounded))
    }
}
