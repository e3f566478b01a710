// SPDX-License-Identifier: Apache-2.0
import MachineKit
import Testing

/// The token bucket, which limits a rate.
///
/// A limit without a period holds for each second. Times are in microseconds. `take` returns nil if it took the tokens, and
/// otherwise the time to wait.
@Suite struct TokenBucketTests {
    /// One token returns after 1000 ms / `count`.
    @Test(arguments: [(1, 1000), (10, 100), (200, 5)] as [(Int, Int64)])
    func `all tokens of a full bucket are taken at once, then one at a time`(count: Int, refillMilliseconds: Int64) {
        let limit = RateLimit(count)
        var bucket = TokenBucket()
        let start: Int64 = 5
        for _ in 0..<count { #expect(bucket.take(of: limit, at: start) == nil) }
        #expect(bucket.take(of: limit, at: start) == Milliseconds(refillMilliseconds))

        let firstRefill = start + refillMilliseconds * 1000
        #expect(bucket.take(of: limit, at: firstRefill - 1) == Milliseconds(1))
        #expect(bucket.take(of: limit, at: firstRefill) == nil)
        // The bucket is full again at the latest one second after it was empty, and 5 s are more than that for each `count`.
        #expect(!bucket.isFull(at: firstRefill) && bucket.isFull(at: 5_000_000))
    }

    @Test func `a limit of six per minute refills one token every ten seconds`() {
        let limit = RateLimit(6, per: .seconds(60))
        var bucket = TokenBucket()
        var taken = 0
        for second in 0..<600 where bucket.take(of: limit, at: Int64(second) * 1_000_000) == nil { taken += 1 }
        // Six tokens at once, then one in second 10, 20, … 590.
        #expect(taken == 6 + 59)
    }

    @Test func `many tokens are taken together or not at all`() {
        let limit = RateLimit(1_000_000)
        var bucket = TokenBucket()
        #expect(bucket.take(600_000, of: limit, at: 0) == nil)
        #expect(bucket.take(600_000, of: limit, at: 0) == Milliseconds(200))
        #expect(bucket.take(400_000, of: limit, at: 0) == nil)
        #expect(bucket.take(1, of: limit, at: 0) != nil)
        #expect(bucket.take(.max, of: limit, at: 999_999) != nil)
        #expect(bucket.take(.max, of: limit, at: 1_000_000) == nil, "a larger number counts as a full bucket")
    }

    @Test func `no rate limit causes a trap`() {
        for limit in [RateLimit(0), RateLimit(.min), RateLimit(.max), RateLimit(1, per: Milliseconds(-5))] {
            var bucket = TokenBucket()
            #expect(bucket.take(of: limit, at: 0) == nil)
            #expect(bucket.take(-1, of: limit, at: 0) == nil)
        }
    }
}
