// SPDX-License-Identifier: Apache-2.0
internal import ClusterKit
package import ProtocolClient

/// Runs on a compose cluster.
extension ChaosRunner {
    /// Runs the plan on a compose cluster that runs already.
    ///
    /// The ledgers of the cluster's processes are not read, because no port of the host leads to the processes.
    ///
    /// - Parameters:
    ///   - plan: the seed, the rounds and the duration.
    ///   - cluster: the cluster.
    ///   - address: where clients reach the cluster's gateways.
    ///   - say: called with a line before and after each round.
    /// - Returns: the results, like those of `run(_:on:network:say:)`.
    /// - Throws: `ChaosError.noFault` if no fault is possible; `ClusterError` when the engine does not answer.
    package static func run(
        _ plan: ChaosPlan, on cluster: ComposeCluster, address: PlazaAddress, say: @escaping @Sendable (String) -> Void
    ) async throws -> ChaosReport {
        let containers = try await cluster.containers()
        let schedule = FaultSchedule(seed: plan.seed, shape: containers.shape, only: plan.only) {
            ComposeFault($0, project: cluster.project, containers: containers) != nil
        }
        if schedule.count == 0 { throw ChaosError.noFault(plan.only ?? "") }
        return await Self.runRounds(
            plan.rounds.lazy.map { schedule.round($0) }, until: ContinuousClock.now + plan.duration, say: say,
            run: { round in
                // Measures how late this machine wakes the process during the round.
                let machineLag = MachineLag()
                // Stops the measurement if the round throws; a second `stop()` changes nothing.
                defer { machineLag.stop() }
                var result = try await Self.runRound(round, plan, [address], ComposeFaultInjector(cluster: cluster))
                result.machineLag = Double(machineLag.stop() / .milliseconds(1))
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
}
