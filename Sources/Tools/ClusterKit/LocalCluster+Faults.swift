// SPDX-License-Identifier: Apache-2.0
internal import ChildProcess
internal import Concurrency

/// Faults of the infrastructure that need no rights beyond those of the cluster's own user.
extension LocalCluster {
    /// Deletes all data of Redis (FLUSHALL) and waits at most 5 s for its answer.
    ///
    /// - Returns: whether Redis confirmed it.
    @discardableResult
    package func flushRedis() async -> Bool {
        guard let port = self.table.current["redis"]?.plan.ports["redis"] else { return false }
        return await runOnDedicatedThread("cluster-flush") { HealthProbe.flushRedis(port: port) }
    }

    /// Simulates a full disk: each write of the process that would grow a file beyond a limit fails.
    ///
    /// Writes through memory-mapped files still succeed.
    ///
    /// - Parameters:
    ///   - name: the process.
    ///   - bytes: the limit in bytes; nil removes it. A restarted process has no limit.
    /// - Throws: `unknownProcess`, `notAlive` when it is down, or `missingProgram` without util-linux's `prlimit`.
    package func limitFileSize(of name: String, to bytes: UInt64?) async throws(ClusterError) {
        let process = try self.process(named: name)
        guard let pid = process.pid else { throw .notAlive(name) }
        let program = try ProgramFinder.onPath("prlimit", package: "util-linux")
        // Only the soft limit is set, because only a privileged process may raise a hard limit again.
        let command = [program, "--pid", "\(pid)", "--fsize=\(bytes.map(String.init) ?? "unlimited"):"]
        await runOnDedicatedThread("cluster-prlimit") {
            // A failure means that the process has ended meanwhile. It is ignored, because a new process has no limit.
            _ = ChildProcess.run(command, environment: ["PATH": "/usr/bin:/bin"], output: .nothing)
        }
    }

    /// Restarts a process with a wrong wall clock, by means of libfaketime; its monotonic clock stays right.
    ///
    /// - Parameters:
    ///   - name: the process.
    ///   - seconds: how far the wall clock is ahead; negative to set it behind, 0 for the right time.
    ///   - library: the file of libfaketime, which `LD_PRELOAD` names.
    /// - Throws: `unknownProcess`.
    package func restart(_ name: String, clockAhead seconds: Int, library: String) async throws(ClusterError) {
        self.table.update { table in
            guard var environment = table[name]?.plan.environment else { return }
            environment["LD_PRELOAD"] = seconds == 0 ? nil : library
            environment["FAKETIME"] = seconds == 0 ? nil : (seconds > 0 ? "+\(seconds)s" : "\(seconds)s")
            environment["FAKETIME_DONT_FAKE_MONOTONIC"] = seconds == 0 ? nil : "1"
            table[name]?.plan.environment = environment
        }
        try await self.restart(name)
    }
}
