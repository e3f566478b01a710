// SPDX-License-Identifier: Apache-2.0
internal import ChildProcess
internal import Foundation
internal import PlazaWire
internal import Tokens

/// The directory of an unpacked Apache Kafka, and the configuration of its brokers (KRaft mode) in a run directory.
struct KafkaHome: Sendable {
    /// The directory of the unpacked Kafka.
    let path: String
    let brokerCount: Int
    /// The run directory, with the brokers' configuration, data and logs.
    let directory: RunDirectory
    /// The port of each broker for clients.
    private let clientPorts: [Int]
    /// The port of each broker for the quorum of KRaft controllers.
    private let controllerPorts: [Int]
    /// The routes of the processes that reach the brokers through a proxy; the others connect to `clientPorts`.
    private let routes: [ProcessRoute]

    /// Checks that Kafka and Java are installed, and chooses ports.
    ///
    /// `brokers` is the number of brokers.
    init(
        path: String, brokers: Int, directory: RunDirectory, routes: [ProcessRoute] = []
    ) throws(ClusterError) {
        self.path = RunDirectory(path).path
        self.brokerCount = brokers
        self.directory = directory
        // A route that leads only to Redis has no brokers.
        self.routes = routes.filter { $0.brokers.count == brokers }
        for script in ["kafka-server-start.sh", "kafka-storage.sh"]
        where !SystemFile.isExecutable(self.path + "/bin/" + script) {
            throw .missingProgram(
                name: self.path + "/bin/" + script,
                remedy: "Name the directory of an unpacked Apache Kafka 4 (kafka.apache.org) with --kafka-home.")
        }
        // A missing Java is reported here, because the broker would report it only in its log. If `JAVA_HOME` is set,
        // Kafka finds Java there.
        if ProcessInfo.processInfo.environment["JAVA_HOME"] == nil {
            _ = try ProgramFinder.onPath("java", package: "openjdk-17-jre-headless")
        }
        var clientPorts: [Int] = []
        var controllerPorts: [Int] = []
        for _ in 0..<brokers {
            clientPorts.append(try PortRange.allocate())
            controllerPorts.append(try PortRange.allocate())
        }
        self.clientPorts = clientPorts
        self.controllerPorts = controllerPorts
    }

    /// The bootstrap addresses for clients.
    var bootstrap: String { self.clientPorts.map { "127.0.0.1:\($0)" }.joined(separator: ",") }

    /// Writes each broker's configuration, and formats the storage of new brokers; existing data are kept.
    ///
    /// - Throws: `badOption` when the directory has the data of a different number of brokers, `file` when a file
    ///   cannot be written, or `ended` when Kafka's format tool fails.
    func prepare() throws(ClusterError) {
        let root = self.directory.kafkaDirectory
        try RunDirectory(root).create()
        // The file `cluster-id` contains the cluster's id and the number of its brokers, separated by a space.
        let idFile = root + "/cluster-id"
        let existing = FileManager.default.contents(atPath: idFile).map { String(decoding: $0, as: UTF8.self) }
        let idAndCount = existing?.split(separator: " ") ?? []
        if let count = idAndCount.last, count != "\(self.brokerCount)" {
            throw .badOption(
                "\(root) holds the data of \(count) broker(s). Give --brokers \(count), "
                    + "remove that directory, or use another --run-dir.")
        }
        // "L" replaces the first character of a random id, because a leading dash would be parsed as an option.
        let id =
            idAndCount.first.map(String.init) ?? "L" + Base64URL.encode(RandomBytes.generate(count: 16)).dropFirst()
        if idAndCount.isEmpty {
            try RunDirectory.write(Data("\(id) \(self.brokerCount)".utf8), to: idFile, mode: 0o600)
        }
        for node in 1...self.brokerCount {
            try RunDirectory.write(
                Data(self.properties(of: node).utf8), to: self.configurationFile(of: node), mode: 0o600)
            // Kafka's format tool writes `meta.properties`, so storage that has the file is formatted already.
            guard !FileManager.default.fileExists(atPath: self.dataDirectory(of: node) + "/meta.properties") else {
                continue
            }
            let log = self.directory.logFile(of: "broker-\(node)")
            let formatCommand = [
                self.path + "/bin/kafka-storage.sh", "format", "-t", id, "-c", self.configurationFile(of: node),
            ]
            let end = ChildProcess.run(
                formatCommand, environment: self.environment(heap: "-Xmx128M"), output: .log(log))
            guard end == .exited(0) else {
                throw .ended(
                    process: "kafka-storage.sh format", how: end.description, log: log,
                    lastLines: RunDirectory.lastLines(of: log))
            }
        }
    }

    /// The process plan of broker `node`, counted from 1.
    func plan(of node: Int) -> ProcessPlan {
        let command = [self.path + "/bin/kafka-server-start.sh", self.configurationFile(of: node)]
        let port = self.clientPorts[node - 1]
        return ProcessPlan(
            name: "broker-\(node)", kind: "broker",
            ports: ["kafka": port, "controller": self.controllerPorts[node - 1]],
            log: self.directory.logFile(of: "broker-\(node)"), probe: .kafka(port: port),
            // A garbage collection in the broker delays all services. With a small young generation (-Xmn) a
            // collection takes 10 ms instead of 27 ms (decision 0006).
            environment: self.environment(heap: "-Xms256M -Xmx512M -Xmn16M"), command: { _ in command })
    }

    private func configurationFile(of node: Int) -> String {
        self.directory.kafkaDirectory + "/broker-\(node).properties"
    }

    private func dataDirectory(of node: Int) -> String { self.directory.kafkaDirectory + "/data-\(node)" }

    /// Options of the Java virtual machine that disable the C2 compiler and limit garbage collection to one thread.
    ///
    /// The broker shares the cores of one machine with the services. The C2 compiler would raise the broker's peak
    /// throughput, but its warm-up would slow all processes for minutes.
    private static let javaOptions = "-server -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Djava.awt.headless=true"

    /// The environment variables of a broker or a tool of Kafka; `heap` has the Java memory options.
    private func environment(heap: String) -> [String: String] {
        SecretVariables.filter(ProcessInfo.processInfo.environment, for: nil).merging(
            [
                "KAFKA_HEAP_OPTS": heap, "LOG_DIR": self.directory.kafkaDirectory,
                "KAFKA_JVM_PERFORMANCE_OPTS": Self.javaOptions,
            ], uniquingKeysWith: { $1 })
    }

    /// The content of a broker's `server.properties`.
    ///
    /// The first block has the broker's roles and addresses. The second block shortens takeovers. The third block has
    /// the numbers of replicas, and settings that make the start fast and save CPU time. It has one thread each for
    /// network and IO, because the whole cluster runs on one machine. Sizes are in bytes: segments of 16 MiB,
    /// and 32 MiB for the log cleaner's buffer.
    ///
    /// `node` is the number of the broker, counted from 1.
    func properties(of node: Int) -> String {
        let voters = self.controllerPorts.enumerated().map { "\($0.offset + 1)@127.0.0.1:\($0.element)" }
        let clientListener = "PLAINTEXT://127.0.0.1:\(self.clientPorts[node - 1])"
        let controllerListener = "CONTROLLER://127.0.0.1:\(self.controllerPorts[node - 1])"
        let routes = self.routes.enumerated().map {
            (name: "ROUTE\($0.offset + 1)", broker: $0.element.brokers[node - 1])
        }
        let routeListeners = routes.map { ",\($0.name)://127.0.0.1:\($0.broker.listener)" }.joined()
        let advertisedRoutes = routes.map { ",\($0.name)://127.0.0.1:\($0.broker.advertised)" }.joined()
        let protocols = routes.map { ",\($0.name):PLAINTEXT" }.joined()
        return """
            process.roles=broker,controller
            node.id=\(node)
            controller.quorum.voters=\(voters.joined(separator: ","))
            listeners=\(clientListener),\(controllerListener)\(routeListeners)
            advertised.listeners=\(clientListener)\(advertisedRoutes)
            controller.listener.names=CONTROLLER
            inter.broker.listener.name=PLAINTEXT
            listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT\(protocols)
            log.dirs=\(self.dataDirectory(of: node))
            auto.create.topics.enable=false

            group.min.session.timeout.ms=1000
            group.initial.rebalance.delay.ms=0
            transaction.abort.timed.out.transaction.cleanup.interval.ms=200
            broker.session.timeout.ms=\(self.brokerCount == 1 ? 3000 : 1000)
            broker.heartbeat.interval.ms=\(self.brokerCount == 1 ? 500 : 250)
            controller.quorum.fetch.timeout.ms=1000
            controller.quorum.election.timeout.ms=300
            controller.quorum.election.backoff.max.ms=100

            default.replication.factor=\(self.brokerCount)
            min.insync.replicas=\(self.brokerCount == 1 ? 1 : 2)
            offsets.topic.replication.factor=\(self.brokerCount)
            offsets.topic.num.partitions=4
            transaction.state.log.replication.factor=\(self.brokerCount)
            transaction.state.log.min.isr=\(self.brokerCount == 1 ? 1 : 2)
            transaction.state.log.num.partitions=4
            share.coordinator.state.topic.replication.factor=\(self.brokerCount)
            share.coordinator.state.topic.min.isr=1
            offsets.topic.segment.bytes=16777216
            log.cleaner.dedupe.buffer.size=33554432
            num.network.threads=1
            num.io.threads=1

            """
    }
}
