// SPDX-License-Identifier: Apache-2.0
internal import Observability

/// Which processes own the partitions of each machine, as their metrics say.
struct PartitionTable: Sendable {
    /// The service of each machine that was ever seen.
    ///
    /// A machine whose only process is down keeps its row.
    private var services: [String: String] = [:]
    /// The number of partitions of each topic; until it is known, the highest partition number with an owner, plus 1.
    private var partitionCount = 0

    init() {}

    /// Updates the machines from a round of readings.
    ///
    /// - Parameters:
    ///   - readings: all processes.
    ///   - partitionCount: the number of partitions of each topic; 0 if it is unknown.
    mutating func update(_ readings: [ProcessReading], partitionCount: Int) {
        self.partitionCount = max(self.partitionCount, partitionCount)
        for reading in readings {
            for machine in (reading.metrics?.sums(MetricNames.Shell.partitions, by: "machine") ?? [:]).keys {
                self.services[machine] = reading.kind
            }
            for (_, partition) in Self.ownedPartitions(of: reading) {
                self.partitionCount = max(self.partitionCount, partition + 1)
            }
        }
    }

    /// The owners of all partitions, in the order of the machines' names.
    ///
    /// A process without metrics, such as one that is down, owns nothing. Two owners of a partition are possible for a
    /// moment: a process that has lost a partition may not know it yet, and its records are then ignored.
    func owners(in readings: [ProcessReading]) -> [DashboardReport.Owners] {
        var names: [String: [Int: [String]]] = [:]
        for reading in readings {
            for (machine, partition) in Self.ownedPartitions(of: reading) {
                names[machine, default: [:]][partition, default: []].append(reading.name)
            }
        }
        return self.services.sorted { $0.key < $1.key }.map { machine, service in
            let owned = names[machine] ?? [:]
            return DashboardReport.Owners(
                machine: machine, service: service,
                partitions: (0..<self.partitionCount).map { (owned[$0] ?? []).sorted() })
        }
    }

    /// The partitions that a process owns.
    ///
    /// A metric has a limited number of series. All label sets beyond the limit share one series, whose labels have the
    /// value `other`. This series names no partition, so it is left out.
    private static func ownedPartitions(of reading: ProcessReading) -> [(machine: String, partition: Int)] {
        (reading.metrics?.values ?? [:]).compactMap { series, value in
            guard series.name == MetricNames.Shell.ownedPartition, value == 1, let machine = series.labels["machine"],
                let partition = series.labels["partition"].flatMap({ Int($0) }), partition >= 0
            else { return nil }
            return (machine, partition)
        }
    }
}
