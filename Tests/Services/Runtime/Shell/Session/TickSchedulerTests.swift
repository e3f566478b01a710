// SPDX-License-Identifier: Apache-2.0
import MachineKit
import ServiceShell
import Testing

/// Tests of when ticks are written: empty records that advance the time of a machine, so that it handles due rows.
///
/// There are two clocks. A `Timestamp` is a time of the broker's clock, such as the due time of a row. A
/// `MonotonicTime` is a time of the local clock. `brokerTimeObserved` gives the scheduler a broker time and the local
/// time at which the broker's clock showed it. `nextTick` returns the local time of the next tick; nil for none.
@Suite struct TickSchedulerTests {
    @Test func `without a due row no tick is scheduled`() {
        var scheduler = TickScheduler()
        scheduler.brokerTimeObserved(Timestamp(milliseconds: 1_000), at: MonotonicTime(milliseconds: 50))
        #expect(scheduler.nextTick(due: nil) == nil)
    }

    @Test func `a tick is scheduled 1 ms after the next due time`() {
        var scheduler = TickScheduler()
        scheduler.tickWritten(at: MonotonicTime(milliseconds: 0))
        scheduler.brokerTimeObserved(Timestamp(milliseconds: 1_000), at: MonotonicTime(milliseconds: 50))
        // The broker's clock shows 1000 ms at the local 50 ms, so it shows 1300 ms at the local 350 ms.
        #expect(scheduler.nextTick(due: Timestamp(milliseconds: 1_300)) == MonotonicTime(milliseconds: 351))
    }

    @Test func `until a distant due time a tick is scheduled every second`() {
        var scheduler = TickScheduler()
        scheduler.brokerTimeObserved(Timestamp(milliseconds: 1_000), at: MonotonicTime(milliseconds: 50))
        scheduler.tickWritten(at: MonotonicTime(milliseconds: 60))
        // The row is due about 89 s later.
        #expect(scheduler.nextTick(due: Timestamp(milliseconds: 90_000)) == MonotonicTime(milliseconds: 1_060))
    }

    @Test func `ticks for an overdue row are at least 20 ms apart`() {
        // The row was due at 10 ms of the broker's clock, which shows more than 1000 ms.
        var scheduler = TickScheduler()
        scheduler.tickWritten(at: MonotonicTime(milliseconds: 60))
        scheduler.brokerTimeObserved(Timestamp(milliseconds: 1_000), at: MonotonicTime(milliseconds: 65))
        // The last tick was written at 60 ms, and 60 + 20 = 80.
        #expect(scheduler.nextTick(due: Timestamp(milliseconds: 10)) == MonotonicTime(milliseconds: 80))
    }

    @Test func `ticks for an overdue row are a second apart until a tick has been read back`() {
        var scheduler = TickScheduler()
        scheduler.brokerTimeObserved(Timestamp(milliseconds: 1_000), at: MonotonicTime(milliseconds: 50))
        scheduler.tickWritten(at: MonotonicTime(milliseconds: 60))
        #expect(scheduler.nextTick(due: Timestamp(milliseconds: 10)) == MonotonicTime(milliseconds: 1_060))
        scheduler.tickWritten(at: MonotonicTime(milliseconds: 1_060))
        #expect(scheduler.nextTick(due: Timestamp(milliseconds: 10)) == MonotonicTime(milliseconds: 2_060))
        // At the local 1100 ms a tick is read back. The last tick was written at 1060 ms, more than 20 ms ago, and the
        // row is overdue, so the next tick follows 1 ms later.
        scheduler.brokerTimeObserved(Timestamp(milliseconds: 3_000), at: MonotonicTime(milliseconds: 1_100))
        #expect(scheduler.nextTick(due: Timestamp(milliseconds: 10)) == MonotonicTime(milliseconds: 1_101))
    }
}
