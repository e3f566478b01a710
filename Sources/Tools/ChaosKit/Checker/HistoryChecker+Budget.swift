// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// The check of how many items a feed carries in a second.
extension HistoryChecker {
    /// The length of the budget's window, in milliseconds.
    private static let windowMilliseconds: Int64 = 1_000

    /// Checks that no sliding second of a feed has more texts, tips and counters than the budget (I9).
    ///
    /// The time that counts is the one that the fan-out gave an item. Only Kafka's log has this time, so without logs
    /// nothing is checked. Control items and gifts enter a feed even when the budget is used up, and are not counted.
    static func checkBudgets(_ history: RoundHistory) -> [Finding] {
        let budget = history.feedBudget
        return history.logs.compactMap { log in
            var times: [Int64] = []
            for case .item(_, let number, let content, let at?) in log.steps where !content.alwaysEnters {
                times.append(at.milliseconds)
                guard times.count > budget else { continue }
                // If these items, one more than the budget, lie within a window, the window has too many.
                let lastTimes = times.suffix(budget + 1)
                guard let first = lastTimes.first, at.milliseconds - first < Self.windowMilliseconds else { continue }
                let text = "the feed of \(log.live) has more than \(budget) messages within a second up to item"
                return Finding(promise: "I9", text: "\(text) \(number)")
            }
            return nil
        }
    }
}

extension FeedContent {
    /// Whether the item enters its feed whatever the budget is.
    fileprivate var alwaysEnters: Bool {
        switch self.feedClass {
        case .control, .gift: true
        case .barrage, .tip, .counter: false
        }
    }
}
