// SPDX-License-Identifier: Apache-2.0
package import CoreKit

/// Whether calls can be passed on at all.
///
/// A broker's client tells of every connection that it loses, also of one that it has again in a moment, or that was
/// closed because nobody used it. So a loss alone refuses nothing. The broker counts as away once it did not take a
/// record in time, or once the first call that was passed on since a loss has waited for `patience` without anything
/// being delivered. From then on all calls are refused, and somebody asks in the callers' stead until it answers.
package struct BrokerHealth: Hashable, Sendable {
    /// How long a call may wait for a broker that seems to be away before others are refused.
    package static let patience = Milliseconds(1000)

    private enum State: Hashable {
        /// Delivers, as far as is known; then suspected, or away.
        case there
        /// A loss was told, or it answered after being away, and nothing was passed on since; then tried, there or away.
        case suspected
        /// The first call that was passed on waits since; from `patience` on away, or there.
        case tried(since: Timestamp)
        /// Takes nothing; then suspected when it answers, or there.
        case away
    }

    private var state = State.there
    private var isAsked = false

    /// A broker that is there.
    package init() {}

    /// Whether the broker is there, as far as is known.
    package var isThere: Bool { self.state == .there }

    /// The client lost a connection, or could not read.
    package mutating func lost() {
        if self.state == .there { self.state = .suspected }
    }

    /// A record was not taken in time.
    package mutating func timedOut() { self.state = .away }

    /// Something was delivered.
    package mutating func delivered() { self.state = .there }

    /// The broker answered a question; whether it takes records the next call shows.
    package mutating func answered() {
        if self.state == .away { self.state = .suspected }
    }

    /// Whether a call may be passed on now.
    package mutating func admits(at now: Timestamp) -> Bool {
        switch self.state {
        case .there: return true
        case .suspected:
            self.state = .tried(since: now)
            return true
        case .tried(let since):
            if now < since + Self.patience { return true }
            self.state = .away
            return false
        case .away: return false
        }
    }

    /// Whether somebody must begin now to ask the broker; says so once, until `goesOnAsking` has said no.
    package mutating func beginsAsking() -> Bool {
        guard self.state == .away, !self.isAsked else { return false }
        self.isAsked = true
        return true
    }

    /// Whether who began to ask must ask once more; if not, it is done.
    package mutating func goesOnAsking() -> Bool {
        self.isAsked = self.state == .away
        return self.isAsked
    }
}
