// SPDX-License-Identifier: Apache-2.0
import Concurrency
import MachineKit
import Testing

@testable import Gateway

/// The health check of a gateway's shards, its threads with an event loop each.
///
/// A loop records the time of each turn, so the check notices a loop that does not turn any more.
@Suite struct ShardHealthTests {
    @Test func `each shard records its turns, and shards that record none for 10 s are reported`() async throws {
        try await runOnDedicatedThread {
            // The gateway has two shards.
            let cluster = try FakeCluster()
            let gateway = cluster.gateway
            let start = MonotonicClock.now
            // The test waits until each shard has turned once, for 20 s at most.
            let giveUpAt = start + .seconds(20)
            while gateway.shardTurns.contains(where: { $0.lastTurnAt <= start }), MonotonicClock.now < giveUpAt {
                DedicatedThread.sleep(for: .milliseconds(20))
            }
            #expect(gateway.shardTurns.count == 2)
            for turns in gateway.shardTurns { #expect(turns.lastTurnAt > start) }
            #expect(gateway.hungShards(at: MonotonicClock.now).isEmpty)
            // From now on the loops do not turn.
            gateway.stopImmediately()
            #expect(gateway.hungShards(at: MonotonicClock.now + .seconds(10)) == [0, 1])
        }
    }
}
