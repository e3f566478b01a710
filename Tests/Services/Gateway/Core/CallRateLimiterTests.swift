// SPDX-License-Identifier: Apache-2.0
import GatewayCore
import MachineKit
import Testing

@Suite struct CallRateLimiterTests {
    private let second: Int64 = 1_000_000

    /// Returns the number of calls of `key` that are admitted at `now` before one is refused, and the time until the
    /// next is admitted.
    private func burst(_ rates: inout CallRateLimiter<String>, _ key: String, rate: Int, at now: Int64) -> (
        Int, Milliseconds
    ) {
        for count in 0...10_000 {
            if let wait = rates.admit(key, rate: rate, at: now) { return (count, wait) }
        }
        return (-1, Milliseconds(0))
    }

    /// Rules: R13.1.
    @Test(arguments: [(1, 1000), (10, 100), (200, 5)] as [(Int, Int64)])
    func `one second's worth of calls is admitted at once, then one per share of it`(rate: Int, share: Int64) {
        var rates = CallRateLimiter<String>(maxBuckets: 10)
        let (count, wait) = self.burst(&rates, "a", rate: rate, at: 7)
        #expect(count == rate && wait == Milliseconds(share))
        let later = 7 + share * 1000
        #expect(rates.admit("a", rate: rate, at: later - 1) != nil)
        #expect(rates.admit("a", rate: rate, at: later) == nil)
        #expect(rates.admit("a", rate: rate, at: later) == Milliseconds(share))
        #expect(
            self.burst(&rates, "a", rate: rate, at: later + 10 * self.second).0 == rate, "it holds one second's worth")
    }

    @Test func `a steady caller below its rate is never refused`() {
        var rates = CallRateLimiter<String>(maxBuckets: 10)
        for call in 0..<2000 { #expect(rates.admit("a", rate: 200, at: Int64(call) * 5000) == nil) }
    }

    @Test func `each caller has its own rate`() {
        var rates = CallRateLimiter<String>(maxBuckets: 10)
        #expect(self.burst(&rates, "a", rate: 10, at: 0).0 == 10)
        #expect(self.burst(&rates, "b", rate: 10, at: 0).0 == 10)
    }

    @Test func `I16 buckets are limited: full ones are removed, and while there are none, new callers are refused`() {
        var rates = CallRateLimiter<String>(maxBuckets: 3)
        for key in ["a", "b", "c"] { #expect(rates.admit(key, rate: 10, at: 0) == nil) }
        #expect(rates.admit("d", rate: 10, at: 0) == .seconds(1))
        #expect(rates.admit("a", rate: 10, at: 0) == nil, "who is known goes on")
        #expect(rates.admit("d", rate: 10, at: self.second) == nil)
        #expect(rates.count == 1)
    }
}
