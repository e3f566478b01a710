// SPDX-License-Identifier: Apache-2.0
internal import ChildProcess
internal import Concurrency
internal import Glibc

extension LocalCluster {
    /// Ends a process with SIGTERM if it runs, and starts it again without back-off.
    ///
    /// Returns when the new process has a pid.
    ///
    /// - Parameters:
    ///   - name: the process.
    ///   - terminationTimeout: how long the process may take to end and to start again before it is killed. After the
    ///     kill it has the same time once more, to start again.
    /// - Throws: `unknownProcess`, for example when the process is removed meanwhile; `notRunning` when the cluster
    ///   stops; `commandFailed` when the process did not end, or was not started again.
    package func restart(
        _ name: String, killingAfter terminationTimeout: Duration = LocalCluster.terminationTimeout
    ) async throws(ClusterError) {
        try await runOnDedicatedThread("cluster-restart") { () -> Result<Void, ClusterError> in
            self.restartAndWait(name, terminationTimeout)
        }.get()
    }

    private func restartAndWait(_ name: String, _ terminationTimeout: Duration) -> Result<Void, ClusterError> {
        let notRunning = ClusterError.notRunning(runDirectory: self.directory.path)
        let memberOrError = self.table.update { table -> Result<ClusterMember, ClusterError> in
            // A restart must not cancel the removal of a process.
            if table.isStopping { return .failure(notRunning) }
            guard let member = table[name], member.desiredState != .removed else {
                return .failure(.unknownProcess(name))
            }
            table[name]?.desiredState = .running
            table[name]?.isRestartRequested = true
            table[name]?.isStopRequested = true
            member.terminate()
            return .success(member)
        }
        let memberBefore: ClusterMember
        switch memberOrError {
        case .success(let member): memberBefore = member
        case .failure(let error): return .failure(error)
        }
        // Returns the result of the restart; nil while the restart is in progress.
        let findResult = { @Sendable (table: inout ProcessTable) -> Result<Void, ClusterError>? in
            if table.isStopping { return .failure(notRunning) }
            guard let member = table[name], member.desiredState != .removed else {
                return .failure(.unknownProcess(name))
            }
            if member.starts > memberBefore.starts, member.pid != nil { return .success(()) }
            // Without automatic restarts, a process whose start has failed stays down.
            return member.desiredState == .stopped ? .failure(Self.restartError(member, after: memberBefore)) : nil
        }
        if let result = self.table.wait(timeout: terminationTimeout, for: findResult) { return result }
        self.table.update { if $0[name]?.pid == memberBefore.pid { $0[name]?.send(SIGKILL) } }
        if let result = self.table.wait(timeout: terminationTimeout, for: findResult) { return result }
        guard let member = self.table.current[name] else { return .failure(.unknownProcess(name)) }
        return .failure(Self.restartError(member, after: memberBefore))
    }

    /// The error of a restart in which the process has not ended, or has no new pid.
    private static func restartError(_ member: ClusterMember, after memberBefore: ClusterMember) -> ClusterError {
        let reason =
            if member.pid != nil, member.pid == memberBefore.pid {
                "it did not end, even after SIGKILL"
            } else if let end = member.lastEnd {
                "it was not started again after it \(end)"
            } else {
                "it was not started"
            }
        return .commandFailed(command: "the restart of \(member.plan.name)", reason: reason)
    }
}
