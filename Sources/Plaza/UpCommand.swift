// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import Settings

/// `plaza up`: a whole cluster on this machine until Ctrl-C.
enum UpCommand: Subcommand {
    static let name = "up"
    static let summary = "starts Redis, a broker and the five services, and keeps them running"

    static func run(_ arguments: [String], environment: [String: String]) async throws -> Int32 {
        let options = try Self.options(arguments, environment: environment)
        let signals = StopSignals()
        let cluster = LocalCluster(options)
        let screen = UpScreen(cluster: cluster)
        let runner = Task { () -> Int32 in
            do {
                try await cluster.start()
                try await cluster.waitUntilReady(within: .seconds(120), asksAnew: false)
                return 0
            } catch {
                if signals.hasArrived { return 0 }
                Subcommands.complain("plaza up: \(error)")
                signals.raise(.failure)
                return 1
            }
        }
        let follower = Task { await screen.follow() }
        let reason = await signals.next()
        if reason == .signal { screen.say("plaza: ending all processes (once more to kill them) …") }
        let hurry = Task {
            if await signals.next() == .signal { cluster.killAll() }
        }
        await cluster.stop()
        hurry.cancel()
        let status = await runner.value
        await follower.value
        if reason == .signal { screen.say("plaza: all processes have ended.") }
        return status
    }

    /// The cluster that the arguments describe.
    static func options(_ arguments: [String], environment: [String: String]) throws -> ClusterOptions {
        var reader = SettingsReader(
            program: "plaza up",
            summary: "runs a whole LivePlaza on this machine: Redis, a broker and the five services. "
                + "Prints the addresses, restarts what dies, and ends everything on Ctrl-C.",
            arguments: arguments, environment: environment)
        var options = ClusterOptions(runDirectory: reader.runDirectory())
        options.broker = Self.broker(&reader)
        reader.section("Services")
        options.scale = Self.scale(&reader)
        options.restartsWhatDies = reader.flag(
            "restart", default: true, help: "start again what dies, with back-off; --no-restart leaves it dead")
        let partitions = reader.int(
            "partitions", default: 0, range: 0...1024,
            help: "partitions of each topic; chosen when a cluster is made, never changed afterwards; 0: 2, or 12 with "
                + "--kafka")
        options.partitions = partitions == 0 ? Self.partitions(on: options.broker) : partitions
        let budget = reader.int(
            "feed-budget", default: 0, range: 0...10_000, placeholder: "N",
            help: "messages a second that a room's feed carries in the demo app; 0 leaves it as it is (40 at first)")
        options.feedBudget = budget == 0 ? nil : budget
        let lease = reader.int(
            "lease-seconds", default: 90, range: 1...3600,
            help: "how long a silent viewer still counts as present; below 45 clients must call ping themselves")
        options.leaseSeconds = lease
        let shards = reader.int(
            "shards", default: 0, range: 0...256, help: "event loops of each gateway; 0 lets the gateway choose")
        options.shards = shards == 0 ? nil : shards
        options.logLevel = reader.optionalString(
            "log-level", placeholder: "LEVEL", help: "what the services log: debug, info, warning or error")
        if let level = options.logLevel, !["debug", "info", "warning", "error"].contains(level) {
            reader.refuse("log-level", value: level, remedy: "give one of debug, info, warning, error")
        }
        if reader.flag("demo", help: "keep a lively room going: clients that join, chat and battle") {
            options.demoArguments = []
        }
        reader.section("Addresses")
        options.host = reader.string(
            "host", default: "127.0.0.1", placeholder: "ADDRESS", help: "the address that gateways bind")
        options.port = reader.int(
            "port", default: 8080, range: 0...65_535,
            help: "the first gateway's WebSocket port; further ones have 10 more each; 0 takes free ports everywhere")
        options.httpPort = reader.int(
            "http-port", default: 8081, range: 0...65_535, help: "the first gateway's HTTP port; 0 takes a free one")
        options.opsPort = reader.int(
            "ops-port", default: 8082, range: 0...65_535,
            help: "the first gateway's port for health and metrics; 0 takes a free one")
        options.redisPort = reader.int(
            "redis-port", default: 0, range: 0...65_535, help: "Redis's port; 0 takes a free one")
        try reader.finish()
        if let problem = options.problem { throw ClusterError.badOption(problem) }
        return options
    }

    private static func partitions(on broker: BrokerChoice) -> Int {
        switch broker {
        case .embedded, .kafkaHome: ClusterOptions.partitionsHere
        case .external: ClusterOptions.partitionsElsewhere
        }
    }

    private static func broker(_ reader: inout SettingsReader) -> BrokerChoice {
        reader.section("Kafka (without any of these: an in-memory broker that keeps nothing)")
        let home = reader.optionalString(
            "kafka-home", placeholder: "DIR",
            help: "start a real Apache Kafka 4 (KRaft) from its unpacked directory; needs Java 17")
        let brokers = reader.int("brokers", default: 1, range: 1...3, help: "how many brokers to start: 1 or 3")
        let external = reader.optionalString(
            "kafka", placeholder: "HOST:PORT,…", help: "use a Kafka that runs already")
        let addresses = external?.split(separator: ",", omittingEmptySubsequences: false) ?? []
        if !addresses.allSatisfy({ Inquiry.split(address: String($0)) != nil }) {
            reader.refuse("kafka", value: external, remedy: "give HOST:PORT, several with commas between them")
        }
        if let home, external != nil {
            reader.refuse("kafka", value: external, remedy: "leave out either --kafka or --kafka-home \(home)")
        }
        if brokers == 2 { reader.refuse("brokers", value: "2", remedy: "give 1 or 3: two cannot outvote a lost one") }
        if brokers > 1, home == nil {
            reader.refuse("brokers", value: "\(brokers)", remedy: "it needs --kafka-home: the embedded broker is one")
        }
        if let home { return .kafkaHome(home, brokers: brokers) }
        return external.map { .external($0) } ?? .embedded
    }

    private static func scale(_ reader: inout SettingsReader) -> [ServiceKind: Int] {
        let names = ServiceKind.allCases.map(\.rawValue)
        let entries = reader.list(
            "scale", placeholder: "SERVICE=N,…",
            help: "instances of a service, such as gateway=2,barrage-fanout=2; one of each otherwise. "
                + "The services are \(names.joined(separator: ", "))")
        var scale: [ServiceKind: Int] = [:]
        for entry in entries {
            let parts = entry.split(separator: "=", maxSplits: 1).map(String.init)
            guard let word = parts.first, let kind = ServiceKind(rawValue: word) else {
                let near = parts.first.flatMap { Suggestion.nearest(to: $0, among: names) }
                let remedy = near.map { "did you mean \($0)?" } ?? "the services are \(names.joined(separator: ", "))"
                reader.refuse("scale", value: entry, remedy: remedy)
                continue
            }
            guard parts.count == 2, let count = Int(parts[1]), (0...ClusterOptions.maximumInstances).contains(count)
            else {
                reader.refuse(
                    "scale", value: entry, remedy: "give a number from 0 to \(ClusterOptions.maximumInstances)")
                continue
            }
            guard scale[kind] == nil else {
                reader.refuse("scale", value: entry, remedy: "name each service once")
                continue
            }
            scale[kind] = count
        }
        return scale
    }
}
