// SPDX-License-Identifier: Apache-2.0
package import CoreKit

/// Whether calls can be passed on at all.
///
/// A broker's client tells of every connection that it loses, also of one that it has again in a moment. So a loss alone
/// refuses nothing: calls are refused, with a hint when to try again, once the first that was passed on since has waited
/// for `patience` without anything being delivered. Then one in a while finds out whether the broker is back.
package struct BrokerHealth: Hashable, Sendable {
    /// How long a call may wait for a broker that seems to be away before others are refused.
    package static let patience = Milliseconds(1000)
    /// How often a call is let through while the broker is away.
    package static let probeInterval = Milliseconds(500)

    private enum State: Hashable {
        /// Delivers, as far as is known; then suspected.
        case there
        /// A loss was told, and nothing was passed on since; then tried, or there.
        case suspected
        /// Something waits since; refuses from `patience` on, but for a probe at a time; then there.
        case tried(since: Timestamp, nextProbe: Timestamp)
    }

    private var state = State.there

    /// A broker that is there.
    package init() {}

    /// Whether the broker is there, as far as is known.
    package var isThere: Bool { self.state == .there }

    /// The client lost the broker, or could not deliver.
    package mutating func lost(at now: Timestamp) {
        if self.state == .there { self.state = .suspected }
    }

    /// Something was delivered.
    package mutating func delivered() { self.state = .there }

    /// Whether a call may be passed on now.
    package mutating func admits(at now: Timestamp) -> Bool {
        switch self.state {
        case .there: return true
        case .suspected:
            self.state = .tried(since: now, nextProbe: now + Self.patience)
            return true
        case .tried(let since, let nextProbe):
            if now < since + Self.patience { return true }
            guard now >= nextProbe else { return false }
            self.state = .tried(since: since, nextProbe: now + Self.probeInterval)
            return true
        }
    }
}
