// SPDX-License-Identifier: Apache-2.0
internal import ChildProcess
internal import Concurrency

/// Faults of the infrastructure that need no rights beyond those of the cluster's own user.
extension LocalCluster {
    /// Makes Redis forget all data (FLUSHALL) and waits for its answer, at most some seconds.
    ///
    /// - Returns: whether Redis has done it.
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
    ///   - bytes: the limit in bytes; nil: none. It is lost when the process ends.
    /// - Throws: `unknownProcess`, `notAlive` when it is down, or `missingProgram` without util-linux's `prlimit`.
    package func limitFileSize(of name: String, to bytes: UInt64?) async throws(ClusterError) {
        let process = try self.process(named: name)
        guard let pid = process.pid else { throw .notAlive(name) }
        let program = try ProgramFinder.onPath("prlimit", package: "util-linux")
        // The hard limit stays as it is: only a privileged process may raise it again.
        let command = [program, "--pid", "\(pid)", "--fsize=\(bytes.map(String.init) ?? "unlimited"):"]
        await runOnDedicatedThread("cluster-prlimit") {
            // A process that has ended meanwhile has no limit.
            _ = ChildProcess.run(command, environment: ["PATH": "/usr/bin:/bin"], output: .nothing)
        }
    }

    /// Starts a process anew with a clock of the day that is wrong, by libfaketime; its monotonic clock stays right.
    ///
    /// - Parameters:
    ///   - name: the process.
    ///   - seconds: how far its clock is ahead; negative: behind; 0: it is right again.
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
