// SPDX-License-Identifier: Apache-2.0
internal import ChildProcess
internal import Concurrency
internal import Foundation
internal import Glibc

/// A whole LivePlaza on this machine: Redis, the broker and the services as supervised child processes.
///
/// `start()` starts all processes, `stop()` ends the services before Redis and the broker. The kernel kills every child
/// when this process ends. Any task may call any method; blocking work runs on dedicated threads.
package final class LocalCluster: Sendable {
    /// The options passed to `init`.
    package let options: ClusterOptions
    /// The run directory with logs, state and keys.
    package let directory: RunDirectory

    /// The processes of the cluster; they are the table's `members`.
    let table = ConditionVariable(ProcessTable())
    /// The lock of the run directory; nil unless this cluster holds it.
    private let lock = Locked<FileLock?>(nil)
    /// How each process is run: program, arguments, environment; nil before the start.
    private let plans = Locked<ClusterPlans?>(nil)
    /// The thread that writes `state.json`; nil before the start.
    private let readinessMonitor = Locked<DedicatedThread?>(nil)

    /// Makes a cluster without starting it.
    package init(_ options: ClusterOptions) {
        self.options = options
        self.directory = RunDirectory(options.runDirectory)
    }

    // MARK: Start and stop

    /// Starts Redis and the broker, and, when both are ready, the services.
    ///
    /// Returns when the services have been started. Use `waitUntilReady` to wait for their readiness.
    ///
    /// - Throws: the reason why a process could not be started; all started processes are ended first.
    package func start() async throws(ClusterError) {
        let result = await runOnDedicatedThread("cluster-start") { () -> Result<Void, ClusterError> in
            do throws(ClusterError) {
                return .success(try self.startInfrastructureThenServices())
            } catch {
                return .failure(error)
            }
        }
        if case .failure(let error) = result {
            // If this cluster did not get the lock, another one holds it and there is nothing to stop.
            if self.lock.withLock({ $0 != nil }) { await self.stop() }
            throw error
        }
    }

    /// Waits until every process whose desired state is `running` is ready.
    ///
    /// - Parameters:
    ///   - limit: how long to wait.
    ///   - resetReadiness: whether processes that were ready are probed again, for example after a signal or a fault
    ///     of another process.
    /// - Throws: `ended` when a process has ended without a restart, or ends again and again; `notReady` when `limit`
    ///   is over.
    package func waitUntilReady(
        within limit: Duration = .seconds(60), resetReadiness: Bool = true
    ) async throws(ClusterError) {
        try await runOnDedicatedThread("cluster-wait") { () -> Result<Void, ClusterError> in
            if resetReadiness { self.table.update { Self.resetReadiness(in: &$0) } }
            return self.blockUntilReady(within: limit)
        }.get()
    }

    /// Ends the services and the demo, then the broker and Redis.
    ///
    /// Processes that have not ended 5 s after SIGTERM are killed.
    package func stop() async {
        await runOnDedicatedThread("cluster-stop") {
            self.table.update { $0.isStopping = true }
            self.endMembers { $0.plan.service != nil || $0.plan.kind == "demo" }
            self.endMembers { _ in true }
            self.table.update { $0.hasEnded = true }
            // A cluster without the lock has written nothing into the directory, which may belong to another cluster.
            guard self.lock.withLock({ $0 != nil }) else { return }
            // The monitor may still be writing the file, and would create it again.
            self.readinessMonitor.withLock { $0 }?.join()
            try? FileManager.default.removeItem(atPath: self.directory.stateFile)
        }
        self.lock.withLock { $0 = nil }
    }

    /// Kills all processes at once, for the second Ctrl-C; a `stop()` that still waits for the processes then returns.
    package func killAll() {
        self.table.update { table in
            table.isStopping = true
            for member in table.members {
                table[member.plan.name]?.desiredState = .removed
                member.send(SIGKILL)
            }
        }
    }

    // MARK: State

    /// The current state, in the form of `state.json`.
    package var state: ClusterState { self.state(of: self.table.current) }

    /// All processes, in the order in which they were started.
    package var processes: [ClusterState.Process] { self.state.processes }

    /// The addresses of the gateways.
    package var gateways: [ClusterState.Gateway] { self.state.gateways }

    /// The process with this name, such as `barrage-fanout-1`.
    ///
    /// - Throws: `unknownProcess` when the cluster has no such process.
    package func process(named name: String) throws(ClusterError) -> ClusterState.Process {
        guard let process = self.processes.first(where: { $0.name == name }) else { throw .unknownProcess(name) }
        return process
    }

    /// Waits for a change of the processes.
    ///
    /// - Parameter version: the version that the previous call returned; 0 in the first call.
    /// - Returns: the current state and its version; nil when the cluster has stopped.
    package func waitForChange(after version: Int) async -> (version: Int, state: ClusterState)? {
        let table: ProcessTable? = await runOnDedicatedThread("cluster-change") {
            // The outer optional is nil while the wait continues, the inner one when the cluster has stopped.
            let changed: ProcessTable?? = self.table.wait { table in
                if table.version > version { return .some(table) }
                return table.hasEnded ? .some(nil) : nil
            }
            return changed ?? nil
        }
        return table.map { ($0.version, self.state(of: $0)) }
    }

    // MARK: Signals and instances

    /// Sends a signal, such as SIGSTOP or SIGCONT, to the process `name`.
    ///
    /// - Throws: `unknownProcess`, or `notAlive` when it is down.
    package func signal(_ name: String, _ signal: Int32) throws(ClusterError) {
        let result = self.table.update { table -> Result<Void, ClusterError> in
            guard let member = table[name] else { return .failure(.unknownProcess(name)) }
            guard member.pid != nil else { return .failure(.notAlive(name)) }
            member.send(signal)
            return .success(())
        }
        try result.get()
    }

    /// Kills a process and waits until it has ended.
    ///
    /// The cluster restarts it if `ClusterOptions.restartsExitedProcesses` is set.
    ///
    /// - Throws: `unknownProcess`, or `notAlive` when it is down.
    package func kill(_ name: String, _ signal: Int32 = SIGKILL) async throws(ClusterError) {
        let killedPID = self.table.update { table -> Result<Int32, ClusterError> in
            guard let member = table[name] else { return .failure(.unknownProcess(name)) }
            guard let pid = member.pid else { return .failure(.notAlive(name)) }
            table[name]?.isStopRequested = true
            member.send(signal)
            return .success(pid)
        }
        let pid = try killedPID.get()
        await runOnDedicatedThread("cluster-kill") {
            // The wait ends when the closure returns a value.
            _ = self.table.wait { $0[name]?.pid == pid ? nil : true }
        }
    }

    /// Starts one more instance of a service, and returns the name of the instance.
    ///
    /// - Throws: `notRunning` before the start; `missingProgram` when the service's program is missing; an error when
    ///   the instance gets no port.
    @discardableResult
    package func add(_ kind: ServiceKind) throws(ClusterError) -> String {
        guard let plans = self.plans.withLock({ $0 }) else { throw .notRunning(runDirectory: self.directory.path) }
        let number = self.table.update { table in
            table.instances[kind, default: 0] += 1
            return table.instances[kind, default: 1]
        }
        let plan = try plans.servicePlan(kind, number: number, options: self.options)
        self.supervise(plan, desiredState: .running)
        return plan.name
    }

    /// Ends a process with SIGTERM and removes it from the cluster; returns when it has ended.
    ///
    /// - Throws: `unknownProcess` when the cluster has no such process.
    package func remove(_ name: String) async throws(ClusterError) {
        guard self.table.current[name] != nil else { throw .unknownProcess(name) }
        await runOnDedicatedThread("cluster-remove") {
            self.endMembers { $0.plan.name == name }
            self.table.update { $0[name] = nil }
        }
    }

    // MARK: Private

    /// How long a process may take to end after SIGTERM, before it is killed.
    package static let terminationTimeout = Duration.seconds(5)

    /// How often in a row a process may end without having been ready, before the cluster counts it as failed.
    private static let maxUnreadyEnds = 5

    private func startInfrastructureThenServices() throws(ClusterError) {
        if let validationError = self.options.validationError { throw .badOption(validationError) }
        try self.directory.create()
        let lock = try self.directory.lock()
        self.lock.withLock { $0 = lock }
        // Invalid apps are rejected here, before any service starts. Otherwise every service would report them.
        let apps = try AppsFile.Source(
            environment: ClusterPlans.environment(self.options), defaultFile: self.directory.appsFile)
        switch apps {
        case .file(let path):
            try AppsFile.prepare(
                at: path, feedBudget: self.options.feedBudget, hooks: self.options.hooks,
                additionalApps: self.options.additionalApps)
        case .json: try AppsFile.keyring(in: apps)
        }
        let appsFileParts = try AppsFileParts(apps, directory: self.directory)
        let plans = try ClusterPlans(options: self.options, directory: self.directory, apps: appsFileParts)
        self.plans.withLock { $0 = plans }
        let stateFile = self.directory.stateFile
        let monitor = ReadinessMonitor(table: self.table) { [weak self] table in
            // A failure to write the state file is ignored here: readers of the file detect it, and the processes keep
            // running.
            guard let self, let data = try? self.state(of: table).encoded() else { return }
            try? RunDirectory.write(data, to: stateFile, mode: 0o600)
        }
        self.readinessMonitor.withLock { $0 = monitor.start() }

        self.supervise(plans.redis, desiredState: .running)
        if let home = plans.kafkaHome { try home.prepare() }
        for plan in plans.brokers { self.supervise(plan, desiredState: .running) }
        if case .external(let address) = self.options.broker {
            try HealthProbe.waitForKafka(bootstrap: address, security: self.options.kafkaSecurity)
        }
        if let addresses = plans.knownKafkaAddresses { self.table.update { $0.kafka = addresses } }
        try self.blockUntilReady(within: .seconds(60)).get()

        for kind in ServiceKind.allCases {
            for _ in 0..<self.options.instances(of: kind) { try self.add(kind) }
        }
        if let demo = plans.demo { self.supervise(demo, desiredState: .waiting) }
        self.table.update { table in
            table.listsAllProcesses = true
            table.version += 1
        }
    }

    /// Marks the services, which alone have an HTTP probe, as not ready, so that they are probed again.
    private static func resetReadiness(in table: inout ProcessTable) {
        for member in table.members {
            if case .http = member.plan.probe { table[member.plan.name]?.isReady = false }
        }
    }

    /// Adds a process to the table and starts its supervisor, unless the cluster is stopping.
    private func supervise(_ plan: ProcessPlan, desiredState: DesiredState) {
        let isAdded = self.table.update { table -> Bool in
            guard !table.isStopping else { return false }
            var member = ClusterMember(plan: plan)
            member.desiredState = desiredState
            table.members.append(member)
            table.version += 1
            return true
        }
        guard isAdded else { return }
        Supervisor(name: plan.name, table: self.table, restartsExitedProcesses: self.options.restartsExitedProcesses)
            .start()
    }

    /// Waits until every process that should run is ready; blocks the thread.
    ///
    /// Fails at once when a process has ended without having been ready and is not restarted, or when it has ended like
    /// this `maxUnreadyEnds` times in a row.
    private func blockUntilReady(within limit: Duration) -> Result<Void, ClusterError> {
        let outcome = self.table.wait(timeout: limit) { table -> Result<Void, ClusterError>? in
            if table.isStopping { return .failure(.notRunning(runDirectory: self.directory.path)) }
            // A process counts if it should run, or if it has ended by itself without having been ready. A process that
            // was stopped on request does not count.
            let expected = table.members.filter {
                $0.desiredState == .running
                    || ($0.desiredState == .stopped && !$0.isStopRequested && $0.unreadyEndCount > 0)
            }
            let failed = expected.first {
                $0.pid == nil && ($0.desiredState == .stopped || $0.unreadyEndCount >= Self.maxUnreadyEnds)
            }
            if let failed, let end = failed.lastEnd {
                // The last lines of the log are read below, when the table is not locked any more.
                return .failure(
                    .ended(process: failed.plan.name, how: end.description, log: failed.plan.log, lastLines: ""))
            }
            return expected.allSatisfy { $0.pid != nil && $0.isReady } ? .success(()) : nil
        }
        switch outcome {
        case .success: return .success(())
        case .failure(.ended(let name, let how, let log, _)):
            let lines = RunDirectory.lastLines(of: log)
            return .failure(.ended(process: name, how: how, log: log, lastLines: lines))
        case .failure(let error): return .failure(error)
        case nil:
            let notReady = self.table.current.members.filter {
                $0.desiredState == .running && !($0.pid != nil && $0.isReady)
            }
            let logs = notReady.map { "  \($0.plan.log):\n" + RunDirectory.lastLines(of: $0.plan.log, count: 4) }
            return .failure(.notReady(notReady.map(\.plan.name), lastLines: logs.joined(separator: "\n")))
        }
    }

    /// Ends the members that match, all at once: SIGTERM, then SIGKILL after `terminationTimeout`.
    ///
    /// Returns when all of them are reaped.
    private func endMembers(where matches: @escaping @Sendable (ClusterMember) -> Bool) {
        self.table.update { table in
            for member in table.members where matches(member) {
                table[member.plan.name]?.desiredState = .removed
                table[member.plan.name]?.isStopRequested = true
                member.terminate()
            }
        }
        let allEnded = { @Sendable (table: inout ProcessTable) -> Bool? in
            table.members.allSatisfy { !matches($0) || $0.hasEnded } ? true : nil
        }
        if self.table.wait(timeout: Self.terminationTimeout, for: allEnded) != nil { return }
        self.table.update { table in
            for member in table.members where matches(member) { member.send(SIGKILL) }
        }
        _ = self.table.wait(timeout: Self.terminationTimeout, for: allEnded)
    }
}
