// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The states of a live: the defaults, until something is known of it.
struct LiveStates: Sendable {
    var live = LiveSlice()
    var stage = StageSlice()
    var audience = LiveAudienceState()
    var barrage = BarrageState()
    var seat = LiveSeatState()
    var coGuest = CoGuestState()
    var coHost = CoHostState()
    var battle = BattleState()
    var gift = GiftState()
    var like = LikeState()
    var summary = LiveSummaryState()
}

/// What several stores show in parts.
struct LiveSlice: Sendable {
    var info = LiveInfo()
    /// Which change of the info was the last one; nil if the server does not say.
    var revision: Int64?
    /// The feed leaves out who comes and goes.
    var isTipsDegraded = false
}

/// The last stage as the server sent it.
struct StageSlice: Sendable {
    var record: StageRecord?
    /// What led to it; only while the input that brought it is folded.
    var events: [StageEvent] = []

    /// A stage is shown whole; one whose revision is not higher is ignored.
    mutating func show(_ record: StageRecord) {
        if record.revision > self.record?.revision ?? 0 { self.record = record }
    }
}

/// What a reducer has besides its own state.
struct FoldContext {
    let liveID: LiveID
    let selfID: UserID
    /// The states before the input.
    let before: LiveStates
    /// The states so far: those of the reducers before this one are new.
    let states: LiveStates
    /// The stage, if the input has changed it.
    let newStage: StageRecord?
    /// The events that the input has led to.
    var events: [StoreEvent] = []

    /// The host of a live of the connection, or of this live.
    func host(of live: LiveID) -> SeatUserInfo {
        if let member = self.states.coHost.connected.first(where: { $0.liveID == live.text }) { return member }
        if live != self.liveID { return SeatUserInfo(liveID: live.text) }
        let owner = self.states.live.info.liveOwner
        return SeatUserInfo(
            userID: owner.userID, userName: owner.userName, avatarURL: owner.avatarURL, role: .owner,
            liveID: live.text)
    }
}
