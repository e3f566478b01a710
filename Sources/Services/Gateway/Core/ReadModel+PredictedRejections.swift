// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// Predicts which messages and gifts the fan-out (the machine that writes the feeds of lives) will reject; the app's
/// backend is not asked about these (R14.11).
///
/// If a live is not running according to the read model, no rejection is predicted.
extension ReadModel {
    /// Returns the reason why a user's message would be rejected; nil if it would not be.
    ///
    /// The word filter is not checked here.
    package func rejection(of message: FeedContent, in key: LiveKey, from user: UserID) -> Rejection? {
        guard let live = self.running(key) else { return nil }
        return message.validationError ?? (live.info.isMuted(for: user) ? .roomMuted : nil)
    }

    /// Returns the reason why a gift would be rejected; nil if it would not be.
    package func rejection(of order: GiftOrder, in key: LiveKey) -> Rejection? {
        guard let live = self.running(key) else { return nil }
        let settings = self.apps[key.app]
        return order.rejection(
            isInCatalogue: settings.gift(order.gift) != nil,
            isCatalogueEmpty: settings.gifts.allSatisfy(\.gifts.isEmpty),
            isGiftEnabled: live.info.isGiftEnabled)
    }
}
