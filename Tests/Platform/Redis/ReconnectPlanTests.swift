// SPDX-License-Identifier: Apache-2.0
import MachineKit
import RedisClient
import Testing

/// Tests of `ReconnectPlan`: the growing pauses between attempts to connect to Redis.
@Suite struct ReconnectPlanTests {
    @Test func `pauses double up to the longest pause, and random jitter shortens each by at most half`() {
        for seed in 0..<50 {
            var random = SeededRandom(seed: UInt64(seed))
            var plan = ReconnectPlan(firstPause: .milliseconds(50), longestPause: .milliseconds(800))
            var now = MonotonicTime(milliseconds: 1_000)
            #expect(plan.nextAttemptAt <= now)
            // A pause that doubled 70 times without a limit would overflow.
            for failure in 0..<70 {
                plan.recordFailure(at: now, using: &random)
                // Ten doublings are enough, because 50 ms * 2^10 is more than the longest pause of 800 ms.
                let maxPause = min(Int64(800), Int64(50) << Int64(min(failure, 10)))
                let actualPause = (plan.nextAttemptAt - now).count
                #expect(actualPause >= maxPause / 2 && actualPause <= maxPause)
                now = plan.nextAttemptAt
            }
            // After a success there is no pause, and the next failure has the first pause again.
            plan.recordSuccess()
            #expect(plan.nextAttemptAt <= now)
            plan.recordFailure(at: now, using: &random)
            #expect(plan.nextAttemptAt - now <= Milliseconds(50))
        }
    }

    @Test func `clients with different random seeds reconnect at different times`() {
        let attemptTimes = (0..<100).map { seed in
            var random = SeededRandom(seed: UInt64(seed))
            var plan = ReconnectPlan(firstPause: .milliseconds(800), longestPause: .milliseconds(800))
            plan.recordFailure(at: MonotonicTime(milliseconds: 0), using: &random)
            return plan.nextAttemptAt
        }
        #expect(Set(attemptTimes).count > 50)
    }
}
