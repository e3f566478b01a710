// SPDX-License-Identifier: Apache-2.0
internal import ChildProcess
internal import Concurrency
internal import Foundation

/// Faults of the infrastructure that need no rights beyond those of the cluster's own user.
extension LocalCluster {
    /// Deletes all data of Redis (FLUSHALL) and waits at most 5 s for the answer of Redis.
    ///
    /// - Throws: `unknownProcess` when the cluster has no Redis of its own; `commandFailed` when Redis did not confirm
    ///   the deletion.
    package func flushRedis() async throws(ClusterError) {
        guard let port = self.table.current["redis"]?.plan.ports["redis"] else { throw .unknownProcess("redis") }
        let isConfirmed = await runOnDedicatedThread("cluster-flush") { HealthProbe.flushRedis(port: port) }
        guard isConfirmed else { throw .commandFailed(command: "FLUSHALL", reason: "Redis did not confirm it in 5 s") }
    }

    /// Simulates a full disk: each write of the process that would grow a file beyond a limit fails.
    ///
    /// Writes through memory-mapped files still succeed.
    ///
    /// - Parameters:
    ///   - name: the process.
    ///   - bytes: the limit in bytes; nil removes it. A restarted process has no limit.
    /// - Throws: `unknownProcess`, `notAlive` when it is down, `missingProgram` without util-linux's `prlimit`, or
    ///   `commandFailed` when the limit could not be set, for example because the process has ended meanwhile.
    package func limitFileSize(of name: String, to bytes: UInt64?) async throws(ClusterError) {
        let process = try self.process(named: name)
        guard let pid = process.pid else { throw .notAlive(name) }
        try await Self.limitFileSize(of: pid, to: bytes)
    }

    /// Limits the size of the files of the process with this pid; nil removes the limit.
    ///
    /// - Throws: `missingProgram` without util-linux's `prlimit`; `commandFailed` when the limit could not be set.
    package static func limitFileSize(of pid: Int32, to bytes: UInt64?) async throws(ClusterError) {
        let program = try ProgramFinder.onPath("prlimit", package: "util-linux")
        // Only the soft limit is set, because only a privileged process may raise a hard limit again.
        let command = [program, "--pid", "\(pid)", "--fsize=\(bytes.map(String.init) ?? "unlimited"):"]
        let end = await runOnDedicatedThread("cluster-prlimit") {
            ChildProcess.run(command, environment: ["PATH": "/usr/bin:/bin"], output: .nothing)
        }
        guard end == .exited(0) else { throw .commandFailed(command: "prlimit", reason: end.description) }
    }

    /// Restarts a process with a wrong wall clock, by means of libfaketime; its monotonic clock stays right.
    ///
    /// - Parameters:
    ///   - name: the process.
    ///   - seconds: how far the wall clock is ahead; negative to set it behind, 0 for the right time.
    ///   - library: the file of libfaketime, which `LD_PRELOAD` names.
    /// - Throws: the errors of `restart(_:killingAfter:)`.
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

    /// Whether a process runs, and has loaded a library, such as libfaketime.
    package func hasLoaded(_ library: String, in name: String) -> Bool {
        self.table.current[name]?.pid.map { Self.hasLoaded(library, in: $0) } ?? false
    }

    /// Whether the process with this pid has loaded a library.
    package static func hasLoaded(_ library: String, in pid: Int32) -> Bool {
        // The kernel reports the size 0 for this file. Therefore other functions of Foundation read only its first
        // page.
        guard let file = FileHandle(forReadingAtPath: "/proc/\(pid)/maps"), let maps = try? file.readToEnd() else {
            return false
        }
        return String(decoding: maps, as: UTF8.self).contains(library)
    }
}
