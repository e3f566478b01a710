// SPDX-License-Identifier: Apache-2.0
import Concurrency
import MachineKit
import Testing

@testable import Gateway

@Suite struct ShardHealthTests {
    @Test func `each shard records its turns, and one that records none for 10 s is reported`() async throws {
        try await runOnDedicatedThread {
            let cluster = try FakeCluster()
            let gateway = cluster.gateway
            let began = MonotonicClock.now
            let deadline = began + .seconds(10)
            while gateway.shardTurns.contains(where: { $0.lastTurnAt <= began }), MonotonicClock.now < deadline {
                DedicatedThread.sleep(for: .milliseconds(20))
            }
            #expect(gateway.shardTurns.count == 2)
            for turns in gateway.shardTurns { #expect(turns.lastTurnAt > began) }
            #expect(gateway.areShardsTurning(at: MonotonicClock.now))
            gateway.stopImmediately()
            #expect(!gateway.areShardsTurning(at: MonotonicClock.now + .seconds(10)))
        }
    }
}
