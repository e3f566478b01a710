// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// Limits how often a live may send requests: `burst` at once, then one more each `interval`.
package struct RequestRateLimiter: Equatable, Sendable, Codable {
    /// How many requests are allowed at once after a time without requests.
    package static let burst: Int64 = 10
    /// How long it takes until one more request is allowed.
    package static let interval = Milliseconds.seconds(1)

    /// When the full burst is available again.
    private var refilledAt = Timestamp(milliseconds: 0)

    /// A limiter with the full burst.
    package init() {}

    private enum CodingKeys: String, CodingKey {
        case refilledAt = "evenAt"
    }

    /// Admits and counts a request at `now`, unless it exceeds the rate.
    ///
    /// - Returns: nil when the request is admitted; otherwise the time until the next request is allowed.
    mutating func admitOrReturnWait(at now: Timestamp) -> Milliseconds? {
        // Each admitted request delays the full burst by one interval; the delay may be at most `burst` intervals.
        let delayedRefill = max(self.refilledAt, now) + Self.interval
        let wait = (delayedRefill - now).count - Self.burst * Self.interval.count
        if wait > 0 { return Milliseconds(wait) }
        self.refilledAt = delayedRefill
        return nil
    }
}
