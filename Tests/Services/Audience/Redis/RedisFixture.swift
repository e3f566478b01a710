// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// A Redis server private to the test, and a partition on it that has handled its first inputs.
struct RedisFixture {
    let redis: LiveRedis
    let partition: PartitionHarness

    init() throws {
        self.redis = try LiveRedis()
        self.partition = try PartitionHarness(redis: self.redis.port)
        try self.partition.processAndCommit()
    }
}
