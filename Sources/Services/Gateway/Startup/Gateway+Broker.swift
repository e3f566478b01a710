// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import GatewayCore

/// Reports events to the gateway's circuit breaker for the broker (`BrokerHealth`), and starts the probe, which sends
/// requests to an unreachable broker until the broker answers.
extension Gateway {
    /// Whether the broker takes the gateway's records, as far as is known.
    var isBrokerHealthy: Bool { self.brokerHealth.withLock { $0.isHealthy } }

    /// Sets the probe for an unreachable broker.
    ///
    /// Without a probe, an open circuit breaker closes only when a record is delivered.
    package func attach(_ probe: BrokerProbe) { self.brokerProbe.withLock { $0 = probe } }

    /// Returns whether a call may be forwarded now, and starts the probe if the circuit breaker has just opened.
    func admitBrokerCall() -> Bool {
        let now = MonotonicClock.now
        // `admitCall` may open the circuit breaker, so it is called before `beginProbing`, which returns whether the
        // probe must be started.
        let (isAdmitted, mustProbe) = self.brokerHealth.withLock { ($0.admitCall(at: now), $0.beginProbing()) }
        if mustProbe { self.startProbe() }
        return isAdmitted
    }

    /// Records that the Kafka client lost a connection or could not read.
    ///
    /// May be called from any thread.
    package func brokerConnectionLost() { self.brokerHealth.withLock { $0.connectionLost() } }

    /// Records that a record was delivered to the broker.
    ///
    /// May be called from any thread.
    package func recordDelivered() { self.brokerHealth.withLock { $0.recordDelivered() } }

    /// Records that the broker answered the probe.
    func brokerProbeAnswered() { self.brokerHealth.withLock { $0.probeAnswered() } }

    /// Returns whether the probe must send another request.
    func continueProbing() -> Bool { self.brokerHealth.withLock { $0.continueProbing() } }

    /// Reports a lost record to the shard that wrote it; opens the circuit breaker after a timeout.
    ///
    /// May be called from any thread.
    ///
    /// - Parameters:
    ///   - token: The record's token; with `RecordToken.unreported`, the loss is not reported to a shard.
    ///   - hasTimedOut: Whether the record's delivery timed out; otherwise the broker or a queue rejected the record.
    package func recordLost(token: UInt64, hasTimedOut: Bool = true) {
        if hasTimedOut {
            let mustProbe = self.brokerHealth.withLock { health in
                health.deliveryTimedOut()
                return health.beginProbing()
            }
            if mustProbe { self.startProbe() }
        }
        if token != RecordToken.unreported { self.post(RecordToken.shard(of: token), [.recordLost(token: token)]) }
    }

    private func startProbe() { self.brokerProbe.withLock { $0 }?.begin(for: self) }
}
