// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The states of one live's stores, which are the defaults until the client has received something about the live.
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

/// The part of a live's state that several stores need.
struct LiveSlice: Sendable {
    var info = LiveInfo()
    /// The revision of the live's info; nil if the server does not send it.
    var revision: Int64?
}

/// The last stage that the server has sent: the seats, connection, battle and layout of a live, which are one record.
struct StageSlice: Sendable {
    var record: StageRecord?
    /// The events that led to the stage; set only while the input with the stage is folded.
    var events: [StageEvent] = []

    /// Replaces the stage, if the revision of the record is higher than the present one.
    mutating func show(_ record: StageRecord) {
        if record.revision > self.record?.revision ?? 0 { self.record = record }
    }
}

/// What a `reduce` method gets in addition to its own state and the input.
struct FoldContext {
    let liveID: LiveID
    let selfID: UserID
    /// The states of the live, of which earlier `reduce` methods have changed some; the list of messages is empty here.
    var states: LiveStates
    /// The new stage; nil if the input has not changed the stage.
    let newStage: StageRecord?
    /// The snapshots that already contain the input's change.
    ///
    /// The input leads to events, but does not change the states that these snapshots have set.
    let coveringSnapshots: Set<SnapshotName>
    /// If the input is a snapshot, the requests of this user that it may lack although they are open; otherwise none.
    var unconfirmedRequests: Set<RequestName> = []
    /// The open requests in the lists of a host's stores.
    let listedRequests: ListedRequests
    /// The events that the input has led to.
    var events: [StoreEvent] = []

    /// Whether this user is the owner of the live or an admin.
    var isHost: Bool {
        let info = self.states.live.info
        return info.liveOwner.userID == self.selfID.text || info.admins.contains(self.selfID.text)
    }

    /// A list of open requests after a read: the users whom the snapshot contains, then those of the list shown before
    /// whose requests it may lack although they are open (`unconfirmedRequests`, R1.25).
    func withUnconfirmed<User>(_ read: [User], shown: [User], name: (User) -> RequestName) -> [User] {
        let readNames = Set(read.map(name))
        return read + shown.filter { self.unconfirmedRequests.contains(name($0)) && !readNames.contains(name($0)) }
    }

    /// The host of this live or of a connected live; a user without an id if the live is neither.
    func host(of live: LiveID) -> SeatUserInfo {
        if let member = self.states.coHost.connected.first(where: { $0.liveID == live.text }) { return member }
        if live != self.liveID { return SeatUserInfo(liveID: live.text) }
        let owner = self.states.live.info.liveOwner
        return SeatUserInfo(
            userID: owner.userID, userName: owner.userName, avatarURL: owner.avatarURL, role: .owner,
            liveID: live.text)
    }
}
