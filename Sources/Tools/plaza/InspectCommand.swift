// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Concurrency
import Foundation
import InspectKit
import KafkaClient
import MachineKit
import PlazaModel
import PlazaWire
import ServiceShell
import Settings

/// `plaza inspect`: replays a live from Kafka, or finds what became of a user's calls.
enum InspectCommand: Subcommand {
    static let name = "inspect"
    static let summary = "replays a live from Kafka, or shows what became of a user's calls"
    static let help = """
        reads the topics of a cluster and changes nothing.
        --live ID replays a live: each message with who wrote it, its position and class, whether it was admitted, \
        dropped or rejected and why, and beside it who was present, the stage and the battle.
        --user ID shows the calls that gateways wrote for a user, each with its steps and its answer, and the user's \
        notices. With --live too: only those about that live. What a gateway answers alone (reads, wrong frames, \
        limits) is not in Kafka.
        Answers are stored for 10 minutes. For an older message the feed is searched for its content.

        Examples:
          plaza inspect --live concert --last 10m                 what happened in the live
          plaza inspect --live concert --last 2m --names 20       the same, with more names of who was there
          plaza inspect --user alice --last 1h                    why did alice's messages not appear?
          plaza inspect --user alice --live concert --json | jq 'select(.verdict == "rejected")'
          plaza inspect --live concert --kafka kafka-1:9092       a cluster that runs elsewhere
        """

    static func run(_ reader: inout SettingsReader) async throws -> Int32 {
        let directory = reader.runDirectory()
        let kafka = reader.optionalString(
            "kafka", placeholder: "HOST:PORT,…",
            help: "the brokers, instead of those of the cluster that runs in the directory")
        let app = reader.string("app", default: AppsFile.demoApp, placeholder: "NAME", help: "the app of live and user")
        let live = reader.optionalString("live", placeholder: "ID", help: "the live to replay")
        let user = reader.optionalString("user", placeholder: "ID", help: "the user whose calls to show")
        let last = reader.milliseconds(
            "last", default: 600_000, range: 1000...86_400_000,
            help: "how far back to look, such as 90s, 10m; topics hold a day")
        let lease = reader.seconds(
            "lease-seconds", default: 90, range: 1...3600,
            help: "the cluster's --lease-seconds: how long a silent client stays in a live")
        let names = reader.int(
            "names", default: 5, range: 0...Scene.maxUsers, help: "how many of those present each line names")
        let maxRecords = reader.int(
            "max-records", default: 1_000_000, range: 1000...1_000_000_000, help: "the most records read of a topic")
        let isJSON = reader.flag("json", help: "one JSON object a line, for tools")
        let security = KafkaSecurity(&reader)
        Self.validate(live: live, user: user, &reader)
        try reader.finish()

        var brokers = kafka ?? ""
        var chosenSecurity = security
        var mode = KafkaMode.full
        if kafka == nil {
            let state = try ClusterState.read(runDirectory: directory)
            brokers = state.kafka
            if state.broker == "embedded" { mode = .embedded }
            if security == KafkaSecurity() {
                chosenSecurity = try DeadLettersCommand.security(of: state, environmentOf: reader)
            }
        }
        let query = Inspector.Query(
            app: AppID(app), live: live.map { LiveID($0) }, user: user.map { UserID($0) },
            lookBack: Milliseconds(last), lease: Milliseconds(lease))
        // The closure captures its variables by value, because it runs on another thread.
        return try await runOnDedicatedThread { [brokers, chosenSecurity, mode] in
            let scanner = try TopicScanner(
                brokers: brokers, security: chosenSecurity, mode: mode, maxRecords: maxRecords)
            defer { scanner.close() }
            return try Self.inspect(query, scanner, names: names, isJSON: isJSON)
        }
    }

    /// Rejects missing and invalid ids.
    private static func validate(live: String?, user: String?, _ reader: inout SettingsReader) {
        if live == nil, user == nil {
            reader.reject("live", value: nil, remedy: "give --live ID, --user ID, or both; --help has examples")
        }
        if let live, LiveID(checking: live) == nil {
            reader.reject("live", value: live, remedy: "give a live's id: 1 to 48 printable characters without /")
        }
        if let user, UserID(checking: user) == nil {
            reader.reject("user", value: user, remedy: "give a user's id: 1 to 32 letters, digits, - or _")
        }
    }

    /// Replays the user's calls or the live, and prints the lines and a summary.
    private static func inspect(
        _ query: Inspector.Query, _ scanner: TopicScanner, names: Int, isJSON: Bool
    ) throws -> Int32 {
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        var inspector = try Inspector(scanner, query, now: now)
        var lineCount = 0
        if let user = query.user {
            for line in try inspector.replay(user) {
                Subcommands.printLine(isJSON ? Self.text(line.json) : line.text)
                lineCount += 1
            }
        } else if let live = query.live {
            let result = try inspector.replay(live)
            if !isJSON { Subcommands.printLine(LiveHeading.text(live, result.record)) }
            for line in result.lines {
                Subcommands.printLine(isJSON ? Self.text(line.json) : line.text(maxNames: names))
                lineCount += 1
            }
        }
        if isJSON {
            let summary: JSONValue = .object([
                "type": "summary", "lines": .integer(Int64(lineCount)),
                "from": .integer((now - query.lookBack).milliseconds), "to": .integer(now.milliseconds),
                "gaps": .array(inspector.gaps.map { .text($0) }),
            ])
            Subcommands.printLine(Self.text(summary))
        } else {
            for gap in inspector.gaps { Subcommands.printLine("Note: \(gap)") }
            Subcommands.printLine(
                lineCount == 0
                    ? "nothing between \(ClockText.time(now - query.lookBack)) and \(ClockText.time(now)) UTC"
                    : "\(lineCount) entries, times in UTC")
        }
        return 0
    }

    private static func text(_ json: JSONValue) -> String { String(decoding: Wire.encode(json), as: UTF8.self) }
}
