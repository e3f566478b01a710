// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Glibc
import Testing

/// Tests of the commands by which a cluster causes faults, and of the check that a process has loaded a library.
struct FaultCommandTests {
    @Test func `a limit of the file size that cannot be set is an error`() async {
        // No process has the highest possible pid.
        await #expect(throws: ClusterError.commandFailed(command: "prlimit", reason: "ended with status 1")) {
            try await LocalCluster.limitFileSize(of: .max, to: 0)
        }
    }

    @Test func `a library that a process has loaded is found, even if it is near the end of the list`() {
        // The kernel's list is longer than a page of memory, and the C library is one of the last in it.
        #expect(LocalCluster.hasLoaded("/libc.so.6", in: getpid()))
        #expect(!LocalCluster.hasLoaded("/libfaketime.so.1", in: getpid()))
        #expect(!LocalCluster.hasLoaded("/libc.so.6", in: .max))
    }

    @Test func `a FLUSHALL without Redis is an error`() async {
        let cluster = LocalCluster(ClusterOptions(runDirectory: "unused"))
        await #expect(throws: ClusterError.unknownProcess("redis")) { try await cluster.flushRedis() }
    }
}
