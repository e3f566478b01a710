// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// Predicts which commands the fan-out will reject, so that the app's backend need not be asked about them. The
/// prediction uses the public topics; without the record of a running live it predicts no rejection.
extension ReadModel {
    /// Returns the reason why a user's message would be rejected, apart from the word filter; nil if it would not be.
    package func rejection(of message: FeedContent, in key: LiveKey, from user: UserID) -> Rejection? {
        guard let live = self.running(key) else { return nil }
        return message.validationError ?? (live.info.isMuted(for: user) ? .roomMuted : nil)
    }

    /// Returns the reason why a gift would be rejected; nil if it would not be.
    package func rejection(of order: GiftOrder, in key: LiveKey) -> Rejection? {
        guard let live = self.running(key) else { return nil }
        let settings = self.apps[key.app]
        return order.rejection(
            isKnown: settings.gift(order.gift) != nil, hasGifts: settings.gifts.contains { !$0.gifts.isEmpty },
            isOn: live.info.isGiftEnabled)
    }
}
