// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The one clock for waiting and measuring: it never goes back, and says nothing about the time of day.
///
/// What machines decide goes by the broker's time, never by this.
package enum MonotonicClock {
    /// Milliseconds since some fixed moment.
    package static var milliseconds: Int64 { Self.microseconds / 1000 }

    /// Microseconds since the same moment.
    package static var microseconds: Int64 { Self.read(CLOCK_MONOTONIC) }

    /// Processor time of the calling thread in microseconds: what work costs, however busy the machine is beside it.
    package static var threadMicroseconds: Int64 { Self.read(CLOCK_THREAD_CPUTIME_ID) }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        let code = unsafe clock_gettime(clock, &time)
        precondition(code == 0, "the system has no clock \(clock)")
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}
