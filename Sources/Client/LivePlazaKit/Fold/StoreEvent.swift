// SPDX-License-Identifier: Apache-2.0

/// An event of a store.
enum StoreEvent: Sendable, Hashable {
    case audience(LiveAudienceEvent)
    case seat(LiveSeatEvent)
    case guest(GuestEvent)
    case host(HostEvent)
    case coHost(CoHostEvent)
    case battle(BattleEvent)
    case gift(GiftEvent)
    case like(LikeEvent)
}
