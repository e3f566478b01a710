// SPDX-License-Identifier: Apache-2.0
import ChildProcess
import Concurrency
import Testing

@testable import ClusterKit

/// Tests of restarts that fail.
///
/// No process runs: the tests change the table of processes as the thread that supervises a process would change it.
@Suite(.timeLimit(.minutes(1))) struct RestartTests {
    private let cluster = LocalCluster(ClusterOptions(runDirectory: "unused"))

    init() {
        let plan = ProcessPlan(
            name: "gateway-1", kind: "gateway", log: "unused.log", probe: .none, environment: [:], command: { _ in [] })
        self.cluster.table.update { $0.members.append(ClusterMember(plan: plan)) }
    }

    private static func failure(_ reason: String) -> ClusterError {
        .commandFailed(command: "the restart of gateway-1", reason: reason)
    }

    @Test func `a restart after which the process has no pid is an error`() async {
        self.cluster.table.update { $0["gateway-1"]?.lastEnd = .exited(3) }
        await #expect(throws: Self.failure("it was not started again after it ended with status 3")) {
            try await self.cluster.restart("gateway-1", killingAfter: .milliseconds(1))
        }
    }

    @Test func `a restart fails at once when the process could not be started`() async {
        let restart = Task { try await self.cluster.restart("gateway-1", killingAfter: .seconds(600)) }
        await self.waitUntilRequested()
        self.cluster.table.update { table in
            table["gateway-1"]?.lastEnd = .notStarted("no memory")
            table["gateway-1"]?.desiredState = .stopped
        }
        let error = Self.failure("it was not started again after it could not be started: no memory")
        await #expect(throws: error) { try await restart.value }
    }

    @Test func `the restart of a process that is removed meanwhile fails, because the process is unknown`() async {
        let restart = Task { try await self.cluster.restart("gateway-1", killingAfter: .seconds(600)) }
        await self.waitUntilRequested()
        self.cluster.table.update { $0["gateway-1"] = nil }
        await #expect(throws: ClusterError.unknownProcess("gateway-1")) { try await restart.value }
    }

    @Test func `a stopping cluster restarts nothing`() async {
        self.cluster.table.update { $0.isStopping = true }
        await #expect(throws: ClusterError.notRunning(runDirectory: self.cluster.directory.path)) {
            try await self.cluster.restart("gateway-1")
        }
        #expect(self.cluster.table.current["gateway-1"]?.desiredState == .waiting)
    }

    /// Waits until a restart of the process was requested.
    private func waitUntilRequested() async {
        let table = self.cluster.table
        await runOnDedicatedThread {
            _ = table.wait { $0["gateway-1"]?.isRestartRequested == true ? true : nil }
        }
    }
}
