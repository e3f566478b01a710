// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import TestSupport
import Testing

/// Large batches of joins and heartbeats.
@Suite(.serialized, .timeLimit(.minutes(3))) struct ThroughputTests {
    @Test func `ten thousand heartbeats in one batch extend the leases of ten thousand sessions`() throws {
        let redis = try RealRedis()
        let partition = try PartitionHarness(redisPort: redis.port)
        let sessionCount = 10_000
        var beats: [Heartbeat] = []
        let clock = ContinuousClock()
        for index in 0..<sessionCount {
            let offset = partition.write(.join(caller: PartitionHarness.caller("user-\(index)", counter: 1)))
            // Each heartbeat is a millisecond older than the one before, so the oldest of the 10,000 is 10 s old.
            let silence = Milliseconds(Int64(index))
            beats.append(PartitionHarness.heartbeat("user-\(index)", ticket: offset, silentFor: silence))
        }
        let joinDuration = try clock.measure { try partition.processAndCommit() }
        partition.write(.heartbeats(beats: beats), after: .seconds(1))
        let heartbeatDuration = try clock.measure { try partition.processAndCommit() }
        print("\(sessionCount) joins in \(joinDuration), their heartbeats in \(heartbeatDuration) (debug build)")
        // A lease lasts 90 s from its heartbeat, and has expired 2 s later at the latest (I4 in docs/RULES.md).
        let (leaseSeconds, latestExpirySeconds) = (90, 92)
        let oldestHeartbeatSeconds = sessionCount / 1000
        let secondsWithoutExpiry = leaseSeconds - oldestHeartbeatSeconds
        #expect(PartitionHarness.leftUsers(try partition.tick(seconds: secondsWithoutExpiry)).isEmpty)
        // At most 5000 leases expire at one tick, so the test waits for longer than a single lease needs.
        let spareSeconds = 10
        let remainingSeconds = latestExpirySeconds - secondsWithoutExpiry + spareSeconds
        #expect(PartitionHarness.leftUsers(try partition.tick(seconds: remainingSeconds)).count == sessionCount)
    }
}
