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
    /// The time of a monotonic clock in milliseconds, for pauses and timeouts.
    var now: Double { get }
    /// The device's date; the user may change it at any time.
    var wall: WallTime { get }
    /// Calls `action` on the queue after `delay` milliseconds, unless the timer is cancelled before.
    func schedule(after delay: Double, on queue: EngineQueue, _ action: @escaping @Sendable () -> Void) -> PlazaTimer
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

    /// The longest delay: a day, in milliseconds.
    ///
    /// The nanoseconds of an unlimited delay would overflow.
    private static let maxDelay = 86_400_000.0
    private static let nanosecondsPerMillisecond = 1_000_000.0

    var now: Double { (ContinuousClock.now - Self.origin).inMilliseconds }
    var wall: WallTime { WallTime(fractionalMilliseconds: Date().timeIntervalSince1970 * 1000) }

    func schedule(after delay: Double, on queue: EngineQueue, _ action: @escaping @Sendable () -> Void) -> PlazaTimer {
        // Dispatch retains the closure until the deadline, also if the timer is cancelled. Therefore cancelling drops
        // the action, so that the action's objects are released.
        let pendingAction = Locked<(@Sendable () -> Void)?>(action)
        let nanoseconds = Int(min(max(delay, 0), Self.maxDelay) * Self.nanosecondsPerMillisecond)
        DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) {
            queue.async {
                let action = pendingAction.withLock { $0 }
                action?()
            }
        }
        return PlazaTimer { pendingAction.withLock { $0 = nil } }
    }
}

extension WallTime {
    /// Makes a time from milliseconds since 1970, of which the fraction is dropped; any number is allowed.
    package init(fractionalMilliseconds: Double) {
        // Numbers up to 9e15 have whole milliseconds; NaN becomes 0.
        let bounded = min(max(fractionalMilliseconds, -9e15), 9e15)
        self.init(milliseconds: bounded.isNaN ? 0 : Int64(bounded))
    }
}
