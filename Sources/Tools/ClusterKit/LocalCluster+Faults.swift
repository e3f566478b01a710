// SPDX-License-Identifier: Apache-2.0
internal import ChildProcess
internal import Concurrency

/// Faults of the infrastructure that need no rights beyond those of the cluster's own user.
extension LocalCluster {
    /// Deletes all data of Redis (FLUSHALL) and waits some seconds for its answer.
    ///
    /// - Returns: whether Redis confirmed it.
    @discardableResult
    package func flushRedis() async -> Bool {
        guard let port = self.table.current["redis"]?.plan.ports["redis"] else { return false }
        return await runOnDedicatedThread("cluster-flush") { HealthProbe.flushRedis(port: port) }
    }

    /// Limits the size of the files that a process writes, which to the process is the same as a full disk: each write
    /// that would grow a file beyond the limit fails.
    ///
    /// Files that are mapped into memory can still change.
    ///
    /// - Parameters:
    ///   - name: the process.
    ///   - bytes: the limit in bytes; nil removes it. A restarted process has no limit.
    /// - Throws: `unknownProcess`, `notAlive` when it is down, or `missingProgram` without util-linux's `prlimit`.
    package func limitFileSize(of name: String, to bytes: UInt64?) async throws(ClusterError) {
        let process = try self.process(named: name)
        guard let pid = process.pid else { throw .notAlive(name) }
        let program = try ProgramFinder.onPath("prlimit", package: "util-linux")
        // The hard limit stays as it is: only a privileged process may raise it again.
        let command = [program, "--pid", "\(pid)", "--fsize=\(bytes.map(String.init) ?? "unlimited"):"]
        await runOnDedicatedThread("cluster-prlimit") {
            // A failure is ignored: the process has ended meanwhile, and a restarted one needs no limit.
            _ = ChildProcess.run(command, environment: ["PATH": "/usr/bin:/bin"], output: .nothing)
        }
    }

    /// Restarts a process with a wrong wall clock, by libfaketime; its monotonic clock stays right.
    ///
    /// - Parameters:
    ///   - name: the process.
    ///   - seconds: how far its clock is ahead; negative if it is behind, 0 to correct it.
    ///   - library: the file of libfaketime, which is loaded before all others.
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
