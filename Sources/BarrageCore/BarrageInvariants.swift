// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

extension BarrageMachine {
    /// What became of all that was published to the feeds of one partition (I10); lives that are gone are not in it.
    package func ledger(of rows: BarrageRows) -> Ledger {
        var sum = Ledger()
        for key in rows.sortedKeys {
            if case .feed(let feed)? = rows[key] { sum.add(feed.value.ledger) }
        }
        return sum
    }

    /// What is wrong with the rows of one partition; empty when all invariants hold.
    package func checkInvariants(_ rows: BarrageRows) -> [String] {
        var broken: [String] = []
        for key in rows.sortedKeys {
            switch (key.kind, rows[key]) {
            case (.feed, .feed(let feed)?):
                broken += self.checkFeed(key.live, feed.value).map { "\(key.text): \($0)" }
            case (.calls, .calls(let window)?):
                if window.count > OutcomeWindow.limit { broken.append("\(key.text): too many outcomes (I16)") }
            case (.givers, .givers(let givers)?):
                guard case .feed(let feed)? = rows[.feed(key.live)] else {
                    broken.append("\(key.text): givers without a feed")
                    continue
                }
                if feed.value.statistics.totalUniqueGiftSenders != givers.count {
                    broken.append("\(key.text): the givers are \(givers.count), the figures say otherwise")
                }
            case (.backend, .backend(let words)?):
                guard rows[.calls(key.live, key.session)] != nil else {
                    broken.append("\(key.text): words about calls that nobody knows of")
                    continue
                }
                if words.count > OutcomeWindow.limit { broken.append("\(key.text): too many words (I16)") }
            default: broken.append("\(key.text): a row of another kind")
            }
        }
        return broken
    }

    private func checkFeed(_ key: LiveKey, _ feed: FeedRow) -> [String] {
        var broken: [String] = []
        if !feed.ledger.isBalanced { broken.append("the ledger does not balance (I10)") }
        if feed.lastNumber != feed.ledger.admittedCount { broken.append("numbers and admissions differ (I7)") }
        let budget = self.book[key.app].budget
        if feed.admissions.count > budget.total { broken.append("more admissions kept than the budget (I16)") }
        if feed.admissions.tallies.count > budget.total { broken.append("more senders kept than the budget (I16)") }
        for tally in feed.admissions.tallies {
            let admitted = feed.admissions.admissions.count { $0.sender == tally.sender }
            if admitted != tally.admitted { broken.append("\(tally.sender) is counted wrongly (I9)") }
        }
        let times = feed.admissions.admissions.map(\.at)
        if zip(times, times.dropFirst()).contains(where: { $0 > $1 }) { broken.append("admissions out of order (I9)") }
        if feed.rights.mutes.mutes.count > Mutes.limit { broken.append("more mutes than the limit (I16)") }
        if feed.counters.voices.count > feed.rights.seated.count { broken.append("voices without a seat (I16)") }
        let waits = Counters.Kind.allCases.contains { feed.counters.isWaiting($0) }
        if feed.numbers.removeAt == nil, feed.numbers.wakeAt == nil,
            waits || feed.numbers.degradedUntil != nil
        {
            broken.append("something waits, and nothing wakes it")
        }
        return broken
    }
}
