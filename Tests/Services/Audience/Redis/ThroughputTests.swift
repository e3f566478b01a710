// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import TestSupport
import Testing

/// Large batches of joins and heartbeats.
@Suite(.serialized, .timeLimit(.minutes(3))) struct ThroughputTests {
    @Test func `ten thousand heartbeats in one batch extend the leases of ten thousand sessions`() throws {
        let redis = try LiveRedis()
        let partition = try PartitionHarness(redis: redis.port)
        let count = 10_000
        var beats: [Heartbeat] = []
        let clock = ContinuousClock()
        for index in 0..<count {
            let offset = partition.write(.join(caller: PartitionHarness.caller("user-\(index)", counter: 1)))
            beats.append(PartitionHarness.beat("user-\(index)", ticket: offset, silentFor: Int64(index % 10_000)))
        }
        let joinDuration = try clock.measure { try partition.processAndCommit() }
        partition.write(.heartbeats(beats: beats), after: .seconds(1))
        let heartbeatDuration = try clock.measure { try partition.processAndCommit() }
        print("10,000 joins in \(joinDuration), 10,000 heartbeats in one batch in \(heartbeatDuration) (debug build)")
        // The heartbeats are up to 10 s old and leases last 90 s: no lease expires within 80 s, all expire within 92 s.
        // The test waits for ten seconds more: 80 + 22 = 92 + 10 s.
        #expect(PartitionHarness.leftUsers(try partition.tick(seconds: 80)).isEmpty)
        #expect(PartitionHarness.leftUsers(try partition.tick(seconds: 22)).count == count)
    }
}
