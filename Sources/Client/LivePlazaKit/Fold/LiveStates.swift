// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The states of a live; the defaults until something is known.
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

/// State of a live that several stores show.
struct LiveSlice: Sendable {
    var info = LiveInfo()
    /// The revision of the live's info; nil if the server does not send it.
    var revision: Int64?
    /// Whether the feed leaves out some tips about users who join and leave.
    var isTipsDegraded = false
}

/// The last stage as the server sent it.
struct StageSlice: Sendable {
    var record: StageRecord?
    /// The events that led to the stage; set only while the input with the stage is folded.
    var events: [StageEvent] = []

    /// Replaces the stage; ignores a record whose revision is not higher.
    mutating func show(_ record: StageRecord) {
        if record.revision > self.record?.revision ?? 0 { self.record = record }
    }
}

/// The context of a reducer in addition to its own state.
struct FoldContext {
    let liveID: LiveID
    let selfID: UserID
    /// The states so far, including the results of the reducers before this one; without the messages.
    var states: LiveStates
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
