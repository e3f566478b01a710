// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import MachineKit

/// The only clock for timeouts and measurements: it never goes back, and it is not the time of day.
///
/// Machines (the pure state machines that decide about calls) never use this clock, because their decisions depend on
/// the broker's timestamps only.
package enum MonotonicClock {
    /// The current time, for deadlines, rates and pauses.
    package static var now: MonotonicTime { MonotonicTime(milliseconds: Self.microseconds / 1000) }

    /// Microseconds since a fixed but unspecified point in time.
    fileprivate static var microseconds: Int64 { Self.read(CLOCK_MONOTONIC) }

    /// The processor time that the calling thread has used, in microseconds.
    ///
    /// Unlike elapsed time, it does not depend on the machine's other load.
    package static var threadCPUMicroseconds: Int64 { Self.read(CLOCK_THREAD_CPUTIME_ID) }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        let code = unsafe clock_gettime(clock, &time)
        precondition(code == 0, "the system has no clock \(clock)")
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}

/// Measures how long something takes.
package struct Stopwatch: Sendable {
    private let startMicroseconds: Int64

    /// Starts a stopwatch.
    ///
    /// - Parameter elapsed: how long ago it counts as started.
    package init(elapsed: Milliseconds = Milliseconds(0)) {
        self.startMicroseconds = MonotonicClock.microseconds - elapsed.count * 1000
    }

    /// The time since the start, in microseconds.
    package var microseconds: Int64 { MonotonicClock.microseconds - self.startMicroseconds }
}
