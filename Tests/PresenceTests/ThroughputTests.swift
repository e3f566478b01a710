// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import CoreKit
import PlazaModel
import Presence
import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(3))) struct ThroughputTests {
    @Test func `ten thousand sessions' heartbeats are one script of some tens of milliseconds`() throws {
        let redis = try LiveRedis()
        let partition = try Partition(redis: redis.port)
        let count = 10_000
        var beats: [Beat] = []
        let clock = ContinuousClock()
        for index in 0..<count {
            let offset = partition.write(.join(caller: Partition.caller("user-\(index)", 1)))
            beats.append(Partition.beat("user-\(index)", offset, silentFor: Int64(index % 10_000)))
        }
        let joining = try clock.measure { try partition.run() }
        partition.write(.heartbeats(beats: beats), after: .seconds(1))
        let beating = try clock.measure { try partition.run() }
        print("10,000 joins in \(joining), 10,000 heartbeats in one batch in \(beating) (debug build)")
        #expect(Partition.leftTips(try partition.tick(seconds: 80)).isEmpty)
        #expect(Partition.leftTips(try partition.tick(seconds: 22)).count == count)
    }
}
