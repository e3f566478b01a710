// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel

@testable import BarrageCore

/// The invariants of the fan-out's rows; docs/RULES.md explains their numbers, such as I10.
extension BarrageMachine: CheckedMachine {
    func violations(in rows: BarrageRows, at now: Timestamp) -> [String] {
        var violations: [String] = []
        for key in rows.sortedKeys {
            switch (key.kind, rows[key]) {
            case (.feed, .feed(let feed)?):
                violations += self.checkFeed(key.live, feed.value).map { "\(key.text): \($0)" }
            case (.calls, .calls(let window)?):
                if window.storage.count > IdempotencyLimits.maxOutcomes {
                    violations.append("\(key.text): too many outcomes (I16)")
                }
            case (.givers, .givers(let givers)?):
                guard case .feed(let feed)? = rows[.feed(key.live)] else {
                    violations.append("\(key.text): givers without a feed")
                    continue
                }
                if feed.value.statistics.totalUniqueGiftSenders != givers.count {
                    violations.append("\(key.text): \(givers.count) givers, but the statistics have another number")
                }
            case (.backend, .backend(let errors)?):
                guard rows[.calls(key.live, key.session)] != nil else {
                    violations.append("\(key.text): errors of calls without a window")
                    continue
                }
                if errors.entries.count > IdempotencyLimits.maxOutcomes {
                    violations.append("\(key.text): too many errors (I16)")
                }
            default: violations.append("\(key.text): a row of a kind that does not fit its key")
            }
        }
        return violations
    }

    /// Lists the violations in the row of one feed.
    private func checkFeed(_ key: LiveKey, _ feed: FeedRow) -> [String] {
        var violations: [String] = []
        if !feed.ledger.isBalanced { violations.append("the ledger does not balance (I10)") }
        if feed.lastNumber != feed.ledger.admittedCount { violations.append("numbers and admissions differ (I7)") }
        let budget = self.rules[key.app].budget
        if feed.admissions.count > budget.total { violations.append("more admissions stored than the budget (I16)") }
        if feed.admissions.tallies.count > budget.total {
            violations.append("more senders stored than the budget (I16)")
        }
        for tally in feed.admissions.tallies {
            let admitted = feed.admissions.admissions.count { $0.sender == tally.sender }
            if admitted != tally.admitted { violations.append("a wrong count for sender \(tally.sender) (I9)") }
        }
        let times = feed.admissions.admissions.map(\.at)
        if zip(times, times.dropFirst()).contains(where: { $0 > $1 }) {
            violations.append("admissions out of order (I9)")
        }
        if feed.rights.mutes.mutes.count > Mutes.limit { violations.append("more mutes than the limit (I16)") }
        if feed.counters.voices.count > feed.rights.seated.count { violations.append("voices without a seat (I16)") }
        let hasPendingCounter = Counters.Kind.allCases.contains { feed.counters.isPending($0) }
        if feed.numbers.removeAt == nil, feed.numbers.wakeAt == nil,
            hasPendingCounter || feed.numbers.degradedUntil != nil
        {
            violations.append("a counter or the end of a period of dropped tips is pending, but no wake time is set")
        }
        return violations
    }
}
