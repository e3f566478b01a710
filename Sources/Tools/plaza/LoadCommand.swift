// SPDX-License-Identifier: Apache-2.0
import Foundation
import LoadKit
import Settings

/// `plaza load`: runs an open-loop load and reports latency percentiles and the ledger.
enum LoadCommand: Subcommand {
    static let name = "load"
    static let summary = "sends messages at a fixed rate to many viewers, and reports latency, losses and the ledger"
    static let help =
        "fills rooms with viewers and sends messages when they are due, however slow the answers are (open "
        + "loop). Latency is from the due time to each viewer's receipt. Exits 1 when anything that was "
        + "acknowledged is missing, repeated or out of order, or when nothing was admitted at all."

    static func run(_ reader: inout SettingsReader) async throws -> Int32 {
        reader.section("Load")
        let lives = reader.int("rooms", default: 1, range: 1...1000, help: "rooms, each with an owner of its own")
        let viewers = reader.int(
            "viewers", default: 100, range: 1...20_000, help: "viewers of each live; they also send messages")
        let rate = reader.int("rate", default: 5, range: 1...10_000, help: "messages a second in each live")
        let size = reader.int("size", default: 200, range: 32...12_000, help: "bytes of a message's text")
        let seconds = reader.int(
            "seconds", default: 10, range: 1...3600, help: "seconds during which messages are sent")
        let isSDK = reader.flag(
            "sdk", help: "make each client an instance of the Swift SDK; owners send all messages")
        let isJSON = reader.flag("json", help: "print one JSON object instead of a table")
        reader.section("Cluster")
        let access = try ClusterAccess.read(&reader)

        let name = "load-" + String(UInt32.random(in: .min ... .max), radix: 36)
        if isSDK {
            var plan = SDKLoadPlan(addresses: access.gateways, name: name, sdkAppID: Int32(access.app) ?? 0) {
                access.token($0)
            }
            (plan.lives, plan.viewers, plan.rate, plan.seconds) = (lives, viewers, rate, seconds)
            return try await SDKLoadCommand.run(plan, isJSON: isJSON)
        }
        var plan = LoadPlan(addresses: access.gateways, name: name) { access.token($0) }
        plan.lives = lives
        plan.viewers = viewers
        plan.rate = Double(rate)
        plan.size = size
        plan.duration = .seconds(seconds)
        OpenFiles.raise()
        let ledger = LedgerReader(access)
        await ledger.read()
        let periodicReading = Task { await ledger.readEachSecond() }
        var report = try await LoadRunner.run(plan) { progress in
            Subcommands.printDiagnostic(
                "\(progress.stage.rawValue) \(progress.elapsed.components.seconds) s: \(progress.entered) viewers in, "
                    + "\(progress.sent) sent, \(progress.acknowledged) acknowledged, \(progress.delivered) delivered")
        }
        periodicReading.cancel()
        await periodicReading.value
        await ledger.readAtEnd()
        let totals = await ledger.totals
        report.ledger = totals.exact
        report.ledgerAtLeast = totals.atLeast
        report.ledgerNotes = totals.notes
        if isJSON {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            Subcommands.printLine(String(decoding: try encoder.encode(report), as: UTF8.self))
        } else {
            Subcommands.printLine(Self.table(report))
        }
        return report.isClean ? 0 : 1
    }

    /// The report as lines for people.
    private static func table(_ report: LoadReport) -> String {
        func line(_ name: String, _ value: String) -> String {
            name.padding(toLength: 16, withPad: " ", startingAt: 0) + value
        }
        func latency(_ values: Double...) -> String {
            zip(["p50", "p90", "p99", "p99.9", "max"], values)
                .map { "\($0) \(String(format: "%.1f", $1))" }.joined(separator: "  ") + "  ms"
        }
        let reply = report.acknowledgement
        var lines = [
            line(
                "load",
                "\(report.lives) lives × \(report.viewers) viewers × \(report.rate) msg/s, \(report.seconds) s"),
            line("due to receipt", latency(report.p50, report.p90, report.p99, report.p999, report.max)),
            line("due to reply", latency(reply.p50, reply.p90, reply.p99, reply.p999, reply.max)),
            line("longest pause", String(format: "%.0f ms", report.longestPauseMilliseconds)),
            line("expected", "\(report.expected)"), line("delivered", "\(report.delivered)"),
            line("missing", "\(report.missing)"), line("repeated", "\(report.repeated)"),
            line("reordered", "\(report.reordered)"),
            line(
                "messages",
                "\(report.published) published = \(report.admitted) admitted + \(report.dropped) dropped + "
                    + "\(report.refused.values.reduce(0, +)) refused + \(report.unanswered) unanswered"),
        ]
        for (name, count) in report.refused.sorted(by: { $0.key < $1.key }) {
            lines.append(line("  refused", "\(count) \(name)"))
        }
        if report.numberMismatches > 0 { lines.append(line("misplaced", "\(report.numberMismatches)")) }
        if report.reconnects > 0 { lines.append(line("reconnects", "\(report.reconnects)")) }
        for (name, value) in (report.ledger ?? [:]).sorted(by: { $0.key < $1.key }) {
            lines.append(line("  ledger", "\(name) \(Int(value))"))
        }
        for (name, value) in (report.ledgerAtLeast ?? [:]).sorted(by: { $0.key < $1.key }) {
            lines.append(line("  ledger", "\(name) at least \(Int(value))"))
        }
        for note in report.ledgerNotes ?? [] { lines.append(line("  ledger", note)) }
        for failure in report.failures.prefix(10) { lines.append(line("failure", failure)) }
        lines.append(
            report.isClean ? "Nothing that was acknowledged is missing, repeated or out of order." : "NOT CLEAN")
        return lines.joined(separator: "\n")
    }
}
