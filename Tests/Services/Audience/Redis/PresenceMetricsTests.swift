// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import MachineKit
import Observability
import PlazaModel
import Presence
import Testing

/// What the processor of a partition reports: its metrics, and how many stored rows it could not read.
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

    @Test func `a stored row that cannot be read counts until another version of it, or its removal, is restored`() {
        let registry = MetricsRegistry()
        let processor = PresenceProcessor(
            AudienceMachine(partition: 3, policies: Policies()),
            // Nothing is sent to Redis.
            store: LeaseStore(RedisLeaseConnection.withoutPause(port: 1), partition: 3, lease: .seconds(90)),
            log: .none, metrics: registry)
        let key = AudienceKey.partition.text
        processor.restore(key: key, row: Array("{nonsense".utf8))
        // A key that only another version of presence uses.
        processor.restore(key: "of another version", row: Array("{}".utf8))
        #expect(processor.unreadableRowCount == 2)
        let malformed = registry.counter(MetricNames.Shell.malformed, help: "", labels: ["machine": "audience"])
        #expect(malformed.value == 2)
        processor.restore(key: key, row: nil)
        processor.restore(key: "of another version", row: nil)
        #expect(processor.unreadableRowCount == 0)
    }
}
