// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import MachineKit
import Testing

@testable import ChaosKit

/// Tests of what a fault excuses about joins, leaves and leases (I4).
struct FaultWindowTests {
    private static let shape = ClusterShape(
        instances: Dictionary(uniqueKeysWithValues: ServiceKind.allCases.map { ($0, 2) }), brokers: 1)

    /// What the limits of a fault excuse, with times in seconds.
    ///
    /// `standstill`: how much later leases may end. `recovery`: how long after the fault joins and leaves may show
    /// late. `losesLeases`: whether leases may be lost.
    private static func excuses(
        _ fault: Fault, brokers: Int = 1
    ) -> (standstill: Int, recovery: Int, losesLeases: Bool) {
        var shape = Self.shape
        shape.brokers = brokers
        let limits = RecoveryLimits(of: fault, in: shape)
        return (
            Int(limits.leaseStandstill / .seconds(1)), Int(limits.recovery / .seconds(1)), limits.losesLeases
        )
    }

    @Test func `only faults of presence, of Redis and of a broker stop the leases`() {
        // Another instance takes over within 5 s, however long the first one is stopped.
        #expect(Self.excuses(.kill(["audience-presence-1"])) == (5, 15, false))
        #expect(Self.excuses(.freeze(["audience-presence-2"], seconds: 20)) == (5, 15, false))
        #expect(Self.excuses(.rollingRestart(.audiencePresence)) == (10, 15, false))
        #expect(Self.excuses(.interrupt(.kafka("audience-presence-1"), .cut, seconds: 5)) == (5, 15, false))
        #expect(Self.excuses(.kill(["gateway-1", "audience-presence-1"])) == (5, 15, false))
        #expect(Self.excuses(.kill(["gateway-1"])) == (0, 15, false))
        #expect(Self.excuses(.freeze(["barrage-fanout-1"], seconds: 20)) == (0, 15, false))
        #expect(Self.excuses(.setClock("room-directory-1", ahead: 30, seconds: 12)) == (0, 15, false))
        #expect(Self.excuses(.freeze(["broker-1"], seconds: 8)) == (28, 20, false))
        #expect(Self.excuses(.kill(["broker-1"]), brokers: 3) == (8, 20, false))
    }

    @Test func `heartbeats that wait at a gateway for the broker make leases last longer`() {
        #expect(Self.excuses(.interrupt(.kafka("gateway-1"), .silence([.toClient]), seconds: 8)) == (8, 15, false))
        #expect(Self.excuses(.freeze(["gateway-2"], seconds: 20)) == (20, 15, false))
        #expect(Self.excuses(.interrupt(.kafka("barrage-fanout-1"), .cut, seconds: 5)) == (0, 15, false))
    }

    @Test func `a fault of Redis, or of the way to it, may lose leases, or let them end later by its time and 20 s`() {
        // 5 s until Redis is back, and 15 s until audiences are true again.
        #expect(Self.excuses(.kill(["redis"])) == (20, 20, true))
        #expect(Self.excuses(.flushRedis) == (20, 20, true))
        #expect(Self.excuses(.freeze(["redis"], seconds: 10)) == (30, 20, true))
        let silence = Interruption.silence([.toServer, .toClient])
        #expect(Self.excuses(.interrupt(.redis("audience-presence-1"), silence, seconds: 12)) == (32, 20, true))
    }

    @Test func `a fault is recorded with its begin and its end`() async throws {
        let log = FaultLog()
        let round = ChaosRound(
            number: 1, fault: .flushRedis, delay: .seconds(1), limits: RecoveryLimits(of: .flushRedis, in: Self.shape))
        let isOpen = await log.record(round) { log.windows.first?.end == nil }
        #expect(isOpen)
        let window = try #require(log.windows.first)
        let end = try #require(window.end)
        #expect(window.fault == "FLUSHALL to Redis" && window.begin <= end && window.losesLeases)
        #expect(window.recoveredAt == end + .seconds(20))
    }
}
