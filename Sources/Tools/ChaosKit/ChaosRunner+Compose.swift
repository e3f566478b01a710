// SPDX-License-Identifier: Apache-2.0
internal import ClusterKit
package import ProtocolClient

/// Runs on a compose cluster: the containers of `docker-compose.yml`.
extension ChaosRunner {
    /// Runs the plan on a compose cluster that runs already.
    ///
    /// This process can reach only the proxy before the gateways. So the ledgers (the services' own counters) are not
    /// checked. The app has no backend.
    ///
    /// - Parameters:
    ///   - plan: the seed, the rounds and the duration.
    ///   - cluster: the cluster.
    ///   - address: where clients reach the cluster's gateways.
    ///   - say: called with a line before and after each round.
    ///   - save: called after each round with the report so far.
    /// - Returns: the results, like those of a run on a cluster of this process.
    /// - Throws: `ChaosError.noFault` if no fault is possible; `ClusterError` when the engine does not answer.
    package static func run(
        _ plan: ChaosPlan, on cluster: ComposeCluster, address: PlazaAddress, say: @escaping @Sendable (String) -> Void,
        save: @escaping @Sendable (ChaosReport) -> Void = { _ in }
    ) async throws -> ChaosReport {
        let containers = try await cluster.containers()
        let schedule = FaultSchedule(seed: plan.seed, shape: containers.shape, only: plan.only) {
            ComposeFault($0, project: cluster.project, containers: containers) != nil
        }
        if schedule.count == 0 { throw ChaosError.noFault(plan.only ?? "") }
        let faults = FaultLog()
        var report = try await Self.watchingPresence(plan, [address], faults, say: say) {
            await Self.runRounds(
                plan.rounds.lazy.map { schedule.round($0) }, until: ContinuousClock.now + plan.duration, say: say,
                save: save,
                run: { round in
                    var result = try await Self.measuringLag {
                        try await Self.runRound(
                            round, plan, on: ChaosTarget(addresses: [address]),
                            ComposeFaultInjector(cluster: cluster), recordingIn: faults)
                    }
                    result.composeProject = cluster.project
                    return result
                },
                settle: { () async throws(NotReady) -> [String] in
                    do {
                        try await cluster.waitUntilReady(within: .seconds(60))
                    } catch {
                        throw NotReady(reason: "\(error)")
                    }
                    return []
                })
        }
        report.kinds = schedule.kinds
        return report
    }
}
