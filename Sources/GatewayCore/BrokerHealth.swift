// SPDX-License-Identifier: Apache-2.0
package import CoreKit

/// Whether calls can be passed on at all: while the broker is away they are refused at once, with a hint when to try
/// again, but for one in a while that finds out whether it is back.
package struct BrokerHealth: Hashable, Sendable {
    /// How often a call is let through while the broker is away.
    package static let probeInterval = Milliseconds(500)

    private var nextProbe: Timestamp?

    /// A broker that is there.
    package init() {}

    /// Whether the broker is there, as far as is known.
    package var isThere: Bool { self.nextProbe == nil }

    /// The client lost the broker, or could not deliver.
    package mutating func lost(at now: Timestamp) {
        if self.nextProbe == nil { self.nextProbe = now + Self.probeInterval }
    }

    /// Something was delivered.
    package mutating func delivered() { self.nextProbe = nil }

    /// Whether a call may be passed on now.
    package mutating func admits(at now: Timestamp) -> Bool {
        guard let nextProbe else { return true }
        if now < nextProbe { return false }
        self.nextProbe = now + Self.probeInterval
        return true
    }
}
