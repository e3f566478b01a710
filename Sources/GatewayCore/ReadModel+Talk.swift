// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// What the fan-out would refuse, as far as the public topics tell: an app's backend need not be asked about it. Of a live
/// that is not known here to run nothing is.
extension ReadModel {
    /// Why a user's message would be refused, but for its words.
    package func refusal(of message: FeedContent, in key: LiveKey, from user: UserID) -> Refusal? {
        guard let room = self.running(key) else { return nil }
        return message.fault ?? (room.info.isMuted(for: user) ? .roomMuted : nil)
    }

    /// Why a gift would be refused.
    package func refusal(of order: GiftOrder, in key: LiveKey) -> Refusal? {
        guard let room = self.running(key) else { return nil }
        let settings = self.apps[key.app]
        return order.refusal(
            isKnown: settings.gift(order.gift) != nil, hasGifts: settings.gifts.contains { !$0.gifts.isEmpty },
            isOn: room.info.isGiftEnabled)
    }
}
