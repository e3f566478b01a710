// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// The plans of a cluster's processes: program, arguments and ports.
///
/// Redis, the brokers and the demo are planned once; `servicePlan` plans one instance of a service.
struct ClusterPlans: Sendable {
    /// The difference between the ports of a gateway and those of the gateway before.
    private static let gatewayPortStep = 10

    let redis: ProcessPlan
    let brokers: [ProcessPlan]
    /// The Kafka whose brokers the cluster starts; nil for the embedded broker and an external Kafka.
    let kafkaHome: KafkaHome?
    /// The plan of the demo (`plaza demo`); nil if no demo is requested.
    let demo: ProcessPlan?
    /// Kafka's bootstrap addresses if they are known before the broker runs, otherwise nil.
    let knownKafkaAddresses: String?
    private let programs: ProgramFinder
    private let directory: RunDirectory
    private let apps: AppsFileParts
    /// The arguments that give the gateways the cluster's session key.
    private let sessionKeyArguments: [String]
    /// The environment variables for all processes, with all secrets.
    private let environment: [String: String]
    private let redisPort: Int

    /// Finds the programs, and chooses the ports of Redis and of the brokers.
    ///
    /// - Throws: `missingProgram`, `noFreePort`, or `badOption` when a requested port is in use.
    init(options: ClusterOptions, directory: RunDirectory, apps: AppsFileParts) throws(ClusterError) {
        self.directory = directory
        self.apps = apps
        self.programs = try ProgramFinder(directory: options.binaryDirectory)
        self.environment = Self.environment(options)
        self.sessionKeyArguments = try SessionKeyFile.prepareArguments(
            at: directory.sessionKeyFile, environment: self.environment,
            extraArguments: options.extraArguments[.gateway] ?? [])
        // Redis, the broker and their tools need no secret.
        let environmentWithoutSecrets = SecretVariables.filter(self.environment, for: nil)
        // A missing program is reported before any process is started.
        for kind in ServiceKind.allCases where options.instances(of: kind) > 0 {
            _ = try self.programs.path(of: kind.rawValue)
        }
        self.redisPort = try Self.choosePort(options.redisPort, option: "--redis-port")
        self.redis = try Self.redis(port: self.redisPort, directory: directory, environment: environmentWithoutSecrets)
        switch options.broker {
        case .embedded:
            self.kafkaHome = nil
            self.knownKafkaAddresses = nil
            self.brokers = [
                Self.embeddedBroker(
                    plaza: try self.programs.path(of: "plaza"), options: options, directory: directory,
                    environment: environmentWithoutSecrets)
            ]
        case .kafkaHome(let path, let count):
            let home = try KafkaHome(
                path: path, brokers: count, directory: directory,
                routes: options.routes.sorted { $0.key < $1.key }.map(\.value))
            self.kafkaHome = home
            self.knownKafkaAddresses = home.bootstrap
            self.brokers = (1...count).map(home.plan)
        case .external(let address):
            self.kafkaHome = nil
            self.knownKafkaAddresses = address
            self.brokers = []
        }
        if options.runsDemo {
            let plaza = try self.programs.path(of: "plaza")
            let command = [plaza, "demo", "--evening", "--run-dir", directory.path]
            self.demo = ProcessPlan(
                name: "demo", kind: "demo", log: directory.logFile(of: "demo"), probe: .none,
                environment: SecretVariables.forClients(self.environment), command: { _ in command })
        } else {
            self.demo = nil
        }
    }

    /// The environment variables of this process with those of the options; each plan leaves out the secrets that its
    /// process does not need.
    static func environment(_ options: ClusterOptions) -> [String: String] {
        ProcessInfo.processInfo.environment.merging(options.environment) { $1 }
    }

    /// The plan of instance `number`, counted from 1, of a service.
    func servicePlan(_ kind: ServiceKind, number: Int, options: ClusterOptions) throws(ClusterError) -> ProcessPlan {
        let program = try self.programs.path(of: kind.rawValue)
        let name = kind.instanceName(number)
        let route = options.routes[name]
        // The proxy's addresses; nil if the service connects to the brokers directly.
        let proxyAddresses = route?.bootstrap
        var ports: [String: Int] = [:]
        var arguments = ["--instance", name, "--partitions", "\(options.partitions)"]
        arguments += ["--replication", "\(options.replication)"]
        let (appsArguments, environment) = self.apps.launchSettings(of: kind, environment: self.environment)
        arguments += appsArguments
        if case .external = options.broker { arguments += options.kafkaArguments }
        arguments += ["--kafka-mode", options.broker == .embedded ? "embedded" : "full"]
        if let level = options.logLevel { arguments += ["--log-level", level] }
        let opsPort: Int
        if kind == .gateway {
            // With `--port 0`, any free ports are chosen for HTTP and ops as well.
            let portOffset = Self.gatewayPortStep * (number - 1)
            func choosePort(_ firstPort: Int, option: String) throws(ClusterError) -> Int {
                let takesFreePort = options.port == 0 || firstPort == 0
                return try Self.choosePort(takesFreePort ? 0 : firstPort + portOffset, option: option)
            }
            let port = try choosePort(options.port, option: "--port")
            let httpPort = try choosePort(options.httpPort, option: "--http-port")
            opsPort = try choosePort(options.opsPort, option: "--ops-port")
            ports = ["ws": port, "http": httpPort]
            arguments += ["--host", options.host, "--port", "\(port)", "--http-port", "\(httpPort)"]
            // All clients of a local cluster have the same address, so the limits per address must not apply.
            for limit in [
                "connections-per-address", "handshakes-per-second", "http-connections-per-address",
                "http-anonymous-per-second", "http-refused-tokens-per-second", "http-token-checks-per-second",
            ] {
                arguments += ["--\(limit)", "1000000"]
            }
            arguments += self.sessionKeyArguments + Self.pagesArguments(options)
            if let shards = options.shards { arguments += ["--shards", "\(shards)"] }
        } else {
            opsPort = try PortRange.allocate()
        }
        if kind == .audiencePresence { arguments += ["--redis", "127.0.0.1:\(route?.redisPort ?? self.redisPort)"] }
        if kind == .audiencePresence || kind == .gateway, let lease = options.lease {
            arguments += ["--lease-seconds", "\(lease.components.seconds)"]
        }
        arguments += ["--ops-port", "\(opsPort)"]
        arguments += options.extraArguments[kind] ?? []
        return ProcessPlan(
            name: name, kind: kind.rawValue, service: kind, opsPort: opsPort, ports: ports,
            log: self.directory.logFile(of: name), probe: .http(port: opsPort), environment: environment,
            command: { [arguments] kafka in [program, "--kafka", proxyAddresses ?? kafka] + arguments })
    }

    /// The gateway's arguments about browser pages.
    private static func pagesArguments(_ options: ClusterOptions) -> [String] {
        guard options.servesPages else { return [] }
        var arguments = ["--pages", "auto"]
        if options.givesDemoTokens { arguments += ["--demo-tokens", AppsFile.demoApp] }
        // When a gateway ends, its page connects to the next gateway, so each page gets the addresses of all gateways.
        // With port 0 the ports of further gateways are not chosen yet, so their addresses are not known here.
        // The addresses below are valid only in a browser on this machine.
        let count = options.instances(of: .gateway)
        if options.port != 0, count > 1, options.host == "127.0.0.1" {
            let addresses = (0..<count).map { "ws://127.0.0.1:\(options.port + Self.gatewayPortStep * $0)" }
            arguments += ["--web-sockets", addresses.joined(separator: ",")]
        }
        return arguments
    }

    /// Chooses any free port if 0 is requested, otherwise the requested port.
    ///
    /// - Throws: `badOption` when the requested port is invalid or in use, or `noFreePort`.
    private static func choosePort(_ requested: Int, option: String) throws(ClusterError) -> Int {
        if requested == 0 { return try PortRange.allocate() }
        guard (1...65_535).contains(requested) else {
            throw .badOption("\(option) must give ports up to 65535, not \(requested).")
        }
        guard PortRange.isFree(requested) else {
            throw .badOption("port \(requested) is in use. Choose another with \(option), or 0 for any free port.")
        }
        return requested
    }

    /// The plan of Redis, which keeps its data only in memory.
    private static func redis(
        port: Int, directory: RunDirectory, environment: [String: String]
    ) throws(ClusterError) -> ProcessPlan {
        let command = [
            try ProgramFinder.onPath("redis-server", package: "redis-server"), "--port", "\(port)",
            "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", directory.path, "--daemonize", "no",
        ]
        return ProcessPlan(
            name: "redis", kind: "redis", ports: ["redis": port], log: directory.logFile(of: "redis"),
            probe: .redis(port: port), environment: environment, command: { _ in command })
    }

    /// The plan of the in-memory broker, which announces its address in a file.
    private static func embeddedBroker(
        plaza: String, options: ClusterOptions, directory: RunDirectory, environment: [String: String]
    ) -> ProcessPlan {
        let command = [
            plaza, "broker", "--address-file", directory.brokerAddressFile, "--partitions", "\(options.partitions)",
        ]
        return ProcessPlan(
            name: "broker-1", kind: "broker", log: directory.logFile(of: "broker-1"),
            probe: .announcement(file: directory.brokerAddressFile), environment: environment, command: { _ in command }
        )
    }
}
