// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import KafkaClient
import Settings

/// `plaza up`: runs a whole cluster on this machine until Ctrl-C.
enum UpCommand: Subcommand {
    static let name = "up"
    static let summary = "starts Redis, a broker and the five services, and keeps them running"
    static let help =
        "runs a whole LivePlaza on this machine: Redis, a broker and the five services. "
        + "Prints the addresses, restarts processes that exit, and ends everything on Ctrl-C."

    static func run(_ reader: inout SettingsReader) async throws -> Int32 {
        let options = try Self.options(&reader)
        let signals = InterruptSignals()
        let cluster = LocalCluster(options)
        let printer = ClusterStatusPrinter(cluster: cluster)
        // The value of this task is the exit status.
        let startTask = Task { () -> Int32 in
            do {
                try await cluster.start()
                // No process was ready before the start, so none has to be probed a second time.
                try await cluster.waitUntilReady(within: .seconds(120), resetReadiness: false)
                return 0
            } catch {
                // A stop during the start makes the start fail, which is not an error.
                if signals.isStopRequested { return 0 }
                Subcommands.printDiagnostic("plaza up: \(error)")
                signals.requestStop(.failure)
                return 1
            }
        }
        let printTask = Task { await printer.printChanges() }
        let stopReason = await signals.nextReason()
        if stopReason == .signal { Subcommands.printLine("plaza: ending all processes (a second signal kills them) …") }
        let secondSignalTask = Task {
            if await signals.nextReason() == .signal { cluster.killAll() }
        }
        await cluster.stop()
        secondSignalTask.cancel()
        let exitStatus = await startTask.value
        await printTask.value
        if stopReason == .signal { Subcommands.printLine("plaza: all processes have ended.") }
        return exitStatus
    }

    /// The cluster that the options describe.
    private static func options(_ reader: inout SettingsReader) throws -> ClusterOptions {
        var options = ClusterOptions(runDirectory: reader.runDirectory())
        options.broker = Self.broker(&reader)
        options.kafkaSecurity = KafkaSecurity(&reader)
        // Here `RunDirectory` serves only to make the path of a file absolute.
        options.kafkaArguments = KafkaSecurity.arguments(from: reader, absolutePath: { RunDirectory($0).path })
        if options.kafkaSecurity.transport != .plaintext, !Self.isExternal(options.broker) {
            reader.reject(
                "kafka-security", value: options.kafkaSecurity.transport.rawValue,
                remedy: "give --kafka too: brokers that plaza starts listen on this machine alone, without TLS")
        }
        reader.section("Services")
        options.scale = Self.scale(&reader)
        options.restartsExitedProcesses = reader.flag(
            "restart", default: true,
            help: "restart processes that exit, with back-off; --no-restart leaves them stopped")
        let partitions = reader.int(
            "partitions", default: 0, range: 0...1024,
            help: "partitions of each topic, fixed when the topics are created; 0 means 2, or 12 with --kafka")
        options.partitions = partitions == 0 ? Self.defaultPartitions(on: options.broker) : partitions
        let budget = reader.int(
            "feed-budget", default: 0, range: 0...10_000, placeholder: "N",
            help: "messages a second that the feed of each live of the demo app admits; 0 keeps the value in the apps "
                + "file (40 in a new file)")
        options.feedBudget = budget == 0 ? nil : budget
        let lease = reader.int(
            "lease-seconds", default: 90, range: 1...3600,
            help: "seconds for which a client without heartbeats counts as present; below 45, clients must call ping "
                + "themselves")
        options.lease = .seconds(lease)
        let shards = reader.int(
            "shards", default: 0, range: 0...256, help: "event loops of each gateway; 0 lets the gateway choose")
        options.shards = shards == 0 ? nil : shards
        options.logLevel = reader.optionalString(
            "log-level", placeholder: "LEVEL",
            help: "the lowest level that the services log: debug, info, warning or error")
        if let level = options.logLevel, !["debug", "info", "warning", "error"].contains(level) {
            reader.reject("log-level", value: level, remedy: "give one of debug, info, warning, error")
        }
        options.runsDemo = reader.flag(
            "demo", help: "also run `plaza demo --evening`, whose lives, seats, chat and battles the pages show")
        // The gateways also have settings named `pages` and `demo-tokens`, and inherit this process's environment.
        // Therefore the next two flags have environment variables of their own.
        options.servesPages = reader.flag(
            "pages", default: true, env: "LIVEPLAZA_UP_PAGES",
            help: "serve the browser pages by the gateways' HTTP ports, if the pages are installed")
        options.givesDemoTokens = reader.flag(
            "demo-tokens", default: true, env: "LIVEPLAZA_UP_DEMO_TOKENS",
            help: "let pages sign in as any user of the demo app, from this machine alone")
        reader.section("Addresses")
        options.host = reader.string(
            "host", default: "127.0.0.1", placeholder: "ADDRESS", help: "the address that gateways bind")
        options.port = reader.int(
            "port", default: 8080, range: 0...65_535,
            help: "the first gateway's WebSocket port; each further gateway's ports are 10 higher; 0 takes free ports "
                + "for all gateways and ignores --http-port and --ops-port")
        options.httpPort = reader.int(
            "http-port", default: 8081, range: 0...65_535, help: "the first gateway's HTTP port; 0 takes a free one")
        options.opsPort = reader.int(
            "ops-port", default: 8082, range: 0...65_535,
            help: "the first gateway's port for health and metrics; 0 takes a free one")
        options.redisPort = reader.int(
            "redis-port", default: 0, range: 0...65_535, help: "Redis's port; 0 takes a free one")
        try reader.finish()
        if let validationError = options.validationError { throw ClusterError.badOption(validationError) }
        return options
    }

    private static func isExternal(_ broker: BrokerChoice) -> Bool {
        if case .external = broker { return true }
        return false
    }

    private static func defaultPartitions(on broker: BrokerChoice) -> Int {
        switch broker {
        case .embedded, .kafkaHome: ClusterOptions.defaultPartitionsLocally
        case .external: ClusterOptions.defaultPartitionsOnExternalKafka
        }
    }

    /// Declares and reads the options about the broker.
    private static func broker(_ reader: inout SettingsReader) -> BrokerChoice {
        reader.section("Kafka (default: an in-memory broker, whose data are lost when it ends)")
        let home = reader.optionalString(
            "kafka-home", placeholder: "DIR",
            help: "start a real Apache Kafka 4 (KRaft) from its unpacked directory; needs Java 17")
        let brokers = reader.int("brokers", default: 1, range: 1...3, help: "how many brokers to start: 1 or 3")
        let external = reader.optionalString(
            "kafka", placeholder: "HOST:PORT,…", help: "use a Kafka that runs already")
        let addresses = external?.split(separator: ",", omittingEmptySubsequences: false) ?? []
        if !addresses.allSatisfy({ HealthProbe.split(address: String($0)) != nil }) {
            reader.reject("kafka", value: external, remedy: "give HOST:PORT; separate several by commas")
        }
        if let home, external != nil {
            reader.reject("kafka", value: external, remedy: "give only one of --kafka and --kafka-home \(home)")
        }
        if brokers == 2 {
            reader.reject("brokers", value: "2", remedy: "give 1 or 3, because one of two brokers is no majority")
        }
        if brokers > 1, home == nil {
            reader.reject(
                "brokers", value: "\(brokers)", remedy: "give --kafka-home too, because the embedded broker runs alone")
        }
        if let home { return .kafkaHome(home, brokers: brokers) }
        return external.map { .external($0) } ?? .embedded
    }

    /// Declares and reads `--scale`.
    private static func scale(_ reader: inout SettingsReader) -> [ServiceKind: Int] {
        let names = ServiceKind.allCases.map(\.rawValue)
        let entries = reader.list(
            "scale", placeholder: "SERVICE=N,…",
            help: "instances of services, such as gateway=2,barrage-fanout=2; the default of each service is 1. "
                + "The services are \(names.joined(separator: ", "))")
        var scale: [ServiceKind: Int] = [:]
        for entry in entries {
            let parts = entry.split(separator: "=", maxSplits: 1).map(String.init)
            guard let name = parts.first, let kind = ServiceKind(rawValue: name) else {
                let suggestion = parts.first.flatMap { Suggestion.nearest(to: $0, among: names) }
                let remedy =
                    suggestion.map { "did you mean \($0)?" } ?? "the services are \(names.joined(separator: ", "))"
                reader.reject("scale", value: entry, remedy: remedy)
                continue
            }
            guard parts.count == 2, let count = Int(parts[1]), (0...ClusterOptions.maximumInstances).contains(count)
            else {
                reader.reject(
                    "scale", value: entry, remedy: "give a number from 0 to \(ClusterOptions.maximumInstances)")
                continue
            }
            guard scale[kind] == nil else {
                reader.reject("scale", value: entry, remedy: "name each service once")
                continue
            }
            scale[kind] = count
        }
        return scale
    }
}
