// SPDX-License-Identifier: Apache-2.0

/// The five services, in the order in which they are started and shown.
///
/// The raw value is the program's name.
package enum ServiceKind: String, Sendable, CaseIterable, Codable {
    case roomDirectory = "room-directory"
    case audiencePresence = "audience-presence"
    case barrageFanout = "barrage-fanout"
    case cohostBattle = "cohost-battle"
    case gateway = "gateway"
}

/// Where the cluster's Kafka comes from.
package enum BrokerChoice: Sendable, Equatable {
    /// The in-memory broker in a process of ours; it keeps nothing and promises nothing about crashes.
    case embedded
    /// A stock Apache Kafka started from its directory, with 1 or 3 brokers. Its data stays in the run directory.
    case kafkaHome(String, brokers: Int)
    /// A broker that runs elsewhere: `host:port`, several divided by commas.
    case external(String)
}

/// What a local cluster consists of.
///
/// Every port that is 0 becomes a free one.
package struct ClusterOptions: Sendable {
    /// Where logs, state, keys and Kafka's data go; made when missing.
    package var runDirectory: String
    /// Where the programs lie; nil looks beside the running program (see `ProgramFinder`).
    package var binaryDirectory: String?
    /// Where Kafka comes from.
    package var broker: BrokerChoice = .embedded
    /// Instances by service; a service not named has one.
    ///
    /// 0 to 32 each.
    package var scale: [ServiceKind: Int] = [:]
    /// Whether what dies is started again with back-off.
    ///
    /// `restart(_:)` works in either case.
    package var restartsWhatDies = true
    /// The demo app's feed budget in messages a second; nil keeps what the apps file says (40 in a new one).
    package var feedBudget: Int?
    /// Partitions of each topic, chosen when a cluster is made: `partitionsHere` unless told otherwise.
    package var partitions = Self.partitionsHere
    /// The address that gateways bind.
    package var host = "127.0.0.1"
    /// The first gateway's WebSocket port; each further one has 10 more.
    ///
    /// 0 takes free ports for all its three.
    package var port = 8080
    /// The first gateway's HTTP port.
    package var httpPort = 8081
    /// The first gateway's port for health and metrics.
    package var opsPort = 8082
    /// Redis's port; kept through its restarts.
    package var redisPort = 0
    /// Event-loop threads of each gateway; nil leaves it to the gateway.
    package var shards: Int?
    /// How long a silent client counts as present, in seconds.
    package var leaseSeconds: Int?
    /// The services' log level.
    package var logLevel: String?
    /// Arguments added to every instance of a service.
    package var extraArguments: [ServiceKind: [String]] = [:]
    /// Variables added to every process's environment.
    package var environment: [String: String] = [:]
    /// Arguments of a `plaza demo` that runs as one more child; nil runs none.
    package var demoArguments: [String]?

    /// A cluster of one instance each on the embedded broker, at the usual ports.
    package init(runDirectory: String) { self.runDirectory = runDirectory }

    /// The instances of `kind` at the start.
    package func instances(of kind: ServiceKind) -> Int { self.scale[kind] ?? 1 }

    /// Copies of each topic's partitions: as many as there are brokers of ours, else 1.
    package var replication: Int {
        if case .kafkaHome(_, let brokers) = self.broker { return brokers }
        return 1
    }

    /// What cannot work, in words; nil when the options are sound.
    package var problem: String? {
        for (kind, count) in self.scale.sorted(by: { $0.key.rawValue < $1.key.rawValue })
        where !(0...Self.maximumInstances).contains(count) {
            return "--scale \(kind.rawValue)=\(count): 0 to \(Self.maximumInstances) instances are possible."
        }
        if case .kafkaHome(_, let brokers) = self.broker, brokers != 1, brokers != 3 {
            return "--brokers \(brokers): 1 or 3 are possible."
        }
        if !(1...1024).contains(self.partitions) { return "--partitions \(self.partitions): 1 to 1024 are possible." }
        let ports = [("--port", self.port), ("--http-port", self.httpPort), ("--ops-port", self.opsPort)]
        for (index, (name, port)) in ports.enumerated() where port != 0 {
            // Each further gateway has 10 more.
            let other = ports[..<index].first {
                $0.1 != 0 && ($0.1 - port) % 10 == 0 && abs($0.1 - port) / 10 < max(1, self.instances(of: .gateway))
            }
            if let other {
                return "\(name) \(port) and \(other.0) \(other.1) give two gateways the same port: "
                    + "each further one has 10 more."
            }
        }
        if let feedBudget, !(1...10_000).contains(feedBudget) {
            return "--feed-budget \(feedBudget): 1 to 10000 messages a second are possible."
        }
        return nil
    }

    /// Partitions where one machine carries all: a transaction costs its broker by the partitions that it writes
    /// (decision 0006), and more than two instances of a service have nothing to gain there.
    package static let partitionsHere = 2
    /// Partitions on a Kafka that runs elsewhere, as the services have it by themselves.
    package static let partitionsElsewhere = 12

    /// The most instances of one service.
    package static let maximumInstances = 32
}
