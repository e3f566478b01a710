// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// Gifts: no mute and no budget holds them back, for they are paid (reference 11.1).
extension BarrageMachine {
    /// What a gift call asks for.
    struct GiftOrder {
        var gift: GiftID
        var count: Int
        /// Empty: the live's owner.
        var receivers: [UserID]
    }

    /// Sends a gift, or says why not.
    func give(
        _ order: GiftOrder, _ key: LiveKey, by caller: Caller, in rows: inout BarrageRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        let rules = self.book[key.app]
        let counter = caller.request.counter
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
            let count = Int64(order.count) * Int64(receivers.count)
            feed.statistics.totalGiftsSent.add(count)
            feed.statistics.totalGiftCoins.add(gift.coins.times(count))
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
    fileprivate func gift(of order: BarrageMachine.GiftOrder, under rules: AppRules) -> Result<Gift, Refusal> {
        if rules.gifts.isEmpty { return .failure(.giftsNotEnabled) }
        if !self.rights.isGiftEnabled { return .failure(.giftsOff) }
        guard let gift = rules.gifts[order.gift] else { return .failure(.noSuchGift) }
        if !Limits.giftCount.contains(order.count) { return .failure(.giftCount) }
        let isPossible =
            order.receivers.count <= Limits.giftReceivers && Set(order.receivers).count == order.receivers.count
        return isPossible ? .success(gift) : .failure(.giftReceivers)
    }
}

extension Int64 {
    /// The product, or the highest number there is.
    fileprivate func times(_ factor: Int64) -> Int64 {
        let (product, isTooHigh) = self.multipliedReportingOverflow(by: factor)
        return isTooHigh ? .max : product
    }

    /// Adds, up to the highest number there is.
    fileprivate mutating func add(_ number: Int64) {
        let (sum, isTooHigh) = self.addingReportingOverflow(number)
        self = isTooHigh ? .max : sum
    }
}
