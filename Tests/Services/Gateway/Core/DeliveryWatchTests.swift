// SPDX-License-Identifier: Apache-2.0
import GatewayCore
import MachineKit
import Testing

/// Detects a producer that reports the outcome of no record any more.
@Suite struct DeliveryWatchTests {
    private static func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: seconds * 1000) }

    @Test func `a producer that reports nothing for thirty seconds hangs, and a report ends that`() {
        var watch = DeliveryWatch()
        watch.recordSent(at: Self.at(100))
        // Further records do not extend the time.
        for second: Int64 in 101...129 { watch.recordSent(at: Self.at(second)) }
        #expect(!watch.isHung(at: Self.at(129)))
        #expect(watch.isHung(at: Self.at(130)))

        // Of the thirty records the other 29 are still open, so the thirty seconds begin again.
        watch.recordReported(at: Self.at(131))
        #expect(!watch.isHung(at: Self.at(160)))
        #expect(watch.isHung(at: Self.at(161)))
    }

    @Test func `a producer that has nothing to report does not hang`() {
        var watch = DeliveryWatch()
        #expect(!watch.isHung(at: Self.at(1000)))
        watch.recordSent(at: Self.at(1000))
        watch.recordReported(at: Self.at(1001))
        #expect(!watch.isHung(at: Self.at(2000)))
        // The wait of a new record begins when it is sent.
        watch.recordSent(at: Self.at(2000))
        #expect(!watch.isHung(at: Self.at(2029)))
    }

    @Test func `a report that arrives before its record is counted leaves no record open`() {
        var watch = DeliveryWatch()
        watch.recordReported(at: Self.at(10))
        watch.recordSent(at: Self.at(10))
        #expect(!watch.isHung(at: Self.at(100)))
    }
}
