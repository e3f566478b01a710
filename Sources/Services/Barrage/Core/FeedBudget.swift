// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// The limits of a feed in any sliding second, by class of item (I9 in docs/RULES.md).
package struct FeedBudget: Hashable, Sendable {
    /// The maximum number of items in any sliding second.
    package let total: Int
    /// The number of items in the last second from which on barrage messages are dropped: nine tenths of `total`.
    package let barrage: Int
    /// The number of items in the last second from which on tips are dropped and counters wait: six tenths of `total`.
    package let tips: Int

    /// Creates a budget of `total` items, at least one.
    package init(total: Int) {
        self.total = max(1, total)
        self.barrage = max(1, self.total * 9 / 10)
        self.tips = max(1, self.total * 6 / 10)
    }

    /// The number of items in the last second at which items of the class are dropped; nil for classes that are never
    /// dropped.
    package func limit(of feedClass: FeedClass) -> Int? {
        switch feedClass {
        case .control, .gift: nil
        case .barrage: self.barrage
        case .tip, .counter: self.tips
        }
    }

    /// The maximum number of messages of each sender in a sliding second while more than half of the budget is used.
    ///
    /// The budget of barrage messages is divided evenly, and the share is rounded up. If it were rounded down, messages
    /// would be dropped although the budget allows them.
    package func share(among senders: Int) -> Int { (self.barrage + senders - 1) / max(1, senders) }
}
