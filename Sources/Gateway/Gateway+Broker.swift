// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import CoreKit
internal import GatewayCore

/// Whether the broker takes calls: who tells, who asks.
extension Gateway {
    /// Whether the broker delivers, as far as is known.
    var isBrokerThere: Bool { self.health.withLock { $0.isThere } }

    /// From now on a broker that is away is asked by `probe`; without one, only a delivery shows that it is back.
    package func attach(_ probe: BrokerProbe) { self.probe.withLock { $0 = probe } }

    /// Whether a call may be passed on now.
    func brokerAdmits() -> Bool {
        let now = MonotonicClock.now
        let (admits, begins) = self.health.withLock { ($0.admits(at: now), $0.beginsAsking()) }
        if begins { self.beginAsking() }
        return admits
    }

    /// The broker's client lost the broker; any thread.
    package func brokerLost() { self.health.withLock { $0.lost() } }

    /// Something was delivered to the broker; any thread.
    package func brokerDelivered() { self.health.withLock { $0.delivered() } }

    /// The broker answered the probe.
    func brokerAnswered() { self.health.withLock { $0.answered() } }

    /// Whether the probe must ask once more.
    func goesOnAsking() -> Bool { self.health.withLock { $0.goesOnAsking() } }

    /// A record with this token is lost; any thread.
    ///
    /// - Parameters:
    ///   - token: the call's, or 0.
    ///   - isBrokerAway: the broker did not take it in time; otherwise it was refused, by the broker or by a queue.
    package func notDelivered(token: UInt64, isBrokerAway: Bool = true) {
        if isBrokerAway {
            let begins = self.health.withLock { health in
                health.timedOut()
                return health.beginsAsking()
            }
            if begins { self.beginAsking() }
        }
        if token != 0 { self.post(Int(token >> 48), [.notDelivered(token: token)]) }
    }

    private func beginAsking() { self.probe.withLock { $0 }?.begin(for: self) }
}
