// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// Limits the calls of many callers: a token bucket per key (R13.1).
///
/// A caller without a bucket is treated as one with a full bucket, so full buckets are removed when the table is full.
package struct CallRateLimiter<Key: Hashable & Sendable>: Sendable {
    /// The largest number of buckets; when it is reached, callers without a bucket are refused.
    package let limit: Int
    private var buckets: [Key: TokenBucket] = [:]
    /// When full buckets were last looked for, in monotonic microseconds.
    private var lastRemoval = Int64.min

    /// Creates a limiter without buckets.
    ///
    /// - Parameter limit: The largest number of buckets.
    package init(limit: Int) { self.limit = limit }

    /// The number of buckets.
    package var count: Int { self.buckets.count }

    /// Counts one call against the bucket of `key`; if the bucket is empty, returns how long to wait instead.
    ///
    /// - Parameters:
    ///   - key: Identifies the caller and the limited method.
    ///   - rate: Calls per second, at least 1; also the size of the bucket.
    ///   - now: The current monotonic time in microseconds.
    /// - Returns: Nil if the call is admitted; otherwise the time after which one will be.
    package mutating func rejection(of key: Key, rate: Int, at now: Int64) -> Milliseconds? {
        self.rejection(of: key, limit: RateLimit(rate), at: now)
    }

    /// Counts one call against the bucket of `key`; if the bucket is empty, returns how long to wait instead.
    ///
    /// - Parameters:
    ///   - key: Identifies the caller and the limited method; every call with this key must pass the same limit.
    ///   - rate: The size and rate of the bucket.
    ///   - count: How many tokens the call takes; more than the bucket holds are taken as a whole bucket.
    ///   - now: The current monotonic time in microseconds.
    /// - Returns: Nil if the call is admitted; otherwise the time after which one will be.
    package mutating func rejection(
        of key: Key, limit rate: RateLimit, counting count: Int = 1, at now: Int64
    ) -> Milliseconds? {
        var bucket = self.buckets[key] ?? TokenBucket()
        if self.buckets[key] == nil, self.buckets.count >= self.limit, !self.makeRoom(at: now) { return .seconds(1) }
        if let wait = bucket.take(count, of: rate, at: now) { return wait }
        self.buckets[key] = bucket
        return nil
    }

    /// Returns how long to wait if the bucket of `key` is empty; does not count a call.
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
        return self.buckets.count < self.limit
    }
}
