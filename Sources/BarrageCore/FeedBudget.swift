// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// How much of a sliding second each class of a feed may fill (I9).
package struct FeedBudget: Hashable, Sendable {
    /// Messages in any sliding second.
    package let total: Int
    /// Barrage enters while fewer than this many entered in the last second: nine tenths.
    package let barrage: Int
    /// Tips, and counters, enter while fewer than this many did: six tenths.
    package let tips: Int

    /// A budget of `total` messages; at least one.
    package init(total: Int) {
        self.total = max(1, total)
        self.barrage = max(1, self.total * 9 / 10)
        self.tips = max(1, self.total * 6 / 10)
    }

    /// How full the last second may be before a message of the class is dropped; nil: it always enters.
    package func limit(of feedClass: FeedClass) -> Int? {
        switch feedClass {
        case .control, .gift: nil
        case .barrage: self.barrage
        case .tip, .counter: self.tips
        }
    }

    /// What one of `senders` may have of the last second when more than half of it is used.
    ///
    /// Its even share, rounded up: rounded down, senders at one even rate would lose messages that the budget has room
    /// for.
    package func share(among senders: Int) -> Int { (self.barrage + senders - 1) / max(1, senders) }
}
