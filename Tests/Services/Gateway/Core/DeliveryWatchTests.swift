// SPDX-License-Identifier: Apache-2.0
import GatewayCore
import MachineKit
import Testing

/// The watch that detects a hung Kafka producer, which reports for 30 s neither delivery nor failure of a record.
///
/// Times are in seconds.
@Suite struct DeliveryWatchTests {
    private static func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: seconds * 1000) }

    @Test func `a producer that reports nothing for thirty seconds hangs, and a report ends that`() {
        var watch = DeliveryWatch()
        watch.recordSent(at: Self.at(100))
        // Records that are sent later do not extend the thirty seconds.
        for second: Int64 in 101...129 { watch.recordSent(at: Self.at(second)) }
        #expect(!watch.isHung(at: Self.at(129)))
        #expect(watch.isHung(at: Self.at(130)))

        // One of the thirty records is reported, so the producer is not hung, and the thirty seconds begin again for
        // the other 29 records.
        watch.outcomeReported(at: Self.at(131))
        #expect(!watch.isHung(at: Self.at(160)))
        #expect(watch.isHung(at: Self.at(161)))
    }

    @Test func `a producer does not count as hung while no record is open`() {
        var watch = DeliveryWatch()
        #expect(!watch.isHung(at: Self.at(1000)))
        watch.recordSent(at: Self.at(1000))
        watch.outcomeReported(at: Self.at(1001))
        #expect(!watch.isHung(at: Self.at(2000)))
        // The thirty seconds of a new record begin when it is sent.
        watch.recordSent(at: Self.at(2000))
        #expect(!watch.isHung(at: Self.at(2029)))
    }

    @Test func `a record whose report comes before the record is counted does not stay open`() {
        var watch = DeliveryWatch()
        watch.outcomeReported(at: Self.at(10))
        watch.recordSent(at: Self.at(10))
        #expect(!watch.isHung(at: Self.at(100)))
    }
}
