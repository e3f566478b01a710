// SPDX-License-Identifier: Apache-2.0
import GatewayCore
import MachineKit
import Testing

/// The share of a shard's processor time that reads may use.
///
/// Times are in milliseconds, processor time is in microseconds.
@Suite struct ReadTimeTests {
    /// Rules: R12.18.
    @Test func `I16 reads use at most their share of a shard's time, however many users read`() {
        var time = ReadTime(percent: 40)
        var used: Int64 = 0
        // Ten reads of 150 µs in each millisecond of 10 s would use one and a half cores.
        for now in 0..<10_000 {
            for _ in 0..<10 where time.waitingTime(at: MonotonicTime(milliseconds: Int64(now))) == nil {
                time.use(microseconds: 150)
                used += 150
            }
        }
        // Reads may use 40 % of 10 s. In addition there are at most the initial credit (40 % of 50 ms, 20,000 µs), and
        // the last read of 150 µs, which may use more than is left.
        #expect((4_000_000...4_020_150).contains(used))
    }

    /// Rules: R12.18.
    @Test func `a costly read is admitted, and further reads wait until its time is paid back`() {
        var time = ReadTime(percent: 50)
        #expect(time.waitingTime(at: 0) == nil)
        time.use(microseconds: 200_000)
        // The initial credit was 25 ms, half of 50 ms, so the debt is 175 ms. It is paid back in 350 ms, but then
        // nothing is left. A read is admitted only if some time is left, so it must wait one more millisecond.
        #expect(time.waitingTime(at: 0) == Milliseconds(351))
        #expect(time.waitingTime(at: 350) == Milliseconds(1))
        #expect(time.waitingTime(at: 351) == nil)
    }

    @Test func `whatever processor time and clock are reported, reads wait ten seconds at most, and nothing traps`() {
        for used in [Int64.max, Int64.min, 0, -1, 1 << 40] {
            for now in [MonotonicTime(milliseconds: .max), 0, MonotonicTime(milliseconds: 1 << 40)] {
                // A percentage that is out of range counts as 100 or 1.
                var time = ReadTime(percent: used > 0 ? .max : .min)
                _ = time.waitingTime(at: 5)
                time.use(microseconds: used)
                time.use(microseconds: used)
                let wait = time.waitingTime(at: now)
                // After ten seconds nothing is left yet; after one more millisecond some time is left.
                #expect((wait ?? Milliseconds(0)) <= Milliseconds(10_001), "\(used) µs, then asked at \(now)")
            }
        }
        var late = ReadTime(percent: 40)
        _ = late.waitingTime(at: 1_000)
        late.use(microseconds: 1_000_000)
        #expect(late.waitingTime(at: 900) != nil, "if the clock goes back, no debt is paid back")
        #expect(late.waitingTime(at: 1_000_000) == nil)
    }
}
