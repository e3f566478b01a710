// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// A Redis server of the test's own, and a partition of presence that keeps its leases in this Redis.
///
/// The partition has an owner, and its live `PartitionHarness.key` has been opened.
struct RedisFixture {
    let redis: RealRedis
    let partition: PartitionHarness

    init() throws {
        self.redis = try RealRedis()
        self.partition = try PartitionHarness(redisPort: self.redis.port)
        // The inbox has two inputs: the opening of the live, and the tick with which the owner took the partition.
        try self.partition.processAndCommit()
    }
}
