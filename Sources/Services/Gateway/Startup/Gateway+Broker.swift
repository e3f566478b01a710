// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import GatewayCore

/// The gateway's circuit breaker for the broker: its inputs, and the probe that it starts.
extension Gateway {
    /// Whether the broker delivers, as far as is known.
    var isBrokerThere: Bool { self.health.withLock { $0.isThere } }

    /// Sets the probe for an unreachable broker.
    ///
    /// Without a probe, only a delivery shows that the broker is back.
    package func attach(_ probe: BrokerProbe) { self.probe.withLock { $0 = probe } }

    /// Returns whether a call may be forwarded now, and starts the probe if the circuit breaker has just opened.
    func brokerAdmits() -> Bool {
        let now = MonotonicClock.now
        let (admits, begins) = self.health.withLock { ($0.admits(at: now), $0.startsProbing()) }
        if begins { self.startProbe() }
        return admits
    }

    /// Records that the Kafka client lost a connection or could not read.
    ///
    /// May be called from any thread.
    package func brokerLost() { self.health.withLock { $0.lost() } }

    /// Records that a record was delivered to the broker.
    ///
    /// May be called from any thread.
    package func brokerDelivered() { self.health.withLock { $0.delivered() } }

    /// Records that the broker answered the probe.
    func brokerAnswered() { self.health.withLock { $0.answered() } }

    /// Returns whether the probe must send another request.
    func continuesProbing() -> Bool { self.health.withLock { $0.continuesProbing() } }

    /// Reports that the record with this token was lost.
    ///
    /// May be called from any thread.
    ///
    /// - Parameters:
    ///   - token: The token of the call, or 0.
    ///   - isBrokerAway: Whether the record timed out; otherwise it was refused by the broker or by a queue.
    package func notDelivered(token: UInt64, isBrokerAway: Bool = true) {
        if isBrokerAway {
            let begins = self.health.withLock { health in
                health.timedOut()
                return health.startsProbing()
            }
            if begins { self.startProbe() }
        }
        if token != 0 { self.post(Int(token >> 48), [.notDelivered(token: token)]) }
    }

    private func startProbe() { self.probe.withLock { $0 }?.begin(for: self) }
}
