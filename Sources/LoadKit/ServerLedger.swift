// SPDX-License-Identifier: Apache-2.0
internal import Observability

/// What the servers counted during a run (I10), gathered by asking each process again and again.
///
/// A process that is started again counts from 0, as its start time tells. What it had counted between the last answer
/// and its end nobody knows, so its sums are lower bounds from then on and a sentence says so.
package struct ServerLedger: Sendable {
    /// The programs that keep the ledger.
    package enum Program: String, CaseIterable, Sendable {
        case fanout = "barrage-fanout"
        case gateway

        fileprivate var prefix: String { self == .fanout ? "barrage_" : "gateway_feed_" }
        /// What it owes now and paid later: the one of the ledger's names that can go down.
        private var gauges: Set<String> { self == .fanout ? [] : ["gateway_feed_owed"] }

        fileprivate func counts(_ sample: some StringProtocol) -> Bool {
            guard sample.hasPrefix(self.prefix) else { return false }
            return sample.prefix { $0 != "{" }.hasSuffix("_total") || self.isGauge(sample)
        }

        fileprivate func isGauge(_ sample: some StringProtocol) -> Bool {
            self.gauges.contains(String(sample.prefix { $0 != "{" }))
        }
    }

    /// What is known at the end.
    package struct Totals: Equatable, Sendable {
        /// Sums of which nothing is missing; what did not change is left out.
        package var exact: [String: Double] = [:]
        /// Sums to which something may be missing.
        package var atLeast: [String: Double] = [:]
        /// Why, one sentence each.
        package var notes: [String] = []
    }

    /// A process's answer.
    private struct Page {
        var start: Double
        var values: [String: Double]
    }

    /// What one process counted.
    private struct Account {
        let program: Program
        var last: Page?
        var isAway = false
        var wasUnknownAtFirst = false
        var wasRestarted = false
        var counted: [String: Double] = [:]
    }

    private var accounts: [String: Account] = [:]
    private var hasBegun = false

    package init() {}

    /// Takes what the processes answered in one round; the first round is the beginning.
    ///
    /// - Parameter answers: by process; nil where none came.
    package mutating func take(_ answers: [(name: String, program: Program, metrics: String?)]) {
        for answer in answers {
            var account = self.accounts[answer.name] ?? Account(program: answer.program)
            account.isAway = answer.metrics == nil
            if let text = answer.metrics {
                Self.take(Self.page(text, of: answer.program), isFirstRound: !self.hasBegun, &account)
            } else if !self.hasBegun {
                account.wasUnknownAtFirst = true
            }
            self.accounts[answer.name] = account
        }
        self.hasBegun = true
    }

    private static func take(_ page: Page, isFirstRound: Bool, _ account: inout Account) {
        defer { account.last = page }
        guard let last = account.last else { return }
        let isNewLife =
            page.start != last.start
            || page.values.contains { !account.program.isGauge($0.key) && $0.value < last.values[$0.key] ?? 0 }
        if isNewLife { account.wasRestarted = true }
        for (name, value) in page.values {
            account.counted[name, default: 0] += value - (isNewLife ? 0 : last.values[name] ?? 0)
        }
    }

    private static func page(_ text: String, of program: Program) -> Page {
        var page = Page(start: 0, values: [:])
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else {
                continue
            }
            let name = line[..<space]
            if name == MetricNames.Process.startTime { page.start = value }
            if program.counts(name) { page.values[String(name)] = value }
        }
        return page
    }

    /// The sums over all processes, and what is not known of them.
    package var totals: Totals {
        var totals = Totals()
        if self.accounts.isEmpty {
            totals.notes.append(
                "The servers' own ledger is not known: their ops ports are known of a cluster that runs in --run-dir, and "
                    + "gateways given by --gateway are not asked.")
        }
        for program in Program.allCases {
            let accounts = self.accounts.filter { $0.value.program == program }.sorted { $0.key < $1.key }
            let gaps = accounts.compactMap { Self.gap($0.key, $0.value) }
            totals.notes += gaps
            var sums: [String: Double] = [:]
            for (_, account) in accounts { sums.merge(account.counted) { $0 + $1 } }
            for (name, sum) in sums where sum != 0 {
                if gaps.isEmpty {
                    totals.exact[name] = sum
                } else if !program.isGauge(name) {
                    totals.atLeast[name] = sum
                }
            }
        }
        return totals
    }

    /// What is not known of a process's counts; nil when all is.
    private static func gap(_ name: String, _ account: Account) -> String? {
        let names = "\(account.program.prefix)…"
        if account.last == nil { return "\(name) never answered: what it counted is not in the sums of \(names)." }
        var parts: [String] = []
        if account.wasUnknownAtFirst { parts.append("did not answer at first") }
        if account.wasRestarted { parts.append("was started again") }
        if account.isAway { parts.append("did not answer at the end") }
        guard !parts.isEmpty else { return nil }
        return
            "\(name) \(parts.joined(separator: " and ")): what it counted unseen is not in the sums of \(names), which "
            + "are therefore lower bounds."
    }
}
