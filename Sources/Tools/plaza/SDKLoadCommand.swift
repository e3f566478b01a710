// SPDX-License-Identifier: Apache-2.0
import Foundation
import LoadKit
import ProtocolClient

/// `plaza load --sdk`: the clients are instances of the Swift SDK.
enum SDKLoadCommand {
    /// Runs the load and prints its report.
    ///
    /// - Returns: the exit status: 0 if the report is clean, otherwise 1.
    static func run(_ plan: SDKLoadPlan, isJSON: Bool) async throws -> Int32 {
        OpenFiles.raise()
        let report = try await SDKLoadRun(plan).run { Subcommands.printDiagnostic($0) }
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
    private static func table(_ report: SDKLoadReport) -> String {
        func line(_ name: String, _ value: String) -> String {
            name.padding(toLength: 16, withPad: " ", startingAt: 0) + value
        }
        func number(_ value: Double) -> String { String(format: "%.1f", value) }
        var lines = [
            line(
                "instances",
                "\(report.clients), of which \(report.entered) entered in \(number(report.enteringSeconds)) s"),
            line("memory", "\(report.bytesPerClient / 1024) KiB an instance in a live"),
            line("messages", "\(report.sent) sent, \(report.accepted) accepted"),
            line("shown", "\(report.shown) of \(report.expected)"),
            line("repeated", "\(report.repeated)"), line("reordered", "\(report.reordered)"),
            line(
                "sent to shown", "p50 \(number(report.p50))  p99 \(number(report.p99))  max \(number(report.max))  ms"),
            line("processor", "\(number(report.cpuMicrosecondsPerMessage)) µs for each message that is shown"),
            line("not released", "\(report.leaked)"),
        ]
        for failure in report.failures.prefix(10) { lines.append(line("failure", failure)) }
        lines.append(report.isClean ? "Every instance has shown every message once and in order." : "NOT CLEAN")
        return lines.joined(separator: "\n")
    }
}
