// SPDX-License-Identifier: Apache-2.0
package import ClusterKit
internal import LoadKit
internal import ProtocolClient

/// The parameters of a scale test.
package struct ScalePlan: Sendable {
    /// The services to scale, one after the other.
    package var services: [ServiceKind]
    /// The numbers of instances, ascending; costs are compared with the first, which must be 1.
    package var instances = [1, 2, 4]
    /// How long each step is measured.
    package var measuringTime = Duration.seconds(15)
    /// The number of lives with calls, per instance of the service.
    ///
    /// The load grows with the instances. Otherwise each instance would get fewer calls in a batch, and the fixed cost
    /// of a batch would make each call more expensive.
    package var lives = 24
    /// The time between two calls of one live.
    package var interval = Duration.milliseconds(150)
    /// The beginning of the names of lives and users, unique in the cluster.
    package var name: String
    /// Makes a token for a user.
    package var token: @Sendable (_ user: String) -> String

    package init(services: [ServiceKind], name: String, token: @escaping @Sendable (_ user: String) -> String) {
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

    /// Runs one service with each number of instances, then removes the added instances.
    private static func scale(
        _ kind: ServiceKind, _ plan: ScalePlan, _ cluster: LocalCluster, _ say: (String) -> Void
    ) async throws -> ServiceScale {
        var result = ServiceScale(service: kind.rawValue, unit: CallLoad.unit(of: kind))
        var addedInstances: [String] = []
        for count in plan.instances {
            say("\(kind.rawValue) with \(count)")
            // `count - 1` instances must have been added: the cluster has had one from the start.
            let missingCount = count - 1 - addedInstances.count
            var newInstances: [String] = []
            // Messages are sent while instances are added, so that a pause, a loss or a repetition is noticed.
            let load = try await Self.runLoad(plan, "\(kind.shortName)\(count)", cluster) {
                // A consumer that has just joined its group can join again only after a second. If another new member
                // joined within that second, the rebalance would wait for it. So instances are added one by one.
                for _ in 0..<max(0, missingCount) {
                    newInstances.append(try cluster.add(kind))
                    try await cluster.waitUntilReady(within: .seconds(60))
                }
                if missingCount <= 0 { try await cluster.waitUntilReady(within: .seconds(60)) }
            }
            addedInstances += newInstances
            var step = try await Self.measure(kind, count, plan, cluster)
            // A pause counts only in a run in which instances were added.
            step.pauseMilliseconds = missingCount > 0 ? load.longestPauseMilliseconds : 0
            step.findings += Self.findings(in: load)
            result.steps.append(step)
        }
        // Messages are also sent while the added instances are removed; the suffix 0 names this run.
        let load = try await Self.runLoad(plan, "\(kind.shortName)0", cluster) {
            for name in addedInstances { try await cluster.remove(name) }
        }
        if let last = result.steps.indices.last { result.steps[last].findings += Self.findings(in: load) }
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
        let idleTime = Duration.seconds(5)
        let cpuBeforeIdle = CPUMeter(kind, in: cluster)
        try await Task.sleep(for: idleTime)
        // Processor seconds per second without load.
        let idleShare = CPUMeter(kind, in: cluster).seconds(since: cpuBeforeIdle) / (idleTime / .seconds(1))
        let calling = Task { await calls.run(every: plan.interval) }
        // After two seconds, the owners of all lives send calls.
        try await Task.sleep(for: .seconds(2))
        let (cpuBefore, acknowledgedBefore, began) = (
            CPUMeter(kind, in: cluster), calls.acknowledgedCount, ContinuousClock.now
        )
        try await Task.sleep(for: plan.measuringTime)
        let cpuSeconds = CPUMeter(kind, in: cluster).seconds(since: cpuBefore)
        let work = calls.acknowledgedCount - acknowledgedBefore
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        calling.cancel()
        await calling.value
        // The idle instances would have used processor time too; it is not a cost of the calls.
        let callCPUSeconds = max(0, cpuSeconds - idleShare * seconds)
        let refusals = calls.refusedCounts.map { "\($0.value) calls were refused (\($0.key))" }.sorted()
        return ScaleStep(
            instances: count, work: work, seconds: seconds, cpuSeconds: callCPUSeconds, pauseMilliseconds: 0,
            findings: refusals)
    }

    /// Sends messages in some lives, and performs `change` two seconds after the first message.
    ///
    /// `suffix` is a part of the names of users, which have at most 32 bytes, so it must be short.
    private static func runLoad(
        _ plan: ScalePlan, _ suffix: String, _ cluster: LocalCluster, change: () async throws -> Void
    ) async throws -> LoadReport {
        var load = LoadPlan(addresses: Self.addresses(cluster), name: "\(plan.name)-\(suffix)", token: plan.token)
        // At 20 messages a second in each live, the time between two messages of a live is 50 ms: a tenth of
        // `ScaleReport.maxPauseMilliseconds`.
        (load.lives, load.viewers, load.rate) = (8, 8, 20)
        load.duration = .seconds(12)
        // The stream ends two seconds after the first message, or when the load ends without one.
        let (untilSending, sendingBegan) = AsyncStream.makeStream(of: Void.self)
        let run = Task { [load] in
            defer { sendingBegan.finish() }
            return try await LoadRunner.run(load) { progress in
                if progress.stage == .sending, progress.elapsed >= .seconds(2) { sendingBegan.finish() }
            }
        }
        for await _ in untilSending {}
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

    /// The faults in the results of a load, one sentence each.
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
    /// The first letter of the service's name, for names that must be short; the letters are all different.
    fileprivate var shortName: String { String(self.rawValue.prefix(1)) }
}
