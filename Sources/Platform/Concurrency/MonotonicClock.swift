// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import MachineKit

/// The only clock for timeouts and measurements: it never goes back, and it is not the time of day.
///
/// Machines (the pure state machines that decide about calls) never use this clock, because their decisions depend on
/// the broker's timestamps only.
package enum MonotonicClock {
    /// The current time, for deadlines and pauses.
    package static var now: MonotonicTime { MonotonicTime(milliseconds: Self.milliseconds) }

    /// Milliseconds since a fixed but unspecified point in time.
    package static var milliseconds: Int64 { Self.microseconds / 1000 }

    /// Microseconds since the same point in time.
    package static var microseconds: Int64 { Self.read(CLOCK_MONOTONIC) }

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
