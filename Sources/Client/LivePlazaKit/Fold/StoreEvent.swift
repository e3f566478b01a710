// SPDX-License-Identifier: Apache-2.0

/// An event that one of a live's stores publishes.
enum StoreEvent: Sendable, Hashable {
    case audience(LiveAudienceEvent)
    /// What a host has done with this user's own devices.
    case seat(LiveSeatEvent)
    /// An event about requests for seats, for viewers and guests.
    case guest(GuestEvent)
    /// An event about requests for seats, for the owner and the admins.
    case host(HostEvent)
    case coHost(CoHostEvent)
    case battle(BattleEvent)
    case gift(GiftEvent)
    case like(LikeEvent)
}
