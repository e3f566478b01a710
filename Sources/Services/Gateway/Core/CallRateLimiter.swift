// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// Limits the calls of many callers: a token bucket per key (R13.1).
///
/// A caller without a bucket is treated as if it had a full bucket. So full buckets can be removed when the table has
/// no room.
package struct CallRateLimiter<Key: Hashable & Sendable>: Sendable {
    /// The largest number of buckets; when it is reached and no bucket is full, callers without a bucket are rejected.
    package let maxBuckets: Int
    private var buckets: [Key: TokenBucket] = [:]
    /// When the table was last scanned for full buckets.
    private var lastScanAt = MonotonicTime.distantPast
    /// The minimum time between two scans.
    private static var scanInterval: Milliseconds { Milliseconds(100) }

    /// Creates a limiter without buckets.
    ///
    /// - Parameter maxBuckets: The largest number of buckets.
    package init(maxBuckets: Int) { self.maxBuckets = maxBuckets }

    /// Takes `count` tokens from the bucket of `key`; takes none if the bucket holds too few.
    ///
    /// - Parameters:
    ///   - key: Identifies the caller and the limited kind of call; it must have the same limit each time.
    ///   - limit: The size and rate of the bucket.
    ///   - count: How many tokens to take; a count above the bucket's size takes the size.
    ///   - now: The current time.
    /// - Returns: Nil if the call is admitted; otherwise how long to wait until it would be admitted.
    package mutating func admitOrReturnWait(
        _ key: Key, limit: RateLimit, counting count: Int = 1, at now: MonotonicTime
    ) -> Milliseconds? {
        var bucket = self.buckets[key] ?? TokenBucket()
        if self.buckets[key] == nil, self.buckets.count >= self.maxBuckets, !self.makeRoom(at: now) {
            // It is not known when a bucket will be full and can be removed, so a fixed wait is returned.
            return .seconds(1)
        }
        if let wait = bucket.takeOrReturnWait(count, of: limit, at: now) { return wait }
        self.buckets[key] = bucket
        return nil
    }

    /// Returns how long to wait until a call would be admitted; nil if it would be admitted now.
    ///
    /// No token is taken.
    package func waitBeforeAdmission(of key: Key, limit: RateLimit, at now: MonotonicTime) -> Milliseconds? {
        // The token is taken from a copy of the bucket.
        var bucket = self.buckets[key] ?? TokenBucket()
        return bucket.takeOrReturnWait(of: limit, at: now)
    }

    /// Removes full buckets.
    ///
    /// The whole table is scanned, so this is done at most ten times a second.
    ///
    /// - Returns: Whether the table has room for another bucket.
    private mutating func makeRoom(at now: MonotonicTime) -> Bool {
        guard now - self.lastScanAt >= Self.scanInterval else { return false }
        self.lastScanAt = now
        self.buckets = self.buckets.filter { !$0.value.isFull(at: now) }
        return self.buckets.count < self.maxBuckets
    }
}
