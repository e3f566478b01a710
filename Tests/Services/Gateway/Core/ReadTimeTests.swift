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
            for _ in 0..<10 where time.wait(at: MonotonicTime(milliseconds: Int64(now))) == nil {
                time.use(microseconds: 150)
                used += 150
            }
        }
        #expect((4_000_000...4_020_150).contains(used), "40 % of 10 s, and what 50 ms without reads had left")
    }

    /// Rules: R12.18.
    @Test func `a costly read is admitted, and further reads wait until its time is paid back`() {
        var time = ReadTime(percent: 50)
        #expect(time.wait(at: 0) == nil)
        time.use(microseconds: 200_000)
        // 25 ms were left: half of 50 ms. The debt of 175 ms is paid back in 350 ms.
        #expect(time.wait(at: 0) == Milliseconds(351))
        #expect(time.wait(at: 350) == Milliseconds(1))
        #expect(time.wait(at: 351) == nil)
    }

    @Test func `no processor time and no clock makes reads wait for more than ten seconds, or traps`() {
        for used in [Int64.max, Int64.min, 0, -1, 1 << 40] {
            for now in [MonotonicTime(milliseconds: .max), 0, MonotonicTime(milliseconds: 1 << 40)] {
                var time = ReadTime(percent: used > 0 ? .max : .min)
                _ = time.wait(at: 5)
                time.use(microseconds: used)
                time.use(microseconds: used)
                let wait = time.wait(at: now)
                #expect((wait ?? Milliseconds(0)) <= Milliseconds(10_001), "\(used) µs, then asked at \(now)")
            }
        }
        var late = ReadTime(percent: 40)
        _ = late.wait(at: 1_000)
        late.use(microseconds: 1_000_000)
        #expect(late.wait(at: 900) != nil, "a time that goes back gives nothing")
        #expect(late.wait(at: 1_000_000) == nil)
    }
}
