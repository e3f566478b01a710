// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Foundation
internal import KafkaClient
internal import Repository

/// A real Kafka on this machine for tests: one node, run from `KAFKA_HOME` or from `../shared/kafka` beside the
/// repository.
///
/// The server always ends with the process that started it: a shell reads from a pipe of that process, and kills the
/// server when the pipe closes.
package final class RealKafka: Sendable {
    /// The address to connect to.
    package let bootstrap: String

    private let home: String
    private let directory: String
    private let shell: Locked<WatchedShell?>

    /// The directory of Kafka, or nil if there is none.
    package static let home: String? = {
        var candidates: [String] = []
        if let home = ProcessInfo.processInfo.environment["KAFKA_HOME"] { candidates.append(home) }
        let currentDirectory = URL(fileURLWithPath: FileManager.default.currentDirectoryPath)
        candidates += [Repository.root, currentDirectory].map {
            $0.deletingLastPathComponent().appendingPathComponent("shared/kafka").path
        }
        return candidates.first { FileManager.default.isExecutableFile(atPath: $0 + "/bin/kafka-server-start.sh") }
    }()

    /// Whether tests on a real Kafka can run; tests use it in `.enabled(if: RealKafka.isAvailable, "set KAFKA_HOME")`.
    package static var isAvailable: Bool { Self.home != nil }

    private static let sharedServer = Result { try RealKafka() }

    /// The server that all tests of a process share.
    ///
    /// The first call starts the server and blocks for some seconds.
    ///
    /// - Throws: an error if the server could not be started.
    package static func shared() throws -> RealKafka { try Self.sharedServer.get() }

    /// Starts a separate server, which a test may kill and restart; blocks until it answers.
    ///
    /// - Parameters:
    ///   - settings: additional lines for `server.properties`.
    ///   - listeners: further listeners on 127.0.0.1, by their names and ports.
    ///   - formatting: further arguments of `kafka-storage.sh format`, which prepares the server's data directory.
    /// - Throws: an error if there is no Kafka or if it does not answer in time; its text contains the end of the log.
    package init(
        settings: [String: String] = [:], listeners: [(name: String, port: Int)] = [], formatting: [String] = []
    ) throws {
        guard let home = Self.home else { throw TestServerError("Kafka is not at hand: set KAFKA_HOME.") }
        let port = try FreePort.find()
        let controllerPort = try FreePort.find()
        self.home = home
        self.bootstrap = "127.0.0.1:\(port)"
        self.directory =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("liveplaza-kafka-\(UUID().uuidString)").path
        self.shell = Locked(nil)
        try FileManager.default.createDirectory(atPath: self.directory, withIntermediateDirectories: true)
        var properties = Self.properties(port: port, controllerPort: controllerPort, directory: self.directory)
        for key in ["listeners", "advertised.listeners"] {
            for listener in listeners {
                properties[key, default: ""] += ",\(listener.name)://127.0.0.1:\(listener.port)"
            }
        }
        properties.merge(settings) { $1 }
        let text = properties.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)\n" }.joined()
        try Data(text.utf8).write(to: URL(fileURLWithPath: self.directory + "/server.properties"))
        try self.start(formatting: formatting)
    }

    /// Kills the server with SIGKILL and keeps its data.
    package func kill() {
        let shell = self.shell.withLock { shell in
            defer { shell = nil }
            return shell
        }
        // If the script reads a line, it keeps the data; if the pipe closes without a line, it removes the data.
        shell?.write("keep")
        shell?.end()
    }

    /// Starts the server again on the same data and the same port; blocks until it answers.
    ///
    /// - Throws: an error with the end of the log if the server does not answer in time.
    package func restart() throws {
        self.kill()
        try self.start(formatting: nil)
    }

    /// Creates a topic with a unique name, which begins with `prefix`.
    ///
    /// - Returns: the name.
    /// - Throws: `KafkaError` if the server does not create the topic.
    package func makeTopic(_ prefix: String, partitions: Int = 1, config: [String: String] = [:]) throws -> String {
        let name = "\(prefix)-\(UUID().uuidString.prefix(8))"
        let admin = try KafkaAdmin(KafkaSettings(brokers: self.bootstrap, clientID: "test-admin"))
        try admin.createTopics([TopicSpec(name: name, partitions: partitions, config: config)])
        return name
    }

    /// The server's log so far.
    package var log: String {
        (try? String(contentsOfFile: self.directory + "/server.log", encoding: .utf8)) ?? ""
    }

    /// Starts the server, and blocks until it answers.
    ///
    /// - Parameter formatting: further arguments of the format tool; nil keeps the existing data.
    /// - Throws: an error with the end of the log if the server does not answer in time.
    private func start(formatting: [String]?) throws {
        let shell = try WatchedShell(
            Self.script,
            arguments: [self.home, self.directory, formatting == nil ? "keep" : "format"] + (formatting ?? []),
            environment: [
                "KAFKA_HEAP_OPTS": "-Xms256M -Xmx512M", "LOG_DIR": self.directory + "/logs",
                // With these options, as in clusters on one machine, the server starts faster and uses less of the
                // processors, which the test needs.
                "KAFKA_JVM_PERFORMANCE_OPTS": "-server -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            ])
        self.shell.withLock { $0 = shell }
        do {
            let silentSettings = KafkaSettings(brokers: self.bootstrap, clientID: "test-admin", log: { _, _, _ in })
            try KafkaAdmin(silentSettings).waitUntilReachable(timeout: .seconds(60))
        } catch {
            throw TestServerError("Kafka did not start: \(error)\n\(self.log.suffix(3000))")
        }
    }

    /// The script that runs the server until it can read a line from its input, or until the input ends.
    ///
    /// The arguments are Kafka's home, the server's directory, `format` or `keep`, and further arguments of the format
    /// tool. The text after `-t` is an arbitrary id of the Kafka cluster.
    private static let script = """
        home=$1 directory=$2 mode=$3
        shift 3
        if [ "$mode" = format ]; then
            "$home/bin/kafka-storage.sh" format --standalone -t MkU3OEVBNTcwNTJENDM2Qg \
                -c "$directory/server.properties" "$@" </dev/null >"$directory/server.log" 2>&1
        fi
        "$home/bin/kafka-server-start.sh" "$directory/server.properties" </dev/null >>"$directory/server.log" 2>&1 &
        server=$!
        if read -r line; then
            kill -KILL $server; wait $server
        else
            kill -KILL $server; wait $server; rm -rf "$directory"
        fi
        """

    /// The properties of one node with short failover times, as `docs/ARCHITECTURE.md` requires.
    private static func properties(port: Int, controllerPort: Int, directory: String) -> [String: String] {
        [
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.bootstrap.servers": "127.0.0.1:\(controllerPort)",
            "listeners": "PLAINTEXT://127.0.0.1:\(port),CONTROLLER://127.0.0.1:\(controllerPort)",
            "advertised.listeners": "PLAINTEXT://127.0.0.1:\(port)",
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "PLAINTEXT",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": directory + "/data",
            "auto.create.topics.enable": "false",
            "num.partitions": "1",
            "offsets.topic.replication.factor": "1",
            "offsets.topic.num.partitions": "4",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "transaction.state.log.num.partitions": "4",
            "share.coordinator.state.topic.replication.factor": "1",
            "share.coordinator.state.topic.min.isr": "1",
            "group.min.session.timeout.ms": "1000",
            "group.initial.rebalance.delay.ms": "0",
            "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
        ]
    }
}

/// Why Kafka, or another program that tests need, could not be started.
package struct TestServerError: Error, CustomStringConvertible {
    /// The reason; for Kafka with the end of its log.
    package var description: String

    init(_ description: String) { self.description = description }
}
