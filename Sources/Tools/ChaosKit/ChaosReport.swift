// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// The result of one round.
package struct RoundResult: Hashable, Sendable, Codable {
    /// The seed of the run; `seed`, `only` and `number` together determine the round.
    package var seed: UInt64
    /// The text that the kind of each fault had to contain; nil if all kinds were allowed.
    package var only: String?
    /// The number of the round.
    package var number: Int
    /// The numbers of brokers and of instances of each service; nil in a report that does not say.
    ///
    /// They decide which faults are possible, so only the same numbers repeat a round.
    package var brokers: Int?
    package var instances: Int?
    /// The description of the fault.
    package var fault: String
    /// The kind of the fault, by which reports are grouped.
    package var kind: String
    /// The longest time in which no viewer of a live received anything while messages were due, in milliseconds.
    package var longestPause: Double
    /// The number of acknowledged messages of the load.
    package var admitted: Int
    /// The number of messages that were not acknowledged, by reason.
    package var refused: [String: Int]
    /// The numbers of items that viewers did not receive, received twice, or received out of order.
    package var missing: Int
    package var repeated: Int
    package var reordered: Int
    /// The number of tips that a viewer left who had not left.
    package var falseLeaves: Int
    /// The number of battles that began.
    package var battles: Int
    /// The number of seat applications and co-host requests.
    package var requests: Int
    /// The longest delay with which the machine woke this process, in milliseconds; nil if it was not measured.
    ///
    /// Above a second, the machine was short of processor time, and the pauses say nothing about the cluster.
    package var machineLag: Double?
    /// Why the fault was not injected; nil if it was.
    ///
    /// A round without its fault has no findings, and the table contains neither its times nor its counts.
    package var invalid: String?
    /// The broken promises, one sentence each; empty if every promise held.
    package var findings: [String]

    /// The options with which `plaza chaos` runs the round again.
    package var options: String {
        var options = "--seed \(self.seed)"
        if let only = self.only { options += " --only '\(only)'" }
        options += " --round \(self.number)"
        if let brokers = self.brokers { options += " --brokers \(brokers)" }
        if let instances = self.instances { options += " --instances \(instances)" }
        return options
    }

    /// Whether the fault was injected, and every promise was kept.
    package var isPassed: Bool { self.invalid == nil && self.findings.isEmpty }

    /// The verdict, as a run prints it.
    var verdict: String {
        if let reason = self.invalid { return "not counted: \(reason)" }
        return self.findings.isEmpty ? "held" : "BROKEN: \(self.findings.joined(separator: "; "))"
    }

    package init(
        seed: UInt64, only: String?, number: Int, fault: String, kind: String, longestPause: Double, admitted: Int,
        refused: [String: Int], missing: Int, repeated: Int, reordered: Int, falseLeaves: Int, battles: Int,
        requests: Int, findings: [String]
    ) {
        (self.seed, self.only, self.number) = (seed, only, number)
        (self.fault, self.kind) = (fault, kind)
        (self.longestPause, self.admitted, self.refused) = (longestPause, admitted, refused)
        (self.missing, self.repeated, self.reordered) = (missing, repeated, reordered)
        self.falseLeaves = falseLeaves
        (self.battles, self.requests) = (battles, requests)
        self.findings = findings
    }
}

/// The results of one run, or of several.
package struct ChaosReport: Hashable, Sendable, Codable {
    package var rounds: [RoundResult]

    package init(rounds: [RoundResult] = []) { self.rounds = rounds }

    /// Decodes the text that the property `json` returns.
    ///
    /// - Throws: `DecodingError` for any other text.
    package init(json: String) throws { self = try JSONDecoder().decode(Self.self, from: Data(json.utf8)) }

    /// Whether a fault was injected, and no promise was broken.
    package var isPassed: Bool { self.rounds.contains(where: \.isPassed) && self.rounds.allSatisfy(\.findings.isEmpty) }

    /// The rounds whose fault was injected.
    private var validRounds: [RoundResult] { self.rounds.filter { $0.invalid == nil } }

    /// The report as JSON.
    package var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    /// The report as a table with one line for each kind of fault, followed by the findings.
    package var table: String {
        var lines = ([Self.header] + self.rows).map(Self.line)
        for round in self.rounds where !round.findings.isEmpty {
            lines.append("round \(round.number), \(round.fault); again: \(round.options)")
            if let lag = round.machineLag, lag > 1_000 {
                lines.append("    (the machine was short of processor time: it woke this process \(Int(lag)) ms late)")
            }
            lines += round.findings.map { "    \($0)" }
        }
        for round in self.rounds {
            guard let reason = round.invalid else { continue }
            lines.append("round \(round.number), \(round.fault): not counted, \(reason)")
        }
        let validCount = self.validRounds.count
        let brokenCount = self.rounds.filter { !$0.findings.isEmpty }.count
        let seeds = Set(self.rounds.map(\.seed)).sorted().map(String.init).joined(separator: ", ")
        if validCount == 0 {
            lines.append("FAILED: no fault was injected, with seed \(seeds).")
        } else if brokenCount == 0 {
            lines.append("All promises held in \(validCount) rounds with seed \(seeds).")
        } else {
            lines.append("FAILED: promises were broken in \(brokenCount) of \(validCount) rounds with seed \(seeds).")
        }
        return lines.joined(separator: "\n")
    }

    /// The table in Markdown, without the findings.
    package var markdown: String {
        let separator = Self.header.map { _ in "---" }
        return ([Self.header, separator] + self.rows).map { "| \($0.joined(separator: " | ")) |" }.joined(
            separator: "\n")
    }

    private static let header = [
        "fault", "times", "messages", "lost", "repeated", "false leaves", "battles", "requests",
        "pause ms p50", "p99", "max", "verdict",
    ]

    /// The cells of the table, with one row for each kind of fault.
    private var rows: [[String]] {
        Dictionary(grouping: self.validRounds, by: \.kind).sorted { $0.key < $1.key }.map { kind, rounds in
            let pauses = rounds.map(\.longestPause).sorted()
            let broken = rounds.filter { !$0.findings.isEmpty }.count
            return [
                kind, "\(rounds.count)", "\(Self.sum(rounds, \.admitted))", "\(Self.sum(rounds, \.missing))",
                "\(Self.sum(rounds, \.repeated) + Self.sum(rounds, \.reordered))",
                "\(Self.sum(rounds, \.falseLeaves))", "\(Self.sum(rounds, \.battles))",
                "\(Self.sum(rounds, \.requests))", Self.percentile(50, pauses), Self.percentile(99, pauses),
                Self.percentile(100, pauses), broken == 0 ? "held" : "BROKEN in \(broken)",
            ]
        }
    }

    private static func sum(_ rounds: [RoundResult], _ value: KeyPath<RoundResult, Int>) -> Int {
        rounds.reduce(0) { $0 + $1[keyPath: value] }
    }

    /// The percentile (the value at the nearest rank) as text, or a dash if there are no values.
    private static func percentile(_ percent: Int, _ sorted: [Double]) -> String {
        guard let last = sorted.last else { return "–" }
        let index = (sorted.count * percent + 99) / 100 - 1
        return "\(Int(sorted.indices.contains(index) ? sorted[index] : last))"
    }

    /// One line of the table, with each cell padded to the width of its column.
    private static func line(_ cells: [String]) -> String {
        let widths = [38, 6, 9, 5, 9, 13, 8, 9, 13, 6, 6]
        return cells.enumerated().map { index, cell in
            index < widths.count
                ? cell.padding(toLength: max(widths[index], cell.count + 1), withPad: " ", startingAt: 0) : cell
        }.joined()
    }
}
