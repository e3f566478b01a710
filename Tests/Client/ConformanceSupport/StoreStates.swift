// SPDX-License-Identifier: Apache-2.0
package import LivePlazaKit

/// The states that the stores of one live show at a client.
package struct StoreStates: Equatable {
    package var live: LiveInfo
    package var audience: LiveAudienceState
    package var messages: [String]
    package var allowsSending: Bool
    package var seats: LiveSeatState
    package var guests: CoGuestState
    package var coHosts: CoHostState
    package var battles: BattleState
    package var gifts: GiftState
    package var likes: LikeState
    package var summary: LiveSummaryState

    /// Describes each property whose value differs from the one in `expected`, with both values.
    package func differences(from expected: StoreStates) -> [String] {
        func difference(_ name: String, _ property: KeyPath<StoreStates, some Equatable>) -> String? {
            let (value, expectedValue) = (self[keyPath: property], expected[keyPath: property])
            return value == expectedValue ? nil : "\(name): \(value) instead of \(expectedValue)"
        }
        return [
            difference("live", \.live), difference("audience", \.audience), difference("messages", \.messages),
            difference("allowsSending", \.allowsSending), difference("seats", \.seats),
            difference("guests", \.guests), difference("coHosts", \.coHosts), difference("battles", \.battles),
            difference("gifts", \.gifts), difference("likes", \.likes), difference("summary", \.summary),
        ].compactMap { $0 }
    }

    /// Clears the states that may differ between two users of a live, so that they can be compared.
    ///
    /// These are requests that concern this user, states that only hosts read, and the gifts, which a client reads only
    /// when its app asks for them. Unless the clients have one simulated time, the duration is cleared too: between two
    /// summaries of the server, each client counts it with its own clock.
    package mutating func clearUserSpecificStates(hasSimulatedTime: Bool) {
        if !hasSimulatedTime { self.summary.summaryData.totalDuration = 0 }
        self.guests.applicants = []
        self.guests.invitees = []
        self.guests.candidates = []
        (self.coHosts.applicant, self.coHosts.invitees, self.coHosts.candidates) = (nil, [], [])
        self.coHosts.candidatesCursor = ""
        self.gifts.usableGifts = []
    }

    package init(_ plaza: LivePlaza, _ live: String) {
        let barrage = plaza.barrageStore(liveID: live).state.value
        self.live = plaza.liveListStore.state.value.currentLive
        self.audience = plaza.audienceStore(liveID: live).state.value
        // The server may list the viewers in any order.
        self.audience.audienceList.sort { $0.userID < $1.userID }
        // The list that a client reads is sorted by ids, but the client appends a mute that happens later.
        self.audience.messageBannedUserList.sort { $0.userID < $1.userID }
        self.messages = barrage.messageList.map(\.textContent)
        self.allowsSending = barrage.allowSendMessage
        self.seats = plaza.seatStore(liveID: live).state.value
        self.guests = plaza.coGuestStore(liveID: live).state.value
        self.coHosts = plaza.coHostStore(liveID: live).state.value
        self.battles = plaza.battleStore(liveID: live).state.value
        self.gifts = plaza.giftStore(liveID: live).state.value
        self.likes = plaza.likeStore(liveID: live).state.value
        self.summary = plaza.summaryStore(liveID: live).state.value
    }
}
