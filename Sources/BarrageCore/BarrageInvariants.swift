// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

extension BarrageMachine {
    /// What became of all that was published to the feeds of one partition (I10); lives that are gone are not in it.
    package func ledger(of rows: BarrageRows) -> Ledger {
        var sum = Ledger()
        for key in rows.sortedKeys {
            if case .feed(let feed)? = rows[key] { sum.add(feed.ledger) }
        }
        return sum
    }

    /// What is wrong with the rows of one partition; empty when all invariants hold.
    package func checkInvariants(_ rows: BarrageRows) -> [String] {
        var broken: [String] = []
        for key in rows.sortedKeys {
            switch (key, rows[key]) {
            case (.feed(let live), .feed(let feed)?):
                broken += self.checkFeed(live, feed).map { "\(key.text): \($0)" }
            case (.calls, .calls(let window)?):
                if window.fates.count > OutcomeWindow.limit { broken.append("\(key.text): too many outcomes (I16)") }
            default: broken.append("\(key.text): a row of another kind")
            }
        }
        return broken
    }

    private func checkFeed(_ key: LiveKey, _ feed: FeedRow) -> [String] {
        var broken: [String] = []
        if !feed.ledger.isBalanced { broken.append("the ledger does not balance (I10)") }
        if feed.lastNumber != feed.ledger.admittedCount { broken.append("numbers and admissions differ (I7)") }
        let budget = FeedBudget(total: self.policies[key.app].feedBudget)
        if feed.admissions.count > budget.total { broken.append("more admissions kept than the budget (I16)") }
        if feed.admissions.tallies.count > budget.barrage { broken.append("more senders kept than the budget (I16)") }
        for tally in feed.admissions.tallies {
            let admitted = feed.admissions.admissions.count { $0.sender == tally.user }
            if admitted != tally.admitted { broken.append("\(tally.user) is counted wrongly (I9)") }
        }
        let times = feed.admissions.admissions.map(\.at)
        if zip(times, times.dropFirst()).contains(where: { $0 > $1 }) { broken.append("admissions out of order (I9)") }
        return broken
    }
}
