// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Testing

/// Tests of commands that change running processes, and fail.
struct FaultCommandTests {
    @Test func `a limit that could not be set is an error`() async {
        // No process has the highest possible number.
        await #expect(throws: ClusterError.commandFailed(command: "prlimit", reason: "ended with status 1")) {
            try await LocalCluster.limitFileSize(of: .max, to: 0)
        }
    }

    @Test func `a FLUSHALL without Redis is an error`() async {
        let cluster = LocalCluster(ClusterOptions(runDirectory: "unused"))
        await #expect(throws: ClusterError.unknownProcess("redis")) { try await cluster.flushRedis() }
    }
}
