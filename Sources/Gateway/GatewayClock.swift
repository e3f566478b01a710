// SPDX-License-Identifier: Apache-2.0
internal import CoreKit
internal import Glibc

/// Milliseconds of a clock that never goes back: for deadlines on threads without a loop.
enum GatewayClock {
    /// The time now.
    static var now: Timestamp { Timestamp(milliseconds: Self.microseconds / 1000) }

    /// The time now, in microseconds.
    static var microseconds: Int64 {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_MONOTONIC, &time) == 0 else { return 0 }
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    /// Processor time of the calling thread in microseconds: what work costs, however busy the machine is beside it.
    static var threadMicroseconds: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}
