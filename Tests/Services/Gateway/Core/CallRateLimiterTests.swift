// SPDX-License-Identifier: Apache-2.0
import GatewayCore
import MachineKit
import Testing

/// Rate limits with token buckets, one for each caller.
///
/// A full bucket admits the calls of one second at once. Rates are in calls a second, times in milliseconds.
/// `admitOrReturnWait` returns nil if it admits the call, and otherwise how long to wait until it would.
@Suite struct CallRateLimiterTests {
    /// Makes calls of the caller `key` at `now` until one is rejected.
    ///
    /// - Returns: the number of admitted calls, and how long to wait until the rejected call would be admitted.
    private func admitUntilRejected(
        _ limiter: inout CallRateLimiter<String>, _ key: String, rate: Int, at now: MonotonicTime
    ) -> (admitted: Int, wait: Milliseconds) {
        for count in 0...10_000 {
            if let wait = limiter.admitOrReturnWait(key, rate: rate, at: now) { return (count, wait) }
        }
        // No call was rejected; no test expects -1.
        return (-1, Milliseconds(0))
    }

    /// Rules: R13.1.
    @Test(arguments: [(1, 1000), (10, 100), (200, 5)] as [(Int, Int64)])
    func `the calls of one second are admitted at once, then one call in each interval`(
        rate: Int, intervalMilliseconds: Int64
    ) {
        var limiter = CallRateLimiter<String>(maxBuckets: 10)
        // An arbitrary time.
        let start: MonotonicTime = 7
        let (admitted, wait) = self.admitUntilRejected(&limiter, "anna", rate: rate, at: start)
        #expect(admitted == rate && wait == Milliseconds(intervalMilliseconds))
        let nextAdmission = start + Milliseconds(intervalMilliseconds)
        #expect(limiter.admitOrReturnWait("anna", rate: rate, at: nextAdmission - Milliseconds(1)) != nil)
        #expect(limiter.admitOrReturnWait("anna", rate: rate, at: nextAdmission) == nil)
        #expect(limiter.admitOrReturnWait("anna", rate: rate, at: nextAdmission) == Milliseconds(intervalMilliseconds))
        let afterPause = nextAdmission + .seconds(10)
        #expect(
            self.admitUntilRejected(&limiter, "anna", rate: rate, at: afterPause).admitted == rate,
            "after a pause of ten seconds the bucket still has only the calls of one second")
    }

    @Test func `a caller that makes its calls evenly at its rate is never rejected`() {
        var limiter = CallRateLimiter<String>(maxBuckets: 10)
        // At 200 calls a second, a call comes every 5 ms.
        for call in 0..<2000 {
            #expect(
                limiter.admitOrReturnWait("anna", rate: 200, at: MonotonicTime(milliseconds: Int64(call) * 5)) == nil)
        }
    }

    @Test func `each caller has its own rate`() {
        var limiter = CallRateLimiter<String>(maxBuckets: 10)
        #expect(self.admitUntilRejected(&limiter, "anna", rate: 10, at: 0).admitted == 10)
        #expect(self.admitUntilRejected(&limiter, "bob", rate: 10, at: 0).admitted == 10)
    }

    @Test
    func
        `I16 the number of buckets is limited: full buckets make room; while none is full, new callers are rejected`()
    {
        // Each of three callers makes one call, so none of the three buckets is full.
        var limiter = CallRateLimiter<String>(maxBuckets: 3)
        for caller in ["anna", "bob", "carol"] { #expect(limiter.admitOrReturnWait(caller, rate: 10, at: 0) == nil) }
        #expect(limiter.admitOrReturnWait("dora", rate: 10, at: 0) == .seconds(1))
        #expect(limiter.admitOrReturnWait("anna", rate: 10, at: 0) == nil, "a caller with a bucket is still admitted")
        // After a second the three buckets are full again, so they are removed.
        #expect(limiter.admitOrReturnWait("dora", rate: 10, at: 1_000) == nil)
        // Now only dora has a bucket, so two more callers get one without another scan of the table.
        for caller in ["eve", "finn"] { #expect(limiter.admitOrReturnWait(caller, rate: 10, at: 1_000) == nil) }
        #expect(limiter.admitOrReturnWait("gina", rate: 10, at: 1_000) == .seconds(1))
    }
}

extension CallRateLimiter {
    /// Counts a call against a rate in calls a second; returns nil if it is admitted, otherwise the time to wait.
    fileprivate mutating func admitOrReturnWait(_ key: Key, rate: Int, at now: MonotonicTime) -> Milliseconds? {
        self.admitOrReturnWait(key, limit: RateLimit(rate), at: now)
    }
}
