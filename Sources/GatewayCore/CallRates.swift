// SPDX-License-Identifier: Apache-2.0
package import CoreKit

/// How many calls each of many callers may make a second: a bucket per key that fills at its rate and holds one second's
/// worth (reference 13: 200 a second per command, 10 for the list).
///
/// A bucket is one moment: until when the calls that were admitted use up the rate. A full bucket is the same as none, so
/// those go when the table is full.
package struct CallRates<Key: Hashable & Sendable>: Sendable {
    /// Buckets at most; beyond, unknown callers are refused.
    package let limit: Int
    /// Microseconds of the clock until which the rate is used up.
    private var usedUntil: [Key: Int64] = [:]

    /// No calls yet.
    ///
    /// - Parameter limit: how many buckets are kept at most.
    package init(limit: Int) { self.limit = limit }

    /// How many buckets there are.
    package var count: Int { self.usedUntil.count }

    /// Takes one call out of the bucket of `key`.
    ///
    /// - Parameters:
    ///   - key: who calls what.
    ///   - rate: calls in a second, at least 1; so many may also come at once.
    ///   - now: microseconds of a clock that never goes back.
    /// - Returns: nil when the call may be made; else how long until one may.
    package mutating func refusal(of key: Key, rate: Int, at now: Int64) -> Milliseconds? {
        let second: Int64 = 1_000_000
        let share = second / Int64(rate)
        let known = self.usedUntil[key]
        let used = max(known ?? now, now)
        guard used - now <= second - share else {
            return Milliseconds((used - now - (second - share) + 999) / 1000)
        }
        if known == nil, self.usedUntil.count >= self.limit {
            self.usedUntil = self.usedUntil.filter { $0.value > now }
            guard self.usedUntil.count < self.limit else { return .seconds(1) }
        }
        self.usedUntil[key] = used + share
        return nil
    }
}
