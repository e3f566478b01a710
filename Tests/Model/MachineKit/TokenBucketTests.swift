// SPDX-License-Identifier: Apache-2.0
import MachineKit
import Testing

/// The token bucket, which limits a rate.
///
/// A limit without a period holds for each second. Times are in milliseconds. `takeOrReturnWait` returns nil if it took
/// the tokens, and otherwise the time to wait.
@Suite struct TokenBucketTests {
    private static func time(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: milliseconds) }

    /// One token returns after `refillMilliseconds`, which is 1000 / `count`.
    @Test(arguments: [(1, 1000), (10, 100), (200, 5)] as [(Int, Int64)])
    func `all tokens of a full bucket are taken at once, then one at a time`(count: Int, refillMilliseconds: Int64) {
        let limit = RateLimit(count)
        var bucket = TokenBucket()
        let start = Self.time(5)
        for _ in 0..<count { #expect(bucket.takeOrReturnWait(of: limit, at: start) == nil) }
        #expect(bucket.takeOrReturnWait(of: limit, at: start) == Milliseconds(refillMilliseconds))

        let firstRefill = start + Milliseconds(refillMilliseconds)
        #expect(bucket.takeOrReturnWait(of: limit, at: firstRefill - Milliseconds(1)) == Milliseconds(1))
        #expect(bucket.takeOrReturnWait(of: limit, at: firstRefill) == nil)
        // A bucket is full again one second after it was empty, so certainly after 5 s.
        #expect(!bucket.isFull(at: firstRefill) && bucket.isFull(at: Self.time(5_000)))
    }

    @Test func `a limit of six per minute refills one token every ten seconds`() {
        let limit = RateLimit(6, per: .seconds(60))
        var bucket = TokenBucket()
        var takenCount = 0
        for second in 0..<600 {
            let isTaken =
                bucket.takeOrReturnWait(of: limit, at: MonotonicTime(milliseconds: Int64(second) * 1_000)) == nil
            if isTaken { takenCount += 1 }
        }
        // The six tokens of the full bucket, then one token in each of the seconds 10, 20, … 590.
        #expect(takenCount == 6 + 59)
    }

    @Test func `many tokens are taken together or not at all`() {
        let limit = RateLimit(1_000_000)
        var bucket = TokenBucket()
        #expect(bucket.takeOrReturnWait(600_000, of: limit, at: Self.time(0)) == nil)
        // Of 600,000 tokens, 200,000 are missing, which return after 200 ms.
        #expect(bucket.takeOrReturnWait(600_000, of: limit, at: Self.time(0)) == Milliseconds(200))
        #expect(bucket.takeOrReturnWait(400_000, of: limit, at: Self.time(0)) == nil, "the rejected call took no token")
        #expect(bucket.takeOrReturnWait(1, of: limit, at: Self.time(0)) != nil, "the bucket is empty")
        // The bucket is full again at 1,000 ms. More tokens than a bucket has count as a full bucket.
        #expect(bucket.takeOrReturnWait(.max, of: limit, at: Self.time(999)) != nil)
        #expect(bucket.takeOrReturnWait(.max, of: limit, at: Self.time(1_000)) == nil)
    }

    @Test func `a limit above one token per nanosecond lets a full bucket be emptied once in each period`() {
        for limit in [RateLimit(2_000_000_000), RateLimit(.max)] {
            var bucket = TokenBucket()
            #expect(bucket.takeOrReturnWait(.max, of: limit, at: Self.time(0)) == nil)
            #expect(bucket.takeOrReturnWait(.max, of: limit, at: Self.time(400)) == Milliseconds(600))
            #expect(bucket.takeOrReturnWait(.max, of: limit, at: Self.time(1_000)) == nil)
        }
    }

    @Test func `a time to wait is rounded up to whole milliseconds`() {
        // Three tokens a second: one returns after 333 1/3 ms.
        let limit = RateLimit(3)
        var bucket = TokenBucket()
        for _ in 0..<3 { #expect(bucket.takeOrReturnWait(of: limit, at: Self.time(0)) == nil) }
        #expect(bucket.takeOrReturnWait(of: limit, at: Self.time(0)) == Milliseconds(334))
        #expect(bucket.takeOrReturnWait(of: limit, at: Self.time(333)) == Milliseconds(1))
        #expect(bucket.takeOrReturnWait(of: limit, at: Self.time(334)) == nil)
    }

    @Test func `no rate limit and no time causes a trap`() {
        for limit in [RateLimit(0), RateLimit(.min), RateLimit(.max), RateLimit(1, per: Milliseconds(-5))] {
            for time in [MonotonicTime.distantPast, Self.time(0), .distantFuture] {
                var bucket = TokenBucket()
                #expect(bucket.takeOrReturnWait(of: limit, at: time) == nil)
                #expect(bucket.takeOrReturnWait(-1, of: limit, at: time) == nil)
            }
        }
    }
}
