// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// Gifts: no mute and no budget holds them back, for they are paid (reference 11.1).
extension BarrageMachine {
    /// Sends a gift, or says why not.
    func give(
        _ order: GiftOrder, _ key: LiveKey, by caller: Caller, in rows: inout BarrageRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        let rules = self.book[key.app]
        let counter = caller.counter
        var hasGiven = false
        self.answer(caller, about: key, under: rules, in: &rows, at: moment, into: &effects) { feed, effects in
            if let refusal = feed.refusal(of: caller) { return feed.refuse(counter, refusal) }
            let gift: Gift
            switch feed.gift(of: order, under: rules) {
            case .success(let known): gift = known
            case .failure(let refusal): return feed.refuse(counter, refusal)
            }
            hasGiven = true
            let receivers = order.receivers.isEmpty ? [feed.rights.owner] : order.receivers
            let content = FeedContent.gift(
                sender: caller.user, gift: gift, count: order.count, receivers: receivers)
            let position = feed.enter(content, .gift, to: key, under: rules, at: moment.now, into: &effects)
            feed.statistics.totalGiftsSent.add(order.number)
            feed.statistics.totalGiftCoins.add(order.coins(at: gift.coins))
            feed.summaryChanged(at: moment.now)
            return Fate(counter, at: position)
        }
        if hasGiven { self.count(caller.userID, key, in: &rows) }
    }

    /// Counts who gave; in a row of its own, which changes only when somebody gives for the first time.
    private func count(_ giver: UserID, _ key: LiveKey, in rows: inout BarrageRows) {
        var givers = UniqueCount()
        if case .givers(let known)? = rows[.givers(key)] { givers = known }
        givers.insert(giver.text)
        rows[.givers(key)] = .givers(count: givers)
        rows.updateFeed(key) { feed in feed.statistics.totalUniqueGiftSenders = givers.count }
    }
}

extension FeedRow {
    /// The gift that is ordered, or why it may not be sent here now.
    fileprivate func gift(of order: GiftOrder, under rules: AppRules) -> Result<Gift, Refusal> {
        let gift = rules.gifts[order.gift]
        let refusal = order.refusal(
            isKnown: gift != nil, hasGifts: !rules.gifts.isEmpty, isOn: self.rights.isGiftEnabled)
        guard let gift, refusal == nil else { return .failure(refusal ?? .noSuchGift) }
        return .success(gift)
    }
}

extension Int64 {
    /// Adds, up to the highest number there is.
    fileprivate mutating func add(_ number: Int64) {
        let (sum, isTooHigh) = self.addingReportingOverflow(number)
        self = isTooHigh ? .max : sum
    }
}
