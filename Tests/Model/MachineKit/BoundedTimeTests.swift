// SPDX-License-Identifier: Apache-2.0
import Foundation
import MachineKit
import Testing

/// Calculations with times, spans and counts at the limits of their types do not trap.
///
/// A time is limited to a quarter of the range of `Int64`, and a span to half of that range. A value beyond its limit
/// becomes the limit. `Timestamp` and `MonotonicTime` are times, `Milliseconds` are spans.
@Suite struct BoundedTimeTests {
    private static let edges: [Int64] = [
        .min, .min + 1, .min / 2, .min / 4, -1, 0, 1, .max / 4, .max / 2, .max - 1, .max,
    ]

    @Test func `a sum or difference of any times and spans stays within the limits and does not overflow`() {
        for first in Self.edges {
            for second in Self.edges {
                let (time, otherTime) = (Timestamp(milliseconds: first), Timestamp(milliseconds: second))
                let (span, otherSpan) = (Milliseconds(first), Milliseconds(second))
                #expect(time + otherSpan >= .distantPast && time - otherSpan <= .distantFuture)
                #expect((time - otherTime).count == time.milliseconds - otherTime.milliseconds)
                #expect((span + otherSpan).count <= .max / 2)

                let (instant, otherInstant) = (MonotonicTime(milliseconds: first), MonotonicTime(milliseconds: second))
                #expect(instant + otherSpan >= .distantPast && instant - otherSpan <= .distantFuture)
                #expect((instant - otherInstant).count == instant.milliseconds - otherInstant.milliseconds)
            }
            #expect(Milliseconds.seconds(first).count.magnitude <= UInt64(Int64.max) / 2 + 1)
            #expect((Milliseconds(.seconds(first)).count > 0) == (first > 0), "a conversion keeps the sign")
        }
    }

    @Test func `calculations with usual times and spans are exact`() {
        #expect((Timestamp(milliseconds: 5) + .seconds(2)).milliseconds == 2005)
        #expect(Milliseconds(.milliseconds(1500)).count == 1500 && Milliseconds.seconds(-3).count == -3000)
    }

    @Test func `a decoded time or span beyond the limits becomes the limit`() throws {
        let times = try JSONDecoder().decode(
            [Timestamp].self, from: Data("[9223372036854775807,-9223372036854775808,7]".utf8))
        #expect(times == [.distantFuture, .distantPast, Timestamp(milliseconds: 7)])
        let spans = try JSONDecoder().decode([Milliseconds].self, from: Data("[9223372036854775807]".utf8))
        #expect(spans == [Milliseconds(.max)])
    }

    @Test func `a saturating operation beyond the bounds of its type returns the bound`() {
        #expect(Int64.max.saturatingAdd(1) == .max && Int64.min.saturatingAdd(-1) == .min)
        #expect(Int64.min.saturatingSubtract(1) == .min && Int64.max.saturatingSubtract(-1) == .max)
        #expect(Int64.max.saturatingMultiply(2) == .max && Int64.max.saturatingMultiply(-2) == .min)
        #expect(Int64.min.saturatingMultiply(-1) == .max && Int64.min.saturatingMultiply(2) == .min)
        #expect(Int64(3).saturatingAdd(4) == 7 && Int64(3).saturatingSubtract(4) == -1)
        #expect(Int64(-3).saturatingMultiply(4) == -12 && UInt8(250).saturatingAdd(9) == 255)
    }

    @Test func `a count of users at its maximum stays there`() throws {
        var count = try JSONDecoder().decode(
            UniqueCount.self, from: Data(#"{"count":9223372036854775807}"#.utf8))
        count.insert("alice")
        #expect(count.count == .max)
    }
}
