// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import MachineKit
import Observability
import PlazaModel
import Presence
import Testing

/// The metrics of a partition whose process no longer owns it.
@Suite struct PresenceMetricsTests {
    @Test func `a partition that has another owner counts no sessions and no lost leases here`() {
        let registry = MetricsRegistry()
        typealias Names = MetricNames.Audience
        var owner: PresenceProcessor? = PresenceProcessor(
            AudienceMachine(partition: 3, policies: Policies()),
            // Nothing is sent to Redis.
            store: LeaseStore(RedisLeaseConnection.withoutPause(port: 1), partition: 3, lease: .seconds(90)),
            log: .none, metrics: registry)
        let gauges = [Names.members, Names.leasesAway].map {
            registry.gauge($0, help: "", labels: ["partition": "3"])
        }
        for gauge in gauges { gauge.set(1) }
        #expect(owner != nil)
        owner = nil
        #expect(gauges.map(\.value) == [0, 0])
    }
}
