// SPDX-License-Identifier: Apache-2.0
package import KafkaClient
package import PlazaModel

/// The five services, in the order in which they are started and shown.
///
/// The raw value is the program's name.
package enum ServiceKind: String, Sendable, CaseIterable, Codable {
    case roomDirectory = "room-directory"
    case audiencePresence = "audience-presence"
    case barrageFanout = "barrage-fanout"
    case cohostBattle = "cohost-battle"
    case gateway = "gateway"

    /// The name of the instance with this number, counted from 1, such as `gateway-2`.
    package func instanceName(_ number: Int) -> String { "\(self.rawValue)-\(number)" }
}

/// The cluster's Kafka broker.
package enum BrokerChoice: Sendable, Equatable {
    /// The embedded in-memory broker in a child process; all its data are lost when it ends.
    case embedded
    /// An unmodified Apache Kafka, started from its directory with 1 or 3 brokers; the run directory holds its data.
    case kafkaHome(String, brokers: Int)
    /// A broker that is not part of the cluster, by its addresses `host:port`; commas separate several addresses.
    case external(String)
}

/// The options of a local cluster: its broker, its services and their settings.
///
/// A port of 0 means any free port.
package struct ClusterOptions: Sendable {
    /// The directory for logs, state, keys and Kafka's data; created when missing.
    package var runDirectory: String
    /// The directory of the programs; nil to search beside the running program (see `ProgramFinder`).
    package var binaryDirectory: String?
    /// The Kafka broker.
    package var broker: BrokerChoice = .embedded
    /// How this process connects to an external broker; the services get `kafkaArguments`.
    package var kafkaSecurity = KafkaSecurity()
    /// The settings of `kafkaSecurity` as command-line options for the services and tools.
    ///
    /// The options name the files of secrets instead of the secrets.
    package var kafkaArguments: [String] = []
    /// The number of instances of each service, 0 to `maximumInstances`; a service without an entry has one instance.
    package var scale: [ServiceKind: Int] = [:]
    /// Whether the cluster restarts a process that exits, with back-off.
    ///
    /// `LocalCluster.restart(_:)` starts a process again in either case.
    package var restartsExitedProcesses = true
    /// The feed budget of the demo app and of apps that are added to the apps file, in messages a second.
    ///
    /// With nil, the demo app keeps its budget (`AppsFile.prepare`).
    package var feedBudget: Int?
    /// The demo app's webhooks; nil to leave those in the apps file as they are.
    ///
    /// A new file has none.
    package var hooks: AppHooks?
    /// The names of the apps that the apps file gets besides the demo app, unless it has them already.
    package var additionalApps: [String] = []
    /// The number of partitions of each topic, fixed when the topics are created.
    package var partitions = Self.defaultPartitionsLocally
    /// The address that gateways bind.
    package var host = "127.0.0.1"
    /// The first gateway's WebSocket port; each further gateway's ports are 10 higher.
    ///
    /// 0 lets every gateway use free ports for WebSocket, HTTP and ops; `httpPort` and `opsPort` are then ignored.
    package var port = 8080
    /// The first gateway's HTTP port; 0 means any free port for each gateway.
    package var httpPort = 8081
    /// The first gateway's port for health and metrics; 0 means any free port for each gateway.
    package var opsPort = 8082
    /// The port of Redis; 0 chooses a free port once, which restarts of Redis keep.
    package var redisPort = 0
    /// Whether gateways serve the browser pages, if they are beside the programs.
    package var servesPages = false
    /// Whether a gateway gives a page a token of the demo app for any user name; for tests and demos only.
    package var givesDemoTokens = false
    /// The number of shards of each gateway; nil for the gateway's default.
    ///
    /// A shard is an event loop with its thread.
    package var shards: Int?
    /// The presence lease: how long a client without heartbeats counts as present; nil for the services' default.
    ///
    /// The services read whole seconds.
    package var lease: Duration?
    /// The services' log level; nil for their default.
    package var logLevel: String?
    /// Arguments added to every instance of a service.
    package var extraArguments: [ServiceKind: [String]] = [:]
    /// The routes through proxies to Redis and the brokers, by the name of the process that uses them, such as
    /// `gateway-1`; a process without an entry connects directly.
    package var routes: [String: ProcessRoute] = [:]
    /// Variables added to every process's environment.
    package var environment: [String: String] = [:]
    /// Whether `plaza demo --evening` runs as one more child.
    package var runsDemo = false

    /// A cluster with one instance of each service and the embedded broker, at the default ports.
    package init(runDirectory: String) { self.runDirectory = runDirectory }

    /// The number of instances of `kind` at the start.
    package func instances(of kind: ServiceKind) -> Int { self.scale[kind] ?? 1 }

    /// The replication factor of each topic that the cluster creates: the number of brokers with `kafkaHome`, 1 with
    /// the embedded broker.
    ///
    /// On an external Kafka it is 1, too. A topic that exists already keeps its own replication factor.
    package var replication: Int {
        if case .kafkaHome(_, let brokers) = self.broker { return brokers }
        return 1
    }

    /// A description of the first invalid option; nil when all are valid.
    package var validationError: String? {
        for (kind, count) in self.scale.sorted(by: { $0.key.rawValue < $1.key.rawValue })
        where !(0...Self.maximumInstances).contains(count) {
            return "--scale \(kind.rawValue) must be 0 to \(Self.maximumInstances) instances, not \(count)."
        }
        if case .kafkaHome(_, let brokers) = self.broker, brokers != 1, brokers != 3 {
            return "--brokers must be 1 or 3, not \(brokers)."
        }
        if !(1...1024).contains(self.partitions) { return "--partitions must be 1 to 1024, not \(self.partitions)." }
        let ports = [("--port", self.port), ("--http-port", self.httpPort), ("--ops-port", self.opsPort)]
        for (index, (option, port)) in ports.enumerated() where port != 0 {
            // Each further gateway's ports are 10 higher, so two ports conflict if they differ by 10 times a number
            // below the number of gateways.
            let conflict = ports[..<index].first { _, earlierPort in
                let distance = abs(earlierPort - port)
                return earlierPort != 0 && distance % 10 == 0 && distance / 10 < max(1, self.instances(of: .gateway))
            }
            if let (earlierOption, earlierPort) = conflict {
                return "\(option) \(port) and \(earlierOption) \(earlierPort) give two gateways the same port: "
                    + "each further gateway's ports are 10 higher."
            }
        }
        if let feedBudget, !(1...10_000).contains(feedBudget) {
            return "--feed-budget must be 1 to 10000 messages a second, not \(feedBudget)."
        }
        return nil
    }

    /// The default number of partitions of each topic when the broker is part of the cluster.
    ///
    /// The cost of a transaction grows with the number of partitions that it writes (decision 0006). On one machine,
    /// more than two instances of a service bring no gain, so two partitions are enough.
    package static let defaultPartitionsLocally = 2
    /// The default number of partitions of each topic on an external Kafka, the same as the default of the services.
    package static let defaultPartitionsOnExternalKafka = 12

    /// The maximum number of instances of one service.
    package static let maximumInstances = 32
}
