// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// The result of one round.
package struct RoundResult: Hashable, Sendable, Codable {
    /// The seed, and the part of the kinds' names to which the run was limited: with the number, they give the round.
    package var seed: UInt64
    package var only: String?
    package var number: Int
    /// The fault in words, and its class.
    package var fault: String
    package var kind: String
    /// The longest time in which no viewer of a live received anything while messages were due, in milliseconds.
    package var longestPause: Double
    /// Messages of the load: acknowledged, lost, received twice or out of order.
    package var admitted: Int
    /// Messages that were not acknowledged, by the reason.
    package var refused: [String: Int]
    package var missing: Int
    package var repeated: Int
    package var reordered: Int
    package var falseLeaves: Int
    package var battles: Int
    package var requests: Int
    /// By how much the machine woke this process too late, at most, in milliseconds; nil: not measured.
    ///
    /// Above a second, the machine was short of processor time, and pauses are those of the machine.
    package var machineLag: Double?
    /// Why the round shows nothing: its fault was not injected; nil: it was.
    ///
    /// Such a round has no findings, and neither its times nor its counts are in the table.
    package var invalid: String?
    /// The broken promises, one sentence each; empty if the round held.
    package var findings: [String]

    /// Whether the fault was injected, and every promise was kept.
    package var isHeld: Bool { self.invalid == nil && self.findings.isEmpty }

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

    /// Reads a report that `json` made.
    ///
    /// - Throws: `DecodingError` for any other text.
    package init(json: String) throws { self = try JSONDecoder().decode(Self.self, from: Data(json.utf8)) }

    /// Whether a fault was injected, and no promise was broken.
    package var isPassed: Bool { self.rounds.contains(where: \.isHeld) && self.rounds.allSatisfy(\.findings.isEmpty) }

    /// The rounds whose fault was injected.
    private var validRounds: [RoundResult] { self.rounds.filter { $0.invalid == nil } }

    /// The report as JSON.
    package var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    /// The report as a table, one line for each class of fault, followed by the findings.
    package var table: String {
        var lines = ([Self.header] + self.cells).map(Self.line)
        for round in self.rounds where !round.findings.isEmpty {
            let only = round.only.map { " --only '\($0)'" } ?? ""
            lines.append(
                "round \(round.number), \(round.fault); again: --seed \(round.seed)\(only) --round \(round.number)")
            if let lag = round.machineLag, lag > 1_000 {
                lines.append("    (the machine was short of processor time: it woke this process \(Int(lag)) ms late)")
            }
            lines += round.findings.map { "    \($0)" }
        }
        for round in self.rounds {
            guard let reason = round.invalid else { continue }
            lines.append("round \(round.number), \(round.fault): not counted, \(reason)")
        }
        let rounds = self.validRounds.count
        let broken = self.rounds.filter { !$0.findings.isEmpty }.count
        let seeds = Set(self.rounds.map(\.seed)).sorted().map(String.init).joined(separator: ", ")
        if rounds == 0 {
            lines.append("FAILED: no fault was injected, with seed \(seeds).")
        } else if broken == 0 {
            lines.append("All promises held in \(rounds) rounds with seed \(seeds).")
        } else {
            lines.append("FAILED: promises were broken in \(broken) of \(rounds) rounds with seed \(seeds).")
        }
        return lines.joined(separator: "\n")
    }

    /// The table in Markdown, without the findings.
    package var markdown: String {
        let rule = Self.header.map { _ in "---" }
        return ([Self.header, rule] + self.cells).map { "| \($0.joined(separator: " | ")) |" }.joined(separator: "\n")
    }

    private static let header = [
        "fault", "times", "messages", "lost", "repeated", "false leaves", "battles", "requests",
        "pause ms p50", "p99", "max", "verdict",
    ]

    /// The cells of the table, one row for each class of fault.
    private var cells: [[String]] {
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

    private static func percentile(_ percent: Int, _ sorted: [Double]) -> String {
        guard let last = sorted.last else { return "–" }
        let index = (sorted.count * percent + 99) / 100 - 1
        return "\(Int(sorted.indices.contains(index) ? sorted[index] : last))"
    }

    private static func line(_ cells: [String]) -> String {
        let widths = [38, 6, 9, 5, 9, 13, 8, 9, 13, 6, 6]
        return cells.enumerated().map { index, cell in
            index < widths.count
                ? cell.padding(toLength: max(widths[index], cell.count + 1), withPad: " ", startingAt: 0) : cell
        }.joined()
    }
}
