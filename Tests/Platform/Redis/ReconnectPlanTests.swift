// SPDX-License-Identifier: Apache-2.0
import MachineKit
import RedisClient
import Testing

@Suite struct ReconnectPlanTests {
    @Test func `pauses double up to the longest, and jitter takes at most half`() {
        for seed in 0..<50 {
            var random = SeededRandom(seed: UInt64(seed))
            var plan = ReconnectPlan(firstPause: .milliseconds(50), longestPause: .milliseconds(800))
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

    @Test func `clients with different seeds do not reconnect together`() {
        let dues = (0..<100).map { seed in
            var random = SeededRandom(seed: UInt64(seed))
            var plan = ReconnectPlan(firstPause: .milliseconds(800), longestPause: .milliseconds(800))
            plan.failed(at: 0, using: &random)
            return plan.due
        }
        #expect(Set(dues).count > 50)
    }
}
