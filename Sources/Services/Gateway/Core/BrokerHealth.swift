// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// A circuit breaker that decides whether calls may be forwarded to the broker.
///
/// The Kafka client reports every lost connection, even an idle one or one that it reopens immediately. So a lost
/// connection alone does not make calls fail. The broker is considered unavailable if a record timed out, or if nothing
/// was delivered within `timeout` after the first call that was forwarded since the loss. From then on calls are
/// rejected, and a probe sends small requests until the broker answers one.
package struct BrokerHealth: Hashable, Sendable {
    /// How long the first call after a lost connection may remain undelivered before further calls are rejected.
    package static let timeout = Milliseconds(1000)

    private enum State: Hashable {
        /// Closed circuit: the broker delivers, as far as is known. Next: `suspected` or `unavailable`.
        case healthy
        /// A connection was lost, or the probe was answered, and no call was forwarded since. The next call is the
        /// test. Next: `testing`, `healthy` or `unavailable`.
        case suspected
        /// The first call after the loss was forwarded at `since`, and nothing has been delivered since then. Next:
        /// `healthy`, or `unavailable` after `timeout`.
        case testing(since: MonotonicTime)
        /// Open circuit: calls are rejected. Next: `suspected` when the probe is answered, `healthy` when a record is
        /// delivered.
        case unavailable
    }

    private var state = State.healthy
    /// Whether a probe has begun and has not ended.
    private var isProbing = false

    /// Creates a circuit breaker that admits calls.
    package init() {}

    /// Whether the broker delivers, as far as is known; false while a call tests whether the broker delivers.
    package var isHealthy: Bool { self.state == .healthy }

    /// Records that the client lost a connection or could not read.
    package mutating func connectionLost() {
        if self.state == .healthy { self.state = .suspected }
    }

    /// Records that the delivery of a record timed out.
    package mutating func deliveryTimedOut() { self.state = .unavailable }

    /// Records that a record was delivered.
    package mutating func recordDelivered() { self.state = .healthy }

    /// Records that the broker answered the probe.
    ///
    /// The next call tests whether the broker also accepts records.
    package mutating func probeAnswered() {
        if self.state == .unavailable { self.state = .suspected }
    }

    /// Returns whether a call may be forwarded now; if so, the caller must forward it.
    package mutating func admitCall(at now: MonotonicTime) -> Bool {
        switch self.state {
        case .healthy: return true
        case .suspected:
            self.state = .testing(since: now)
            return true
        case .testing(let since):
            if now < since + Self.timeout { return true }
            self.state = .unavailable
            return false
        case .unavailable: return false
        }
    }

    /// Returns whether the caller must start a probe now.
    ///
    /// After this method has returned true, it returns false until `continueProbing` has ended the probe.
    package mutating func beginProbing() -> Bool {
        guard self.state == .unavailable, !self.isProbing else { return false }
        self.isProbing = true
        return true
    }

    /// Returns whether the running probe must send another request; if not, the probe ends.
    package mutating func continueProbing() -> Bool {
        self.isProbing = self.state == .unavailable
        return self.isProbing
    }
}
