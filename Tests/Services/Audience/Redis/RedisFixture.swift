// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// A Redis server of the test's own, and a partition with an owner and an open live, whose leases are in this Redis.
struct RedisFixture {
    let redis: LiveRedis
    let partition: PartitionHarness

    init() throws {
        self.redis = try LiveRedis()
        self.partition = try PartitionHarness(redis: self.redis.port)
        try self.partition.processAndCommit()
    }
}
