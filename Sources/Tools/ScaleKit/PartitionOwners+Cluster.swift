// SPDX-License-Identifier: Apache-2.0
internal import ClusterKit
internal import Concurrency
internal import LoadKit

extension PartitionOwners {
    /// Waits until the partitions of a service are spread evenly over its instances.
    ///
    /// An instance may be ready while its consumer group still distributes the partitions.
    ///
    /// - Parameters:
    ///   - kind: the service.
    ///   - cluster: the cluster in which the service runs.
    ///   - limit: how long to wait.
    /// - Returns: the owners when the wait ends, even if the partitions are not spread evenly by then.
    static func waitUntilEven(
        _ kind: ServiceKind, in cluster: LocalCluster, within limit: Duration = .seconds(15)
    ) async -> PartitionOwners {
        let deadline = ContinuousClock.now + limit
        var owners = await Self.read(kind, in: cluster)
        while !owners.areEven(of: cluster.options.partitions), ContinuousClock.now < deadline, !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(100))
            owners = await Self.read(kind, in: cluster)
        }
        return owners
    }

    /// Whether each machine's partitions are spread evenly; false if no machine is known.
    private func areEven(of partitions: Int) -> Bool {
        !self.partitions.isEmpty && self.spreads(of: partitions).allSatisfy(\.isEven)
    }

    /// Reads the metrics of a service's instances; an instance that does not answer counts as one that owns nothing.
    private static func read(_ kind: ServiceKind, in cluster: LocalCluster) async -> PartitionOwners {
        let instances = cluster.processes.filter { $0.kind == kind.rawValue }
        return await runOnDedicatedThread("scale-owners") {
            PartitionOwners(
                instances.compactMap { instance in
                    guard let port = instance.opsPort, let text = HealthProbe.metrics(port: port) else { return nil }
                    return (instance: instance.name, metrics: MetricsPage(text))
                }, of: instances.map(\.name))
        }
    }
}
