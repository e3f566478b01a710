// SPDX-License-Identifier: Apache-2.0

/// So many tokens in a period; as many can be taken at once, after a pause of that length.
package struct RateLimit: Hashable, Sendable {
    /// The number of tokens of a full bucket, at least 1.
    package let count: Int
    /// The time in which an empty bucket fills up, at least 1 ms.
    package let period: Milliseconds

    /// Takes a limit, such as 60 in a minute.
    package init(_ count: Int, per period: Milliseconds = .seconds(1)) {
        self.count = max(1, count)
        self.period = max(Milliseconds(1), period)
    }
}

/// A token bucket in one number: the time up to which the tokens that were taken have used the rate.
///
/// It is a value without a clock; an untouched bucket is full.
package struct TokenBucket: Hashable, Sendable {
    /// Nanoseconds of the caller's monotonic clock.
    private var usedUntil = Int64.min

    /// Creates a full bucket.
    package init() {}

    /// Takes tokens, or returns how long to wait until they are there.
    ///
    /// - Parameters:
    ///   - tokens: How many; more than the bucket holds are taken as a whole bucket.
    ///   - limit: The bucket's size and rate.
    ///   - now: Monotonic microseconds, less than a hundred years.
    /// - Returns: Nil if the tokens were taken; otherwise the time after which they can be.
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
