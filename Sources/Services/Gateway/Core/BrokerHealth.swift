// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// A circuit breaker that decides whether calls may be forwarded to the broker.
///
/// The Kafka client reports every lost connection, even an idle one or one that it reopens immediately. So a lost
/// connection alone does not make calls fail. The broker is considered away if a record timed out, or if nothing was
/// delivered within `timeout` after the first call that was forwarded since the loss. From then on calls are refused,
/// and a probe runs until the broker answers.
package struct BrokerHealth: Hashable, Sendable {
    /// How long the first call after a lost connection may remain undelivered before further calls are refused.
    package static let timeout = Milliseconds(1000)

    private enum State: Hashable {
        /// Closed circuit: the broker delivers, as far as is known. Next: `suspected` or `away`.
        case there
        /// A connection was lost, or the probe was answered, and no call was forwarded since. Next: `tried`, `there` or
        /// `away`.
        case suspected
        /// The first call was forwarded at that time and nothing was delivered since. Next: `there`, or `away` after
        /// `timeout`.
        case tried(since: MonotonicTime)
        /// Open circuit: calls are refused. Next: `suspected` when the probe is answered, `there` when a record is
        /// delivered.
        case away
    }

    private var state = State.there
    private var isProbed = false

    /// Creates a circuit breaker that admits calls.
    package init() {}

    /// Whether the broker delivers, as far as is known.
    package var isThere: Bool { self.state == .there }

    /// Records that the client lost a connection or could not read.
    package mutating func lost() {
        if self.state == .there { self.state = .suspected }
    }

    /// Records that the delivery of a record timed out.
    package mutating func timedOut() { self.state = .away }

    /// Records that a record was delivered.
    package mutating func delivered() { self.state = .there }

    /// Records that the broker answered the probe.
    ///
    /// The next call tests whether it accepts records.
    package mutating func answered() {
        if self.state == .away { self.state = .suspected }
    }

    /// Returns whether a call may be forwarded now.
    package mutating func admits(at now: MonotonicTime) -> Bool {
        switch self.state {
        case .there: return true
        case .suspected:
            self.state = .tried(since: now)
            return true
        case .tried(let since):
            if now < since + Self.timeout { return true }
            self.state = .away
            return false
        case .away: return false
        }
    }

    /// Returns whether a probe must be started now: true once per outage, until `continuesProbing` has returned false.
    package mutating func startsProbing() -> Bool {
        guard self.state == .away, !self.isProbed else { return false }
        self.isProbed = true
        return true
    }

    /// Returns whether the running probe must send another request; if not, it ends.
    package mutating func continuesProbing() -> Bool {
        self.isProbed = self.state == .away
        return self.isProbed
    }
}
