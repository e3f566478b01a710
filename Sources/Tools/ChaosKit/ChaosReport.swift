// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// The result of one round.
package struct RoundResult: Sendable, Encodable {
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
    /// The broken promises, one sentence each; none: the round held.
    package var findings: [String]
}

/// The results of a run.
package struct ChaosReport: Sendable, Encodable {
    package var seed: UInt64
    package var rounds: [RoundResult] = []

    package init(seed: UInt64) { self.seed = seed }

    package var isPassed: Bool { !self.rounds.isEmpty && self.rounds.allSatisfy(\.findings.isEmpty) }

    /// The report as JSON.
    package var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    /// The report as a table, one line for each class of fault, with what was found below.
    package var table: String {
        let header = Self.line([
            "fault", "times", "messages", "lost", "repeated", "false leaves", "battles", "requests",
            "pause ms p50", "p99", "max", "verdict",
        ])
        var lines = [header]
        for (kind, rounds) in Dictionary(grouping: self.rounds, by: \.kind).sorted(by: { $0.key < $1.key }) {
            let pauses = rounds.map(\.longestPause).sorted()
            lines.append(
                Self.line([
                    kind, "\(rounds.count)", "\(Self.sum(rounds, \.admitted))", "\(Self.sum(rounds, \.missing))",
                    "\(Self.sum(rounds, \.repeated) + Self.sum(rounds, \.reordered))",
                    "\(Self.sum(rounds, \.falseLeaves))", "\(Self.sum(rounds, \.battles))",
                    "\(Self.sum(rounds, \.requests))", Self.percentile(50, pauses), Self.percentile(99, pauses),
                    Self.percentile(100, pauses), rounds.allSatisfy(\.findings.isEmpty) ? "held" : "BROKEN",
                ]))
        }
        for round in self.rounds where !round.findings.isEmpty {
            lines.append("round \(round.number), \(round.fault); again: --seed \(self.seed) --round \(round.number)")
            lines += round.findings.map { "    \($0)" }
        }
        let broken = self.rounds.filter { !$0.findings.isEmpty }.count
        lines.append(
            broken == 0
                ? "All promises held in \(self.rounds.count) rounds with seed \(self.seed)."
                : "FAILED: promises were broken in \(broken) of \(self.rounds.count) rounds with seed \(self.seed).")
        return lines.joined(separator: "\n")
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
