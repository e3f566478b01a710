// SPDX-License-Identifier: Apache-2.0

/// A rate of `count` tokens in each `period`.
///
/// After a pause of one period, `count` tokens can be taken at once. A count above one token in each nanosecond of the
/// period has the effect of exactly one token in each nanosecond.
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

    /// The time in which a bucket gains one token, rounded up.
    package var timePerToken: Milliseconds { Milliseconds((self.period.count - 1) / Int64(self.count) + 1) }
}

/// A token bucket in one number: the time at which the bucket will be full again if no more tokens are taken.
///
/// It is a value without a clock; a new bucket is full.
package struct TokenBucket: Hashable, Sendable {
    /// When the bucket is full again, in nanoseconds of the monotonic clock.
    private var fullAt = Int64.min

    /// Creates a full bucket.
    package init() {}

    /// Takes the tokens, or takes none if there are too few.
    ///
    /// - Parameters:
    ///   - tokens: how many tokens to take; a number above the bucket's size counts as the size.
    ///   - limit: the bucket's size and rate.
    ///   - now: the current time.
    /// - Returns: nil if the tokens were taken; otherwise how long to wait until they can be taken.
    package mutating func takeOrReturnWait(
        _ tokens: Int = 1, of limit: RateLimit, at now: MonotonicTime
    ) -> Milliseconds? {
        // All times are in nanoseconds. A token costs the time in which the bucket gains one token.
        let now = Self.nanoseconds(now)
        let period = limit.period.count * 1_000_000
        let size = min(Int64(limit.count), period)
        let cost = period / size * min(Int64(max(tokens, 0)), size)
        // When the bucket will be full without this take, and with it. A bucket that is full already is full now.
        let fullBefore = max(self.fullAt, now)
        let fullAfter = fullBefore + cost
        // Even an empty bucket is full after one period. If this bucket needs longer, it does not have the tokens yet.
        let waitingTime = fullAfter - (now + period)
        if waitingTime > 0 { return Milliseconds((waitingTime + 999_999) / 1_000_000) }
        self.fullAt = fullAfter
        return nil
    }

    /// Whether the bucket is full, so that a new bucket can replace it.
    package func isFull(at now: MonotonicTime) -> Bool { self.fullAt <= Self.nanoseconds(now) }

    /// A time in nanoseconds; at most a hundred years from zero, so that no calculation overflows.
    private static func nanoseconds(_ time: MonotonicTime) -> Int64 {
        let maxMilliseconds: Int64 = 100 * 366 * 86_400_000
        return min(max(time.milliseconds, -maxMilliseconds), maxMilliseconds) * 1_000_000
    }
}
