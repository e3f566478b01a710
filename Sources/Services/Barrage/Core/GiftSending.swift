// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Gifts. Users pay for them, so neither a mute nor the budget keeps a gift out of the feed (R5.9 and R12.3 in
/// docs/RULES.md).
extension BarrageMachine {
    /// Publishes the gift whose id is in `order`, or rejects the order.
    func sendGift(
        _ order: GiftOrder, _ key: LiveKey, by caller: Caller, in rows: inout BarrageRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        let rules = self.rules[key.app]
        // Stays false for a repeated call, which `replyOnce` answers without calling the closure.
        var isAccepted = false
        self.replyOnce(to: caller, about: key, under: rules, in: &rows, at: moment, into: &effects) { feed, effects in
            if let rejection = feed.rejection(of: caller) { return feed.reject(rejection) }
            let gift: Gift
            switch feed.gift(of: order, under: rules) {
            case .success(let orderedGift): gift = orderedGift
            case .failure(let rejection): return feed.reject(rejection)
            }
            isAccepted = true
            let receivers = order.receivers.isEmpty ? [feed.rights.owner] : order.receivers
            let content = FeedContent.gift(
                sender: caller.user, gift: gift, count: order.count, receivers: receivers)
            let position = feed.append(content, .gift, to: key, under: rules, at: moment.now, into: &effects)
            feed.statistics.totalGiftsSent = feed.statistics.totalGiftsSent.saturatingAdd(order.totalCount)
            feed.statistics.totalGiftCoins = feed.statistics.totalGiftCoins.saturatingAdd(order.coins(at: gift.coins))
            feed.markSummaryChanged(at: moment.now)
            return MessageOutcome(at: position)
        }
        if isAccepted { self.countGiver(caller.userID, key, in: &rows) }
    }

    /// Counts `giver`, the sender of a gift, once in each live.
    ///
    /// The count of givers has a separate row, because it changes only with the first gift of each user, but the feed's
    /// row changes with each message.
    private func countGiver(_ giver: UserID, _ key: LiveKey, in rows: inout BarrageRows) {
        var givers = UniqueCount()
        if case .givers(let stored)? = rows[.givers(key)] { givers = stored }
        givers.insert(giver.text)
        rows[.givers(key)] = .givers(count: givers)
        rows.updateFeed(key) { feed in feed.statistics.totalUniqueGiftSenders = givers.count }
    }
}

extension FeedRow {
    /// Returns the ordered gift from the catalogue, or the reason for the rejection of the order.
    fileprivate func gift(of order: GiftOrder, under rules: AppRules) -> Result<Gift, Rejection> {
        let gift = rules.gifts[order.gift]
        let rejection = order.rejection(
            isInCatalogue: gift != nil, isCatalogueEmpty: rules.gifts.isEmpty, isGiftEnabled: self.rights.isGiftEnabled)
        guard let gift, rejection == nil else { return .failure(rejection ?? .noSuchGift) }
        return .success(gift)
    }
}
