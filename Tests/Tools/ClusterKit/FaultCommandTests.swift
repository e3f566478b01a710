// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Glibc
import Testing

/// Tests of commands that change running processes, and fail.
struct FaultCommandTests {
    @Test func `a limit that could not be set is an error`() async {
        // No process has the highest possible number.
        await #expect(throws: ClusterError.commandFailed(command: "prlimit", reason: "ended with status 1")) {
            try await LocalCluster.limitFileSize(of: .max, to: 0)
        }
    }

    @Test func `a library is found among those that a process has loaded, which are more than a page of text`() {
        // The C library is one of the last in the list.
        #expect(LocalCluster.hasLoaded("/libc.so.6", in: getpid()))
        #expect(!LocalCluster.hasLoaded("/libfaketime.so.1", in: getpid()))
        #expect(!LocalCluster.hasLoaded("/libc.so.6", in: .max))
    }

    @Test func `a FLUSHALL without Redis is an error`() async {
        let cluster = LocalCluster(ClusterOptions(runDirectory: "unused"))
        await #expect(throws: ClusterError.unknownProcess("redis")) { try await cluster.flushRedis() }
    }
}
