// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// Limits the calls of many callers: a token bucket per key (R13.1).
///
/// A caller without a bucket is treated as one with a full bucket, so full buckets are removed when the table is full.
package struct CallRateLimiter<Key: Hashable & Sendable>: Sendable {
    /// The largest number of buckets; when it is reached, callers without a bucket are refused.
    package let maxBuckets: Int
    private var buckets: [Key: TokenBucket] = [:]
    /// When full buckets were last looked for, in monotonic microseconds.
    private var lastRemoval = Int64.min

    /// Creates a limiter without buckets.
    ///
    /// - Parameter maxBuckets: The largest number of buckets.
    package init(maxBuckets: Int) { self.maxBuckets = maxBuckets }

    /// The number of buckets.
    package var count: Int { self.buckets.count }

    /// Takes one token from the bucket of `key`, which holds the calls of one second.
    ///
    /// - Parameters:
    ///   - key: Identifies the caller and the limited method.
    ///   - rate: Calls per second, at least 1; also the size of the bucket.
    ///   - now: The current monotonic time in microseconds.
    /// - Returns: Nil if the call is admitted; otherwise how long to wait until it would be.
    package mutating func admit(_ key: Key, rate: Int, at now: Int64) -> Milliseconds? {
        self.admit(key, limit: RateLimit(rate), at: now)
    }

    /// Takes `count` tokens from the bucket of `key`, or none if it holds too few.
    ///
    /// - Parameters:
    ///   - key: Identifies the caller and the limited method; every call with this key must pass the same limit.
    ///   - rate: The size and rate of the bucket.
    ///   - count: How many tokens to take; a count above the bucket's size takes the size.
    ///   - now: The current monotonic time in microseconds.
    /// - Returns: Nil if the call is admitted; otherwise how long to wait until it would be.
    package mutating func admit(
        _ key: Key, limit rate: RateLimit, counting count: Int = 1, at now: Int64
    ) -> Milliseconds? {
        var bucket = self.buckets[key] ?? TokenBucket()
        if self.buckets[key] == nil, self.buckets.count >= self.maxBuckets, !self.makeRoom(at: now) {
            return .seconds(1)
        }
        if let wait = bucket.take(count, of: rate, at: now) { return wait }
        self.buckets[key] = bucket
        return nil
    }

    /// Returns how long to wait if the bucket of `key` is empty, else nil; takes no token.
    package func wait(of key: Key, limit rate: RateLimit, at now: Int64) -> Milliseconds? {
        var bucket = self.buckets[key] ?? TokenBucket()
        return bucket.take(of: rate, at: now)
    }

    /// Removes full buckets, at most ten times a second because this scans the whole table.
    ///
    /// - Returns: Whether the table has room for another bucket.
    private mutating func makeRoom(at now: Int64) -> Bool {
        guard self.lastRemoval == .min || now - self.lastRemoval >= 100_000 else { return false }
        self.lastRemoval = now
        self.buckets = self.buckets.filter { !$0.value.isFull(at: now) }
        return self.buckets.count < self.maxBuckets
    }
}
