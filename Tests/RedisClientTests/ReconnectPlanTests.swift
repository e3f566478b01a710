// SPDX-License-Identifier: Apache-2.0
import RedisClient
import Testing

/// A small generator with a seed, so that a failure repeats.
struct TestRandom: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        self.state = self.state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return (self.state ^ (self.state >> 33)) &* 0xff51_afd7_ed55_8ccd
    }
}

@Suite struct ReconnectPlanTests {
    @Test func `pauses double up to the longest and chance takes at most half`() {
        for seed in 0..<50 {
            var random = TestRandom(state: UInt64(seed))
            var plan = ReconnectPlan(pauses: 50...800)
            var now: Int64 = 1_000
            #expect(plan.due <= now)
            for failure in 0..<70 {
                plan.failed(at: now, using: &random)
                let pause = min(Int64(800), Int64(50) << Int64(min(failure, 10)))
                let taken = plan.due - now
                #expect(taken >= pause / 2 && taken <= pause)
                now = plan.due
            }
            plan.succeeded()
            #expect(plan.due <= now)
            plan.failed(at: now, using: &random)
            #expect(plan.due - now <= 50)
        }
    }

    @Test func `clients with other seeds do not come back together`() {
        let dues = (0..<100).map { seed in
            var random = TestRandom(state: UInt64(seed))
            var plan = ReconnectPlan(pauses: 800...800)
            plan.failed(at: 0, using: &random)
            return plan.due
        }
        #expect(Set(dues).count > 50)
    }
}
