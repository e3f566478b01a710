// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// A token bucket in the machine's time: the time at which the bucket is full again.
package struct RateLimiter: Equatable, Sendable, Codable {
    /// When the full burst is available again.
    private var refilledAt = Timestamp(milliseconds: 0)

    /// A limiter with the full burst.
    package init() {}

    private enum CodingKeys: String, CodingKey {
        case refilledAt = "evenAt"
    }

    /// Admits and counts an event at `now`, unless it exceeds `limit`.
    ///
    /// - Returns: nil when the event is admitted; otherwise the time until the next event is allowed.
    mutating func admit(_ limit: RateLimit, at now: Timestamp) -> Milliseconds? {
        let refilled = max(self.refilledAt, now) + limit.interval
        let wait = (refilled - now).count - limit.period.count
        if wait > 0 { return Milliseconds(wait) }
        self.refilledAt = refilled
        return nil
    }

    /// When the next event is allowed; a time in the past if it is allowed now.
    func nextTime(_ limit: RateLimit) -> Timestamp { self.refilledAt + limit.interval - limit.period }
}

extension RateLimit {
    /// How often a live may send requests to other lives: 10 at once, then one more each second.
    package static let requestsToLives = RateLimit(10, per: .seconds(10))
    /// How often a stage may be published to its live's feed (R12.11).
    ///
    /// Two items at once and one more each 250 ms are at most five in any second.
    package static let stageItems = RateLimit(2, per: Milliseconds(500))

    /// The time in which one more event becomes possible.
    fileprivate var interval: Milliseconds { Milliseconds(self.period.count / Int64(self.count)) }
}
