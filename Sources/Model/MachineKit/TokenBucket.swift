// SPDX-License-Identifier: Apache-2.0

/// A rate of `count` tokens in each `period`.
///
/// After a pause of one period, `count` tokens can be taken at once.
package struct RateLimit: Hashable, Sendable {
    /// The number of tokens of a full bucket, at least 1.
    package let count: Int
    /// The time in which an empty bucket fills up, at least 1 ms.
    package let period: Milliseconds

    /// A limit, such as 60 in a minute.
    package init(_ count: Int, per period: Milliseconds = .seconds(1)) {
        self.count = max(1, count)
        self.period = max(Milliseconds(1), period)
    }
}

/// A token bucket in one number: the time at which the bucket will be full again if no more tokens are taken.
///
/// It is a value without a clock; an untouched bucket is full.
package struct TokenBucket: Hashable, Sendable {
    /// When the bucket is full again, in nanoseconds of the caller's monotonic clock.
    private var usedUntil = Int64.min

    /// Creates a full bucket.
    package init() {}

    /// Takes all of the tokens, or takes none and returns how long to wait until they are there.
    ///
    /// - Parameters:
    ///   - tokens: How many tokens to take; a number above the bucket's size takes the size.
    ///   - limit: The bucket's size and rate.
    ///   - now: Monotonic microseconds, less than a hundred years.
    /// - Returns: Nil if the tokens were taken; otherwise how long to wait until they can be.
    package mutating func take(_ tokens: Int = 1, of limit: RateLimit, at now: Int64) -> Milliseconds? {
        let now = now * 1_000
        let period = limit.period.count * 1_000_000
        let cost = period / Int64(limit.count) * Int64(min(max(tokens, 0), limit.count))
        let used = max(self.usedUntil, now)
        let excess = used - now - (period - cost)
        if excess > 0 { return Milliseconds((excess + 999_999) / 1_000_000) }
        self.usedUntil = used + cost
        return nil
    }

    /// Whether the bucket is full, so that it equals a new one.
    package func isFull(at now: Int64) -> Bool { self.usedUntil <= now * 1_000 }
}
