// SPDX-License-Identifier: Apache-2.0
internal import ChildProcess
internal import Concurrency
internal import Foundation
internal import Glibc

/// A whole LivePlaza on this machine: Redis, the broker and the services as child processes, supervised.
///
/// `start()` brings everything up, `stop()` ends everything in order. The kernel kills every child when this process
/// dies, however it does. All calls may come from any task; what blocks does so on threads of its own.
package final class LocalCluster: Sendable {
    /// As given.
    package let options: ClusterOptions
    /// Logs, state and keys.
    package let directory: RunDirectory

    let roster = Monitor(Roster())
    private let lock = Locked<FileLock?>(nil)
    private let parts = Locked<ClusterParts?>(nil)

    /// Describes a cluster; starts nothing.
    package init(_ options: ClusterOptions) {
        self.options = options
        self.directory = RunDirectory(options.runDirectory)
    }

    // MARK: Life

    /// Starts Redis and the broker, and when both answer, the services.
    ///
    /// On failure everything is ended again.
    ///
    /// Returns when the services were started, not when they are ready: see `waitUntilReady`.
    package func start() async throws(ClusterError) {
        let result = await onOwnThread("cluster-start") { () -> Result<Void, ClusterError> in
            do throws(ClusterError) {
                return .success(try self.startInfrastructureThenServices())
            } catch {
                return .failure(error)
            }
        }
        if case .failure(let error) = result {
            // The lock is another's when it was refused; then there is nothing of ours to stop.
            if self.lock.withLock({ $0 != nil }) { await self.stop() }
            throw error
        }
    }

    /// Waits until every process that shall run is ready.
    ///
    /// - Parameters:
    ///   - limit: how long to wait.
    ///   - asksAnew: whether what was ready before must say so again, as after a signal or a fault elsewhere.
    /// - Throws: `ended` when one keeps dying or died for good; `notReady` when the time is over.
    package func waitUntilReady(
        within limit: Duration = .seconds(60), asksAnew: Bool = true
    ) async throws(ClusterError) {
        let deadline = Date(timeIntervalSinceNow: limit / .seconds(1))
        try await onOwnThread("cluster-wait") { () -> Result<Void, ClusterError> in
            if asksAnew { self.roster.update { Self.forgetReadiness(in: &$0) } }
            return self.awaitReady(until: deadline)
        }.get()
    }

    /// Ends all: the services and the demo first, then the broker and Redis; what has not ended after 5 s is killed.
    package func stop() async {
        await onOwnThread("cluster-stop") {
            self.roster.update { $0.isStopping = true }
            self.end { $0.plan.service != nil || $0.plan.kind == "demo" }
            self.end { _ in true }
            self.roster.update { $0.isOver = true }
            // Only what is ours: the directory may be another cluster's, which is why this one did not start.
            guard self.lock.withLock({ $0 != nil }) else { return }
            try? FileManager.default.removeItem(atPath: self.directory.stateFile)
        }
        self.lock.withLock { $0 = nil }
    }

    /// Kills everything at once, for the second Ctrl-C; `stop()` then finds nothing left.
    package func killAll() {
        self.roster.update { roster in
            roster.isStopping = true
            for member in roster.members {
                roster[member.plan.name]?.wanted = .gone
                member.send(SIGKILL)
            }
        }
    }

    // MARK: What runs

    /// What runs now, as `state.json` says it.
    package var state: ClusterState { self.state(of: self.roster.current) }

    /// All processes, in the order in which they were started.
    package var processes: [ClusterState.Process] { self.state.processes }

    /// Where the gateways are reached.
    package var gateways: [ClusterState.Gateway] { self.state.gateways }

    /// The process with this name, such as `barrage-fanout-1`.
    package func process(named name: String) throws(ClusterError) -> ClusterState.Process {
        guard let process = self.processes.first(where: { $0.name == name }) else { throw .unknownProcess(name) }
        return process
    }

    /// Waits for a change of what runs.
    ///
    /// - Parameter version: the version of the last change seen; 0 at first.
    /// - Returns: what runs now; nil when the cluster is over.
    package func change(after version: Int) async -> (version: Int, state: ClusterState)? {
        let roster: Roster? = await onOwnThread("cluster-change") {
            let found: Roster?? = self.roster.wait(until: .distantFuture) { roster in
                if roster.version > version { return .some(roster) }
                return roster.isOver ? .some(nil) : nil
            }
            return found ?? nil
        }
        return roster.map { ($0.version, self.state(of: $0)) }
    }

    // MARK: Doing things to processes

    /// Sends a signal, such as SIGSTOP and SIGCONT.
    ///
    /// - Throws: `unknownProcess`, or `notAlive` when it is down.
    package func signal(_ name: String, _ number: Int32) throws(ClusterError) {
        let sent = self.roster.update { roster -> Result<Void, ClusterError> in
            guard let member = roster[name] else { return .failure(.unknownProcess(name)) }
            guard member.pid != nil else { return .failure(.notAlive(name)) }
            member.send(number)
            return .success(())
        }
        try sent.get()
    }

    /// Kills a process and waits until it is gone.
    ///
    /// It comes back by itself if the cluster restarts what dies.
    package func kill(_ name: String, _ number: Int32 = SIGKILL) async throws(ClusterError) {
        let killed = self.roster.update { roster -> Result<Int32, ClusterError> in
            guard let member = roster[name] else { return .failure(.unknownProcess(name)) }
            guard let pid = member.pid else { return .failure(.notAlive(name)) }
            roster[name]?.endWasAsked = true
            member.send(number)
            return .success(pid)
        }
        let pid = try killed.get()
        await onOwnThread("cluster-kill") {
            _ = self.roster.wait(until: .distantFuture) { $0[name]?.pid == pid ? nil : true }
        }
    }

    /// Ends a process in order, if it lives, and starts it again at once; returns when it has a pid.
    package func restart(_ name: String) async throws(ClusterError) {
        try await onOwnThread("cluster-restart") { () -> Result<Void, ClusterError> in
            guard let old = self.roster.current[name] else { return .failure(.unknownProcess(name)) }
            self.roster.update { roster in
                roster[name]?.wanted = .up
                roster[name]?.startsAtOnce = true
                roster[name]?.endWasAsked = true
                roster[name]?.askToEnd()
            }
            let isNew = { @Sendable (roster: Roster) -> Bool? in
                guard let member = roster[name] else { return true }
                return member.starts > old.starts && member.pid != nil ? true : nil
            }
            if self.roster.wait(until: Date(timeIntervalSinceNow: Self.graceSeconds), for: isNew) == nil {
                self.roster.update { if $0[name]?.pid == old.pid { $0[name]?.send(SIGKILL) } }
                _ = self.roster.wait(until: Date(timeIntervalSinceNow: Self.graceSeconds), for: isNew)
            }
            return .success(())
        }.get()
    }

    /// Starts one more instance of a service and returns its name.
    @discardableResult
    package func add(_ kind: ServiceKind) throws(ClusterError) -> String {
        guard let parts = self.parts.withLock({ $0 }) else { throw .notRunning(runDirectory: self.directory.path) }
        let number = self.roster.update { roster in
            roster.instances[kind, default: 0] += 1
            return roster.instances[kind, default: 1]
        }
        let plan = try parts.service(kind, number: number, options: self.options)
        self.supervise(plan, wanted: .up)
        return plan.name
    }

    /// Ends a process in order and forgets it; returns when it is gone.
    package func remove(_ name: String) async throws(ClusterError) {
        guard self.roster.current[name] != nil else { throw .unknownProcess(name) }
        await onOwnThread("cluster-remove") {
            self.end { $0.plan.name == name }
            self.roster.update { $0[name] = nil }
        }
    }

    // MARK: Inside

    /// How long a process may take to end in order.
    private static let graceSeconds = 5.0

    private func startInfrastructureThenServices() throws(ClusterError) {
        if let problem = self.options.problem { throw .badOption(problem) }
        try self.directory.create()
        let lock = try self.directory.lock()
        self.lock.withLock { $0 = lock }
        // What no service would take is told once, before any is started.
        let apps = try AppsFile.Source(
            environment: ClusterParts.environment(self.options), else: self.directory.appsFile)
        switch apps {
        case .file(let path): try AppsFile.prepare(at: path, feedBudget: self.options.feedBudget)
        case .json: try AppsFile.keyring(in: apps)
        }
        let parts = try ClusterParts(options: self.options, directory: self.directory, apps: apps)
        self.parts.withLock { $0 = parts }
        let state = self.directory.stateFile
        Watch(roster: self.roster) { [weak self] roster in
            // A state file that cannot be written is seen by whoever reads it; the processes go on.
            guard let self, let data = try? self.state(of: roster).encoded() else { return }
            try? RunDirectory.write(data, to: state, mode: 0o600)
        }.start()

        self.supervise(parts.redis, wanted: .up)
        if let home = parts.kafkaHome { try home.prepare() }
        for plan in parts.brokers { self.supervise(plan, wanted: .up) }
        if case .external(let address) = self.options.broker {
            guard Inquiry.kafka(bootstrap: address) else { throw .noKafka(address) }
        }
        if let address = parts.knownKafka { self.roster.update { $0.kafka = address } }
        try self.awaitReady(until: Date(timeIntervalSinceNow: 60)).get()

        for kind in ServiceKind.allCases {
            for _ in 0..<self.options.instances(of: kind) { try self.add(kind) }
        }
        if let demo = parts.demo { self.supervise(demo, wanted: .held) }
        self.roster.update { roster in
            roster.isWhole = true
            roster.version += 1
        }
    }

    private static func forgetReadiness(in roster: inout Roster) {
        for member in roster.members {
            if case .http = member.plan.probe { roster[member.plan.name]?.isReady = false }
        }
    }

    private func supervise(_ plan: ProcessPlan, wanted: Wanted) {
        let begins = self.roster.update { roster -> Bool in
            guard !roster.isStopping else { return false }
            var member = Member(plan: plan)
            member.wanted = wanted
            roster.members.append(member)
            roster.version += 1
            return true
        }
        guard begins else { return }
        Supervisor(name: plan.name, roster: self.roster, restartsWhatDies: self.options.restartsWhatDies).start()
    }

    /// Waits for readiness; a process that ends five times without having been ready is given up.
    private func awaitReady(until deadline: Date) -> Result<Void, ClusterError> {
        let outcome = self.roster.wait(until: deadline) { roster -> Result<Void, ClusterError>? in
            if roster.isStopping { return .failure(.notRunning(runDirectory: self.directory.path)) }
            // What was ready once and stays dead, as asked, is no failed start.
            let expected = roster.members.filter {
                $0.wanted == .up || ($0.wanted == .down && !$0.endWasAsked && $0.endsWithoutReady > 0)
            }
            let lost = expected.first { $0.pid == nil && ($0.wanted == .down || $0.endsWithoutReady >= 5) }
            if let lost, let end = lost.lastEnd {
                return .failure(
                    .ended(process: lost.plan.name, how: end.description, log: lost.plan.log, lastLines: ""))
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
            let late = self.roster.current.members.filter { $0.wanted == .up && !($0.pid != nil && $0.isReady) }
            let logs = late.map { "  \($0.plan.log):\n" + RunDirectory.lastLines(of: $0.plan.log, count: 4) }
            return .failure(.notReady(late.map(\.plan.name), lastLines: logs.joined(separator: "\n")))
        }
    }

    /// Ends the members that match, all at once: SIGTERM, then after the grace SIGKILL.
    ///
    /// Returns when all are reaped.
    private func end(_ matches: @escaping @Sendable (Member) -> Bool) {
        self.roster.update { roster in
            for member in roster.members where matches(member) {
                roster[member.plan.name]?.wanted = .gone
                roster[member.plan.name]?.endWasAsked = true
                member.askToEnd()
            }
        }
        let allGone = { @Sendable (roster: Roster) -> Bool? in
            roster.members.allSatisfy { !matches($0) || $0.isOver } ? true : nil
        }
        if self.roster.wait(until: Date(timeIntervalSinceNow: Self.graceSeconds), for: allGone) != nil { return }
        self.roster.update { roster in
            for member in roster.members where matches(member) { member.send(SIGKILL) }
        }
        _ = self.roster.wait(until: Date(timeIntervalSinceNow: Self.graceSeconds), for: allGone)
    }
}
