// SPDX-License-Identifier: Apache-2.0

/// The results of a run.
package struct AttackReport: Sendable {
    /// The result of one attack.
    package struct Result: Sendable {
        package var name: String
        package var summary: String
        package var measured: AttackMeasurement
        package var verdict: AttackVerdict
    }

    /// What the honest clients, which use the cluster normally, saw without an attack.
    package var baseline: HonestResult
    package var results: [Result] = []
    /// Attacks that did not run, because the cluster's HTTP address is not known.
    package var skipped: [String] = []

    package var isPassed: Bool { self.results.allSatisfy(\.verdict.isPassed) }

    /// The report as lines for people.
    package var table: String {
        var lines = [
            Self.row(
                "attack", "connections", "sent", "p50 ms", "p99 ms", "ratio", "missing", "HTTP", "memory MiB", "verdict"
            ),
            Self.row(
                "(none)", "", "", Self.decimal(self.baseline.p50), Self.decimal(self.baseline.p99), "1.0",
                "\(self.baseline.missing)", "", "", ""),
        ]
        for result in self.results { lines += self.lines(result) }
        for name in self.skipped { lines.append("\(name) did not run: give the gateways' HTTP addresses by --http.") }
        let failed = self.results.filter { !$0.verdict.isPassed }.map(\.name)
        lines.append(
            failed.isEmpty
                ? "The cluster withstood all \(self.results.count) attacks."
                : "FAILED: \(failed.joined(separator: ", "))")
        return lines.joined(separator: "\n")
    }

    private func lines(_ result: Result) -> [String] {
        let measured = result.measured
        let honest = measured.honest
        let ratio = self.baseline.p99 > 0 ? Self.decimal(honest.p99 / self.baseline.p99) : "–"
        var lines = [
            Self.row(
                result.name, "\(measured.tally.opened)", "\(measured.tally.writes)", Self.decimal(honest.p50),
                Self.decimal(honest.p99), ratio, "\(honest.missing)",
                measured.http.asked == 0 ? "–" : "\(measured.http.answered)/\(measured.http.asked)",
                Self.memory(measured.gateways), result.verdict.isPassed ? "passed" : "FAILED")
        ]
        let answers = measured.tally.answersInWords
        lines.append("    refused: \(answers.isEmpty ? "nothing" : answers); accepted: \(measured.tally.accepted)")
        return lines + result.verdict.failures.map { "    FAILED: \($0)" }
    }

    /// Two sums over all gateways, in MiB: resident memory before the attack, and the maximum during the attack.
    private static func memory(_ gateways: [String: GatewayChange]) -> String {
        if gateways.isEmpty { return "–" }
        let mebibyte = Double(1 << 20)
        let before = gateways.values.reduce(0) { $0 + ($1.before?.residentBytes ?? 0) } / mebibyte
        let maximum = gateways.values.reduce(0) { $0 + $1.maxBytes } / mebibyte
        return "\(Int(before)) → \(Int(maximum))"
    }

    /// A number with one decimal.
    private static func decimal(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }

    /// One line of the table, with each cell padded to the width of its column.
    private static func row(_ cells: String...) -> String {
        let widths = [22, 12, 9, 9, 9, 7, 8, 7, 13, 0]
        return zip(cells, widths).map { cell, width in cell + String(repeating: " ", count: max(0, width - cell.count))
        }
        .joined()
    }
}
