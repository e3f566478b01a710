// SPDX-License-Identifier: Apache-2.0
package import ClusterKit
internal import LoadKit
internal import ProtocolClient

/// What a scale test does.
package struct ScalePlan: Sendable {
    /// The services to scale, one after the other.
    package var services: [ServiceKind]
    /// The numbers of instances, rising; the first is the reference.
    package var instances = [1, 2, 4]
    /// How long each step is measured.
    package var measured = Duration.seconds(15)
    /// The number of lives with calls, for each instance.
    ///
    /// The load grows with the instances. Otherwise each instance would get fewer calls in a batch, and the fixed cost
    /// of a batch would make each call more expensive.
    package var lives = 24
    /// The time between two calls of one live.
    package var interval = Duration.milliseconds(150)
    /// A part of all names, unique in the cluster.
    package var name: String
    /// Makes a token for a user.
    package var token: @Sendable (String) -> String

    package init(services: [ServiceKind], name: String, token: @escaping @Sendable (String) -> String) {
        self.services = services
        self.name = name
        self.token = token
    }
}

/// Runs each service with more and more instances under a steady load, and compares what a unit of work costs.
package enum ScaleRunner {
    /// Runs the plan.
    ///
    /// - Parameters:
    ///   - plan: the services and numbers of instances.
    ///   - cluster: a running cluster that this process started, with one instance of each service.
    ///   - say: called with a line before each step.
    /// - Returns: the measured steps.
    /// - Throws: the reason why an instance could not be started, or why the load could not run.
    package static func run(
        _ plan: ScalePlan, on cluster: LocalCluster, say: @escaping @Sendable (String) -> Void
    ) async throws -> ScaleReport {
        var report = ScaleReport()
        for kind in plan.services {
            report.services.append(try await Self.scale(kind, plan, cluster, say))
        }
        return report
    }

    private static func scale(
        _ kind: ServiceKind, _ plan: ScalePlan, _ cluster: LocalCluster, _ say: (String) -> Void
    ) async throws -> ServiceScale {
        var result = ServiceScale(service: kind.rawValue, unit: CallLoad.unit(of: kind))
        var added: [String] = []
        for count in plan.instances {
            say("\(kind.rawValue) with \(count)")
            let missing = count - 1 - added.count
            var names: [String] = []
            // Messages are sent while instances are added, so that a pause, a loss or a repetition is noticed.
            let change = try await Self.load(plan, "\(kind.shortName)\(count)", cluster) {
                // One after the other: a consumer that has just joined its group joins it again only after a second,
                // so a second new member within that time would make the first rebalance last that long.
                for _ in 0..<max(0, missing) {
                    names.append(try cluster.add(kind))
                    try await cluster.waitUntilReady(within: .seconds(60))
                }
                if missing <= 0 { try await cluster.waitUntilReady(within: .seconds(60)) }
            }
            added += names
            var step = try await Self.measure(kind, count, plan, cluster)
            step.pauseMilliseconds = missing > 0 ? change.longestPauseMilliseconds : 0
            step.findings += Self.findings(in: change)
            result.steps.append(step)
        }
        let change = try await Self.load(plan, "\(kind.shortName)0", cluster) {
            for name in added { try await cluster.remove(name) }
        }
        if let last = result.steps.indices.last { result.steps[last].findings += Self.findings(in: change) }
        try await cluster.waitUntilReady(within: .seconds(60))
        return result
    }

    /// Measures the processor time of the instances, idle and under the steady calls.
    private static func measure(
        _ kind: ServiceKind, _ count: Int, _ plan: ScalePlan, _ cluster: LocalCluster
    ) async throws -> ScaleStep {
        let addresses = Self.addresses(cluster)
        let calls = try await CallLoad(
            kind, lives: plan.lives * count, addresses: addresses, name: "\(plan.name)-\(kind.shortName)\(count)c",
            token: plan.token)
        defer { calls.stop() }
        let idleFor = Duration.seconds(5)
        let idleBegin = CPUMeter(kind, in: cluster)
        try await Task.sleep(for: idleFor)
        let idle = CPUMeter(kind, in: cluster).seconds(since: idleBegin) / (idleFor / .seconds(1))
        let task = Task { await calls.run(every: plan.interval) }
        try await Task.sleep(for: .seconds(2))
        let (begin, doneBefore, began) = (CPUMeter(kind, in: cluster), calls.done, ContinuousClock.now)
        try await Task.sleep(for: plan.measured)
        let (end, done, seconds) = (
            CPUMeter(kind, in: cluster), calls.done - doneBefore, (ContinuousClock.now - began) / .seconds(1)
        )
        task.cancel()
        await task.value
        let refused = calls.refused.map { "\($0.value) calls were refused (\($0.key))" }.sorted()
        return ScaleStep(
            instances: count, work: done, seconds: seconds,
            cpuSeconds: max(0, end.seconds(since: begin) - idle * seconds), pauseMilliseconds: 0, findings: refused)
    }

    /// Sends messages in some lives, and performs `change` two seconds after the first message.
    ///
    /// `name` is a part of the names of users, which have at most 32 bytes.
    private static func load(
        _ plan: ScalePlan, _ name: String, _ cluster: LocalCluster, change: () async throws -> Void
    ) async throws -> LoadReport {
        var load = LoadPlan(addresses: Self.addresses(cluster), name: "\(plan.name)-\(name)", token: plan.token)
        // At 20 messages a second the time between two messages is a tenth of the longest pause that is allowed.
        (load.lives, load.viewers, load.rate) = (8, 8, 20)
        load.duration = .seconds(12)
        let (sending, began) = AsyncStream.makeStream(of: Void.self)
        let run = Task { [load] in
            // If the load cannot begin, this ends the wait for its first message.
            defer { began.finish() }
            return try await LoadRunner.run(load) { progress in
                if progress.stage == .sending, progress.elapsed >= .seconds(2) { began.finish() }
            }
        }
        for await _ in sending {}
        do {
            try await change()
        } catch {
            run.cancel()
            throw error
        }
        return try await run.value
    }

    private static func addresses(_ cluster: LocalCluster) -> [PlazaAddress] {
        cluster.gateways.map { PlazaAddress(host: $0.host, port: UInt16($0.port)) }
    }

    private static func findings(in load: LoadReport) -> [String] {
        var findings = load.failures
        if let failure = load.nothingAdmittedFailure { findings.append(failure) }
        for (count, what) in [
            (load.missing, "acknowledged messages were lost (I8)"), (load.repeated, "messages came twice (I15)"),
            (load.reordered, "messages came out of order (I7)"),
            (load.numberMismatches, "messages came under another number than their reply named (I7)"),
            (load.unexpectedLeaveTips, "viewers were said to have left (I5)"),
        ] where count > 0 { findings.append("\(count) \(what)") }
        return findings
    }
}

extension ServiceKind {
    /// A letter, for names that must be short.
    fileprivate var shortName: String { String(self.rawValue.prefix(1)) }
}
