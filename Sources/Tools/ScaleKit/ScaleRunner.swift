// SPDX-License-Identifier: Apache-2.0
package import ClusterKit
internal import ProtocolClient

/// Runs each service with more and more instances under a steady load, and then with fewer and fewer.
///
/// The runner compares the cost of a unit of work with each number of instances. It also checks the promises that must
/// hold while instances are added and removed (`ScalePromise`).
package enum ScaleRunner {
    /// Runs the plan.
    ///
    /// - Parameters:
    ///   - plan: the kinds of work and the numbers of instances.
    ///   - cluster: a running cluster that this process started, with one instance of each service.
    ///   - say: called with a line before each step.
    /// - Returns: the measured costs and the observed changes. The report has an error if an instance could not be
    ///   started, or if the load could not run.
    package static func run(
        _ plan: ScalePlan, on cluster: LocalCluster, say: @escaping @Sendable (String) -> Void
    ) async -> ScaleReport {
        var report = ScaleReport()
        for load in plan.loads {
            var service = ServiceScale(load)
            do {
                try await Self.scale(&service, plan, cluster, say)
            } catch {
                report.error = "\(load.title): \(error)"
            }
            report.services.append(service)
            if report.error != nil { break }
        }
        return report
    }

    /// Runs one kind of work with each number of instances, upwards and downwards.
    private static func scale(
        _ result: inout ServiceScale, _ plan: ScalePlan, _ cluster: LocalCluster, _ say: (String) -> Void
    ) async throws {
        let load = result.load
        // The names of the instances that this function has added, the newest last. The cluster has one more instance,
        // which it had from the start.
        var addedInstances: [String] = []
        for count in plan.instances {
            say("\(load.title) with \(count)")
            result.changes.append(try await Self.change(to: count, &addedInstances, load, plan, cluster))
            result.steps.append(try await Self.measure(load, count, plan, cluster))
        }
        if load == .gateway, let most = plan.instances.last, most > 1 {
            say("\(load.title): one order on \(most)")
            result.changes.append(try await Self.change(to: most, &addedInstances, load, plan, cluster))
        }
        for count in plan.instances.dropLast().reversed() {
            say("\(load.title) back to \(count)")
            result.changes.append(try await Self.change(to: count, &addedInstances, load, plan, cluster))
        }
    }

    /// Measures the processor time of the instances, idle and under the steady calls.
    private static func measure(
        _ load: ScaleLoad, _ count: Int, _ plan: ScalePlan, _ cluster: LocalCluster
    ) async throws -> ScaleStep {
        let kind = load.service
        let calls = try await CallLoad(
            load, lives: plan.lives(of: load) * count, apps: plan.apps(of: load), addresses: Self.addresses(cluster),
            name: "\(plan.name)-\(load.shortName)\(count)c", token: plan.token)
        defer { calls.stop() }
        let idleTime = Duration.seconds(10)
        let cpuBeforeIdle = CPUReading(kind, in: cluster)
        try await Task.sleep(for: idleTime)
        // The processor seconds that all instances use in each second without load.
        let idleShare = CPUReading(kind, in: cluster).seconds(since: cpuBeforeIdle) / (idleTime / .seconds(1))
        let calling = Task { await calls.run(every: plan.interval(of: load)) }
        // After two seconds, the owners of all lives send calls.
        try await Task.sleep(for: .seconds(2))
        let (cpuBefore, acknowledgedBefore, began) = (
            CPUReading(kind, in: cluster), calls.acknowledgedCount, ContinuousClock.now
        )
        try await Task.sleep(for: plan.measuringTime)
        let cpuSeconds = CPUReading(kind, in: cluster).seconds(since: cpuBefore)
        let work = calls.acknowledgedCount - acknowledgedBefore
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        calling.cancel()
        await calling.value
        // The processor time that the instances would have used without calls is not a cost of the calls.
        let callCPUSeconds = max(0, cpuSeconds - idleShare * seconds)
        return ScaleStep(
            instances: count, work: work, seconds: seconds, cpuSeconds: callCPUSeconds,
            findings: ScaleChange.rejections(calls.rejectedCounts, of: "calls"))
    }

    /// The addresses of the gateways that run now.
    static func addresses(_ cluster: LocalCluster) -> [PlazaAddress] {
        cluster.gateways.map { PlazaAddress(host: $0.host, port: UInt16($0.port)) }
    }
}
