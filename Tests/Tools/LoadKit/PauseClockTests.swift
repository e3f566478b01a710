// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import LoadKit

/// Tests of the longest time without a delivery while messages are sent; times are in microseconds.
struct PauseClockTests {
    @Test func `the longest time between two deliveries is the pause`() {
        var clock = PauseClock()
        clock.begin(at: 1000)
        for now in [1050, 1100, 1900, 1950] as [Int64] { clock.recordDelivery(at: now) }
        clock.end(at: 2000)
        #expect(clock.longestMicroseconds == 800)
    }

    @Test func `a feed that stops permanently pauses until the end`() {
        var clock = PauseClock()
        clock.begin(at: 0)
        clock.recordDelivery(at: 50)
        clock.end(at: 5050)
        #expect(clock.longestMicroseconds == 5000)
    }

    @Test func `a feed without any delivery pauses from the beginning to the end`() {
        var clock = PauseClock()
        clock.begin(at: 100)
        clock.end(at: 700)
        #expect(clock.longestMicroseconds == 600)
    }

    @Test func `deliveries before the beginning and after the end do not count`() {
        var clock = PauseClock()
        clock.recordDelivery(at: 10)
        clock.begin(at: 5000)
        // The measurement begins when the live's first message is due. Frames with join tips may arrive before that.
        clock.recordDelivery(at: 4990)
        clock.end(at: 5050)
        clock.recordDelivery(at: 9000)
        #expect(clock.longestMicroseconds == 50)
    }
}
