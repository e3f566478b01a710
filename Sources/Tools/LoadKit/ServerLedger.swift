// SPDX-License-Identifier: Apache-2.0
internal import Observability

/// The servers' own counts of messages and deliveries during a run (I10 of docs/RULES.md), read from each process at
/// intervals.
///
/// A restarted process counts from 0 again, and its start time reveals the restart. Its counts between the last reading
/// and the restart are lost. From then on the sums are lower bounds, and a note says so.
package struct ServerLedger: Sendable {
    /// The gauge of the deliveries that a gateway still owes slow readers.
    static let owed = "gateway_feed_owed"

    /// The programs that keep the ledger.
    package enum Program: String, CaseIterable, Sendable {
        case fanout = "barrage-fanout"
        case gateway

        fileprivate var prefix: String { self == .fanout ? "barrage_" : "gateway_feed_" }
        /// The ledger's gauges, which count outstanding deliveries; unlike counters, gauges can decrease.
        private var gauges: Set<String> { self == .fanout ? [] : [ServerLedger.owed] }

        /// Whether a sample of the metrics, a name with labels, belongs to the ledger.
        fileprivate func isLedgerSample(_ sample: some StringProtocol) -> Bool {
            guard sample.hasPrefix(self.prefix) else { return false }
            return sample.prefix { $0 != "{" }.hasSuffix("_total") || self.isGauge(sample)
        }

        /// Whether a sample of the ledger is a gauge, not a counter.
        fileprivate func isGauge(_ sample: some StringProtocol) -> Bool {
            self.gauges.contains(String(sample.prefix { $0 != "{" }))
        }
    }

    /// The sums at the end of the run.
    package struct Totals: Equatable, Sendable {
        /// Complete sums; sums of 0 are left out.
        package var exact: [String: Double] = [:]
        /// Sums that are lower bounds.
        package var atLeast: [String: Double] = [:]
        /// Why sums are lower bounds, one sentence each.
        package var notes: [String] = []
    }

    /// The metrics of a process at one reading.
    private struct Reading {
        /// When the process started, in seconds since 1970; a restarted process has a different start time.
        var startTime: Double
        var values: [String: Double]
    }

    /// The counts of one process.
    private struct Account {
        let program: Program
        /// The last reading; nil if the process has never answered.
        var lastReading: Reading?
        /// Whether the process did not answer in the last round.
        var isUnreachable = false
        /// Whether the process did not answer in the first round, so that its counts before the run are unknown.
        var wasUnknownAtFirst = false
        var wasRestarted = false
        /// How much each metric has grown since the first reading.
        var growth: [String: Double] = [:]
    }

    /// The counts by the name of the process.
    private var accounts: [String: Account] = [:]
    private var hasFirstRound = false

    package init() {}

    /// Adds one round of readings; the totals count what has grown since the first round.
    ///
    /// - Parameter answers: the answer of each process; nil if it did not answer.
    package mutating func addRound(_ answers: [(name: String, program: Program, metrics: String?)]) {
        for answer in answers {
            var account = self.accounts[answer.name] ?? Account(program: answer.program)
            account.isUnreachable = answer.metrics == nil
            if let text = answer.metrics {
                Self.add(Self.reading(text, of: answer.program), to: &account)
            } else if !self.hasFirstRound {
                account.wasUnknownAtFirst = true
            }
            self.accounts[answer.name] = account
        }
        self.hasFirstRound = true
    }

    private static func add(_ reading: Reading, to account: inout Account) {
        defer { account.lastReading = reading }
        guard let last = account.lastReading else { return }
        let isRestarted =
            reading.startTime != last.startTime
            || reading.values.contains { !account.program.isGauge($0.key) && $0.value < last.values[$0.key] ?? 0 }
        if isRestarted { account.wasRestarted = true }
        for (name, value) in reading.values {
            account.growth[name, default: 0] += value - (isRestarted ? 0 : last.values[name] ?? 0)
        }
    }

    private static func reading(_ text: String, of program: Program) -> Reading {
        let values = MetricsPage(text).values
        return Reading(
            startTime: values[MetricNames.Process.startTime] ?? 0,
            values: values.filter { program.isLedgerSample($0.key) })
    }

    /// The sums over all processes, with notes about missing counts.
    package var totals: Totals {
        var totals = Totals()
        if self.accounts.isEmpty {
            totals.notes.append(
                "The servers' own ledger is not known: their ops ports are known of a cluster that runs in --run-dir, "
                    + "and gateways given by --gateway are not asked.")
        }
        for program in Program.allCases {
            let accounts = self.accounts.filter { $0.value.program == program }.sorted { $0.key < $1.key }
            let programNotes = accounts.compactMap { Self.missingCountsNote($0.key, $0.value) }
            totals.notes += programNotes
            var sums: [String: Double] = [:]
            for (_, account) in accounts { sums.merge(account.growth) { $0 + $1 } }
            for (name, sum) in sums where sum != 0 {
                if programNotes.isEmpty {
                    totals.exact[name] = sum
                } else if !program.isGauge(name) {
                    totals.atLeast[name] = sum
                }
            }
        }
        return totals
    }

    /// A sentence that says why counts of a process are missing; nil if none are missing.
    private static func missingCountsNote(_ name: String, _ account: Account) -> String? {
        let names = "\(account.program.prefix)…"
        if account.lastReading == nil {
            return "\(name) never answered: what it counted is not in the sums of \(names)."
        }
        var parts: [String] = []
        if account.wasUnknownAtFirst { parts.append("did not answer at first") }
        if account.wasRestarted { parts.append("was started again") }
        if account.isUnreachable { parts.append("did not answer at the end") }
        guard !parts.isEmpty else { return nil }
        return
            "\(name) \(parts.joined(separator: " and ")): what it counted unseen is not in the sums of \(names), which "
            + "are therefore lower bounds."
    }
}
