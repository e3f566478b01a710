// SPDX-License-Identifier: Apache-2.0
internal import DashboardKit
package import LoadKit
internal import Observability

/// The owners of partitions: which instance of one service owns which partitions, by the instances' metrics.
///
/// A service has one machine or two, which make its decisions. The owner of a partition decides the commands in the
/// partition of a machine's inbox.
package struct PartitionOwners: Sendable, Equatable {
    /// For each machine, the partitions of each instance, by the names of both; empty for a service without machines.
    package let partitions: [String: [String: Set<Int>]]

    /// Reads the metrics of the instances of a service.
    ///
    /// - Parameters:
    ///   - pages: the metrics of the instances that have answered.
    ///   - instances: the names of all instances; an instance without metrics counts as one that owns nothing.
    package init(_ pages: [(instance: String, metrics: MetricsPage)], of instances: [String] = []) {
        var partitions: [String: [String: Set<Int>]] = [:]
        for (instance, metrics) in pages {
            for (sample, value) in MetricsTable(metrics).values {
                guard let machine = sample.labels["machine"] else { continue }
                if sample.name == MetricNames.Shell.partitions {
                    // This metric is the number of owned partitions. An instance that owns none has the metric too, so
                    // it gets an empty set.
                    if partitions[machine]?[instance] == nil { partitions[machine, default: [:]][instance] = [] }
                } else if sample.name == MetricNames.Shell.ownedPartition, value == 1,
                    let partition = sample.labels["partition"].flatMap({ Int($0) })
                {
                    partitions[machine, default: [:]][instance, default: []].insert(partition)
                }
            }
        }
        self.partitions = partitions.mapValues { owned in
            owned.merging(instances.map { ($0, []) }) { known, _ in known }
        }
    }

    /// How the partitions of each machine are spread, in the order of the machines' names.
    ///
    /// - Parameter count: the number of partitions of each topic.
    /// - Returns: the spread of each machine.
    package func spreads(of count: Int) -> [PartitionSpread] {
        self.partitions.sorted { $0.key < $1.key }.map { machine, owned in
            let ownerCounts = (0..<count).map { partition in owned.values.count(where: { $0.contains(partition) }) }
            return PartitionSpread(
                machine: machine, partitions: count, owned: owned.mapValues(\.count),
                unowned: ownerCounts.indices.filter { ownerCounts[$0] == 0 },
                shared: ownerCounts.indices.filter { ownerCounts[$0] > 1 })
        }
    }

    /// Counts the partitions whose owners have changed since `earlier`, in the order of the machines' names.
    ///
    /// - Parameters:
    ///   - earlier: the owners before the instance was added.
    ///   - newcomer: the name of the added instance.
    ///   - count: the number of partitions of each topic.
    /// - Returns: the moves of each machine that had owners before.
    package func moves(
        since earlier: PartitionOwners, newcomer: String, of count: Int
    ) -> [PartitionMoves] {
        self.partitions.sorted { $0.key < $1.key }.compactMap { machine, owned in
            guard let ownedBefore = earlier.partitions[machine] else { return nil }
            let moved = (0..<count).filter { partition in
                Self.owners(of: partition, in: ownedBefore) != Self.owners(of: partition, in: owned)
            }
            return PartitionMoves(
                machine: machine, newcomer: newcomer, instances: owned.count, partitions: count, moved: moved.count,
                taken: owned[newcomer]?.count ?? 0)
        }
    }

    private static func owners(of partition: Int, in owned: [String: Set<Int>]) -> Set<String> {
        Set(owned.filter { $0.value.contains(partition) }.keys)
    }
}
