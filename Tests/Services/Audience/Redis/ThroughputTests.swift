// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(3))) struct ThroughputTests {
    @Test func `the heartbeats of ten thousand sessions are handled by one script within tens of milliseconds`() throws
    {
        let redis = try LiveRedis()
        let partition = try PartitionHarness(redis: redis.port)
        let count = 10_000
        var beats: [Heartbeat] = []
        let clock = ContinuousClock()
        for index in 0..<count {
            let offset = partition.write(.join(caller: PartitionHarness.caller("user-\(index)", 1)))
            beats.append(PartitionHarness.beat("user-\(index)", offset, silentFor: Int64(index % 10_000)))
        }
        let joining = try clock.measure { try partition.run() }
        partition.write(.heartbeats(beats: beats), after: .seconds(1))
        let beating = try clock.measure { try partition.run() }
        print("10,000 joins in \(joining), 10,000 heartbeats in one batch in \(beating) (debug build)")
        #expect(PartitionHarness.leftUsers(try partition.tick(seconds: 80)).isEmpty)
        #expect(PartitionHarness.leftUsers(try partition.tick(seconds: 22)).count == count)
    }
}
