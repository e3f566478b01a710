// SPDX-License-Identifier: Apache-2.0
package import ClusterKit
internal import PlazaModel

/// The kind of work that the calls of a scale test cause: the work of one machine, or of the gateways.
///
/// A machine makes the decisions of a service, such as those about seats.
package enum ScaleLoad: String, Sendable, CaseIterable, Encodable {
    case directory, presence, barrage, seats, coHost, gateway

    /// The service that does the work.
    package var service: ServiceKind {
        switch self {
        case .directory: .roomDirectory
        case .presence: .audiencePresence
        case .barrage: .barrageFanout
        case .seats, .coHost: .cohostBattle
        case .gateway: .gateway
        }
    }

    /// The name of the work in the report.
    package var title: String {
        switch self {
        case .seats: "\(self.service.rawValue), seats"
        case .coHost: "\(self.service.rawValue), co-hosts"
        case .directory, .presence, .barrage, .gateway: self.service.rawValue
        }
    }

    /// The name of the units of work, in the plural; each acknowledged call is one unit.
    package var unit: String {
        switch self {
        case .directory: "metadata changes"
        case .presence: "pages of an audience"
        case .barrage: "messages"
        case .seats: "seats locked and unlocked"
        case .coHost: "co-hosts muted and unmuted"
        case .gateway: "reads"
        }
    }

    /// The first letter of the work, for names that must be short; the letters are all different.
    var shortName: String { String(self.rawValue.prefix(1)) }

    /// Names of apps for the load of co-hosts, one app in each partition.
    ///
    /// All lives of an app are in one partition of the machine of co-hosts and battles. So several apps are needed to
    /// give all partitions of the machine work.
    ///
    /// - Parameter partitions: the number of partitions of each topic.
    /// - Returns: the names, in the order of the partitions.
    package static func coHostApps(partitions: Int) -> [String] {
        (0..<partitions).compactMap { partition in
            // An app's name is the Kafka key of its inputs, so the name determines the partition. Up to 100 names for
            // each partition are tried, of which one is almost surely in this partition.
            (0..<100 * partitions).lazy.map { "scale-\(partition)-\($0)" }.first {
                PlazaTopic.partition(of: $0, among: partitions) == partition
            }
        }
    }
}
