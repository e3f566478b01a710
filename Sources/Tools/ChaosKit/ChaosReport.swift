// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// The results of one run, or of several.
package struct ChaosReport: Hashable, Sendable, Codable {
    package var rounds: [RoundResult]
    /// What each run decided about joins, leaves and silent viewers; nil in an older report.
    package var presence: [PresenceResult]?
    /// All kinds of faults that were possible in the run; nil in an older report.
    package var kinds: [String]?
    /// Why the run ended before its time; nil if it did not.
    ///
    /// `rounds` has the rounds before the error.
    package var error: String?

    package init(rounds: [RoundResult] = [], presence: [PresenceResult]? = nil, error: String? = nil) {
        self.rounds = rounds
        self.presence = presence
        self.error = error
    }

    /// Adds the results of a later run, whose error replaces that of this report.
    package mutating func append(_ laterReport: ChaosReport) {
        self.rounds += laterReport.rounds
        if let presence = laterReport.presence { self.presence = (self.presence ?? []) + presence }
        if let kinds = laterReport.kinds { self.kinds = Array(Set((self.kinds ?? []) + kinds)).sorted() }
        self.error = laterReport.error
    }

    /// Decodes the text that the property `json` returns.
    ///
    /// - Throws: `DecodingError` for any other text.
    package init(json: String) throws { self = try JSONDecoder().decode(Self.self, from: Data(json.utf8)) }

    /// Whether at least one fault was injected, no promise was broken, no error ended the run, and `lacksFaults` is
    /// false.
    package var isPassed: Bool {
        self.error == nil && self.rounds.contains(where: \.isPassed) && self.rounds.allSatisfy(\.findings.isEmpty)
            && (self.presence ?? []).allSatisfy(\.findings.isEmpty) && !self.lacksFaults
    }

    /// Whether more than one round, and more than a fifth of the rounds, had no fault: then the run says little.
    private var lacksFaults: Bool {
        let invalidCount = self.rounds.count - self.validRounds.count
        return invalidCount > 1 && invalidCount * 5 > self.rounds.count
    }

    /// The rounds whose fault was injected.
    private var validRounds: [RoundResult] { self.rounds.filter { $0.invalid == nil } }

    /// The kinds of possible faults that were injected in no round.
    private var neverInjected: [String] {
        let injected = Set(self.validRounds.map(\.kind))
        return (self.kinds ?? []).filter { !injected.contains($0) }
    }

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
            lines.append("round \(round.number), \(round.fault); again: plaza chaos \(round.options)")
            if let lag = round.machineLag, lag > 1_000 {
                lines.append("    (the machine was short of processor time: it woke this process \(Int(lag)) ms late)")
            }
            if round.hadBrokerInMemory {
                lines.append(
                    "    (the broker in memory does not write exactly once: run the round with --kafka-home)")
            }
            for finding in round.findings {
                lines.append("    \(finding)")
                lines += (round.evidence?.first { $0.finding == finding }?.lines ?? []).map { "        \($0)" }
            }
        }
        for round in self.rounds {
            guard let reason = round.invalid else { continue }
            lines.append("round \(round.number), \(round.fault): not counted, \(reason)")
        }
        for presence in self.presence ?? [] { lines += presence.lines }
        if !self.neverInjected.isEmpty { lines.append("not injected: \(self.neverInjected.joined(separator: ", "))") }
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
        if self.presence?.contains(where: { !$0.findings.isEmpty }) == true {
            lines.append("FAILED: joins or leaves did not show as promised (I4).")
        }
        if self.lacksFaults { lines.append("FAILED: too many rounds had no fault.") }
        if let error = self.error { lines.append("FAILED: the run ended early. \(error)") }
        return lines.joined(separator: "\n")
    }

    /// The table in Markdown, without the findings.
    package var markdown: String {
        let separator = Self.header.map { _ in "---" }
        return ([Self.header, separator] + self.rows).map { "| \($0.joined(separator: " | ")) |" }.joined(
            separator: "\n")
    }

    private static let header = [
        "fault", "times", "messages", "refused", "lost", "repeated", "false leaves", "battles", "requests",
        "pause ms p50", "p99", "max", "of a viewer", "answer ms p50", "max", "verdict",
    ]

    /// The cells of the table, with one row for each kind of fault.
    private var rows: [[String]] {
        Dictionary(grouping: self.validRounds, by: \.row).sorted { $0.key < $1.key }.map { title, rounds in
            let pauses = rounds.map(\.longestPause).sorted()
            let answers = rounds.compactMap(\.longestAnswer).sorted()
            let brokenCount = rounds.filter { !$0.findings.isEmpty }.count
            return [
                title, "\(rounds.count)", "\(Self.sum(rounds, \.admitted))",
                "\(Self.sum(rounds, \.refusedCount))", "\(Self.sum(rounds, \.missing))",
                "\(Self.sum(rounds, \.repeated) + Self.sum(rounds, \.reordered))",
                "\(Self.sum(rounds, \.falseLeaves))", "\(Self.sum(rounds, \.battles))",
                "\(Self.sum(rounds, \.requests))", Self.percentile(50, pauses), Self.percentile(99, pauses),
                Self.percentile(100, pauses), Self.percentile(100, rounds.compactMap(\.longestViewerPause).sorted()),
                Self.percentile(50, answers), Self.percentile(100, answers),
                brokenCount == 0 ? "held" : "BROKEN in \(brokenCount)",
            ]
        }
    }

    private static func sum(_ rounds: [RoundResult], _ value: KeyPath<RoundResult, Int>) -> Int {
        rounds.reduce(0) { $0 + $1[keyPath: value] }
    }

    /// The percentile (the value at the nearest rank) as text, or a dash if there are no values.
    private static func percentile(_ percent: Int, _ sorted: [Double]) -> String {
        guard let last = sorted.last else { return "–" }
        // The rank, which counts from 1, is rounded up.
        let index = (sorted.count * percent + 99) / 100 - 1
        return "\(Int(sorted.indices.contains(index) ? sorted[index] : last))"
    }

    /// One line of the table, with each cell padded to the width of its column.
    private static func line(_ cells: [String]) -> String {
        // The widths of the columns of `header`; the last column needs none.
        let widths = [38, 6, 9, 8, 5, 9, 13, 8, 9, 13, 6, 6, 12, 14, 6]
        return cells.enumerated().map { index, cell in
            index < widths.count
                ? cell.padding(toLength: max(widths[index], cell.count + 1), withPad: " ", startingAt: 0) : cell
        }.joined()
    }
}
