// SPDX-License-Identifier: Apache-2.0
package import CoreKit

/// How often a live may send requests: `burst` at once, and one more each `interval`.
package struct Pace: Equatable, Sendable, Codable {
    /// Requests that may come at once after a quiet time.
    package static let burst: Int64 = 10
    /// How long it takes until one more may come.
    package static let interval = Milliseconds.seconds(1)

    /// When the requests so far are made up for.
    private var evenAt = Timestamp(milliseconds: 0)

    /// A pace without a request so far.
    package init() {}

    /// Counts a request at `now`.
    ///
    /// - Returns: nil, or how long to wait when it comes too soon; then it is not counted.
    mutating func count(at now: Timestamp) -> Milliseconds? {
        let even = max(self.evenAt, now) + Self.interval
        let wait = (even - now).count - Self.burst * Self.interval.count
        if wait > 0 { return Milliseconds(wait) }
        self.evenAt = even
        return nil
    }
}
