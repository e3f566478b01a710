// SPDX-License-Identifier: Apache-2.0
import LivePlazaKit

/// What a user's stores of one live show, as far as it must be the same for all users in the live.
struct StoreSnapshot: Equatable {
    var live: LiveInfo
    var messages: [String]
    var seats: LiveSeatState
    var connected: [SeatUserInfo]
    var likes: LikeState

    init(_ plaza: LivePlaza, _ live: String, includesMessages: Bool = true) {
        self.live = plaza.liveListStore.state.value.currentLive
        // The number of viewers is left out, because a client receives it up to a second late.
        self.live.totalViewerCount = 0
        self.messages =
            includesMessages ? plaza.barrageStore(liveID: live).state.value.messageList.map(\.textContent) : []
        self.seats = plaza.seatStore(liveID: live).state.value
        self.connected = plaza.coGuestStore(liveID: live).state.value.connected
        self.likes = plaza.likeStore(liveID: live).state.value
    }
}
