// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// The stay in one live: entering, the changes that arrive while the client is in it, and leaving.
///
/// `fold` holds the states of the live. To fold an input means to apply it to the states. A snapshot is a part of the
/// live's state that is read by a call. `sinks` gives the app's stores, in which the states are shown.
extension PlazaEngine {
    /// The interval at which the displayed duration of a live is increased.
    private static var durationTick: Milliseconds { .seconds(1) }
    /// How long a client may be away and still get all notices.
    ///
    /// The time is less than the minute for which the server keeps notices, because the client notices a loss of the
    /// connection late.
    private static var maxAwayTimeWithNotices: Milliseconds { .seconds(30) }
    /// When fewer viewers than this are still listed although the live has more, the list is read again.
    ///
    /// This is well below the maximum (`LiveAudienceState.maxListedViewers`), so that not each leave causes a read.
    private static var minListedViewers: Int { 150 }

    /// The id of the live that the client is in; empty if it is in none.
    var currentLiveID: String { self.liveSession?.fold.liveID.text ?? "" }

    /// Enters a live and waits until its info is known.
    ///
    /// - Throws: `noSuchRoomOnEntry`, `inAnotherRoom`, `roomFull`, `banned`, `noPermission`.
    func enter(_ liveID: String) async throws(ErrorInfo) -> LiveInfo {
        _ = try await self.call("live.join", live: LiveID(liveID))
        return try await self.loadJoinedLive(liveID)
    }

    /// Reads the info of a live that was just joined, and begins to read its other snapshots.
    ///
    /// - Throws: `notInRoom`.
    func loadJoinedLive(_ liveID: String) async throws(ErrorInfo) -> LiveInfo {
        let live = LiveID(liveID)
        guard let session = self.liveSession, session.fold.liveID == live else { throw Self.leftMeanwhileError }
        // The client was in the live before this join, and has its info.
        guard session.fold.states.live.info.isEmpty else { return session.fold.states.live.info }
        do throws(ErrorInfo) {
            try await self.refresh(.details)
        } catch {
            // Without its info the live cannot be shown, so the client leaves the live. But the app may have left the
            // live, and even joined it again, meanwhile.
            // Another join of the app may also have read the info.
            if let current = self.liveSession, current.number == session.number, current.fold.states.live.info.isEmpty {
                _ = try? await self.call("live.leave", live: live)
            }
            throw error
        }
        guard let entered = self.liveSession, entered.number == session.number else { throw Self.leftMeanwhileError }
        self.readNow([.audience, .statistics] + (self.isHost ? self.snapshotsForHosts : [.mutes]))
        self.leaveOldSeat()
        return entered.fold.states.live.info
    }

    static var leftMeanwhileError: ErrorInfo { ErrorInfo(.notInRoom, "the live was left meanwhile") }

    /// Folds a change that this client has made, if it is about the live that the client is in.
    func applyLocalChange(_ change: LocalChange, in liveID: String) {
        self.applyInput(.local(change), in: LiveID(liveID))
    }

    /// Folds the result of a read, if it is about the live that the client is in.
    ///
    /// - Returns: whether the snapshot was folded.
    @discardableResult
    func applySnapshot(_ snapshot: Snapshot, in liveID: String) -> Bool {
        guard self.liveSession?.fold.liveID.text == liveID else { return false }
        let events = self.liveSession?.fold.snapshotRead(snapshot) ?? []
        self.showStates(publishing: events)
        if snapshot.name?.hasRequests == true {
            self.rememberRequestDeadlines(.snapshot(snapshot))
            self.awaitNotices()
        }
        return true
    }

    /// The states of a live: the defaults, unless the client is in it.
    func states(of liveID: String) -> LiveStates {
        guard let fold = self.liveSession?.fold, fold.liveID.text == liveID else { return LiveStates() }
        return fold.states
    }

    /// Updates the live that the client is in after an event of the connection.
    func updateLive(after event: ClientEvent) {
        switch event {
        case .joined(let live, let isAgain, _):
            if !isAgain || self.liveSession?.fold.liveID != live { self.beginLiveSession(live) }
        case .feed(_, let items, _, let hasGap): self.feedReceived(items, hasGap: hasGap)
        case .counts(let counts):
            let wasStale = self.liveSession?.fold.states.audience.isAudienceCountStale == true
            self.applyInput(.counts(counts), in: counts.live)
            // While the server had lost its data on who is in the live, users may have left. No feed item reports
            // them.
            if wasStale, !counts.stale { self.readLater([.audience]) }
        case .notice(let notice):
            // The microphone or camera is closed at once, because the feed item with the changed seat may come later.
            if case .deviceClosedByAdmin(let device, _) = notice.content, self.liveSession?.fold.liveID == notice.live {
                self.sinks.devices()?.closedByHost(device)
            }
            let input = FoldInput.notice(notice.content, at: notice.at)
            self.applyInput(input, in: notice.live)
            if self.liveSession?.fold.liveID == notice.live { self.rememberRequestDeadlines(input) }
        case .resumed(_, let replayed): self.resumed(replayed: replayed)
        case .disconnected:
            if self.connection?.lostAt == nil { self.connection?.lostAt = self.clock.now }
        // `.ended` is the end of the client itself, not of the live.
        case .left, .ended: self.endLiveSession()
        // This client has ended the live; an end by another client or the server comes as a feed item.
        case .liveEnded(let live, _): self.liveEnded(live, .endedByHost)
        case .kickedOut(let live, let reason, _): self.exitLive(live, .kickedOut(LiveKickedOutReason(reason)))
        case .resumeFailed(let live, let error): self.resumeFailed(live, error)
        case .loggedIn: self.connection?.lostAt = nil
        case .serverTime, .draining, .tokenRenewed, .tokenRenewalFailed, .badFrame: break
        }
    }

    /// Folds an input, if it is about the live that the client is in, and shows the new states.
    private func applyInput(_ input: FoldInput, in live: LiveID) {
        guard self.liveSession?.fold.liveID == live else { return }
        let events = self.liveSession?.fold.apply(input) ?? []
        self.showStates(publishing: events)
    }

    private func beginLiveSession(_ live: LiveID) {
        self.endLiveSession()
        self.liveSessionCount += 1
        let stores = self.sinks.stores(live.text)
        var fold = LiveFold(liveID: live, selfID: UserID(self.selfID))
        for tip in stores.localTips { _ = fold.apply(.local(.tip(tip))) }
        self.liveSession = LiveSession(number: self.liveSessionCount, fold: fold, stores: stores)
        self.scheduleDurationTick()
        self.showStates(publishing: [])
    }

    /// Ends the stay in the live: the stores of the live return to their defaults.
    func endLiveSession() {
        guard let session = self.liveSession else { return }
        self.liveSession = nil
        session.durationTimer?.cancel()
        session.noticeTimer?.cancel()
        session.requestTimer?.cancel()
        for timer in session.readTimers.values { timer.cancel() }
        let devices = self.sinks.devices()
        self.show(LiveStates(), current: LiveInfo(), in: session.stores, publishing: []) { devices?.closeAll() }
    }

    /// Shows states in all stores, then calls the subscribers of the states that have changed, then publishes events.
    ///
    /// `current`: the live that the client is in.
    /// `changeDevices`: called when the stores have the new states, before any subscriber is.
    private func show(
        _ states: LiveStates, current: LiveInfo, in stores: any LiveStoresSink, publishing events: [StoreEvent],
        changeDevices: () -> Void
    ) {
        let listChange = self.sinks.list()?.change(ofCurrentLive: current, isRead: !states.live.info.isEmpty)
        let changes = [listChange].compactMap { $0 } + stores.changes(to: states)
        for change in changes { change.announce() }
        for change in changes { change.show() }
        changeDevices()
        for change in changes { change.publish() }
        stores.publish(events)
    }

    /// Why a client is no longer in its live, although it did not leave.
    private enum LiveExit {
        case ended(LiveEndedReason)
        case kickedOut(LiveKickedOutReason)
    }

    /// Ends the stay in a live, and publishes why.
    private func exitLive(_ live: LiveID, _ exit: LiveExit, message: String = "") {
        guard self.liveSession?.fold.liveID == live else { return }
        self.endLiveSession()
        switch exit {
        case .ended(let reason):
            self.sinks.list()?.publish(.onLiveEnded(liveID: live.text, reason: reason, message: message))
        case .kickedOut(let reason):
            self.sinks.list()?.publish(.onKickedOutOfLive(liveID: live.text, reason: reason, message: message))
        }
    }

    /// Exits a live that has ended; translates the protocol's `LiveEndReason` into the SDK's `LiveEndedReason`.
    private func liveEnded(_ live: LiveID, _ reason: LiveEndReason) {
        self.exitLive(live, .ended(LiveEndedReason(reason)))
    }

    /// Exits a live that the client could not resume, and derives the published reason from the server's error.
    private func resumeFailed(_ live: LiveID, _ error: ErrorInfo) {
        let statedReason = error.reason.flatMap { KickReason(rawValue: $0) }.map { LiveKickedOutReason($0) }
        let exit: LiveExit =
            switch ReplyCode(error.code) {
            case .noSuchRoomOnEntry:
                .ended(error.reason == LiveEndReason.endedByHost.rawValue ? .endedByHost : .endedByServer)
            case .banned: .kickedOut(statedReason ?? .byAdmin)
            case .staleTicket: .kickedOut(statedReason ?? .forJoinRoomStatusInvalidDuringOffline)
            default: .kickedOut(.forNetworkDisconnected)
            }
        self.exitLive(live, exit, message: error.message)
    }

    private func feedReceived(_ items: [FeedEntry], hasGap: Bool) {
        // Do not copy the session here: two copies would share the list of messages, so each message would copy the
        // list.
        guard let live = self.liveSession?.fold.liveID else { return }
        let wasHost = self.isHost
        let listedCount = self.liveSession?.fold.states.audience.audienceList.count ?? 0
        var events: [StoreEvent] = []
        if hasGap { events += self.liveSession?.fold.apply(.local(.itemsMissed)) ?? [] }
        for item in items { events += self.liveSession?.fold.apply(.item(item)) ?? [] }
        self.showStates(publishing: events)
        for case .liveEnded(let reason, _) in items.map(\.content) {
            return self.liveEnded(live, reason)
        }
        // After a gap, or after the server has left out tips, items about users who joined or left are missing.
        // Therefore the audience is read again. A client that enters meanwhile may get only the item that says that
        // tips are complete again.
        let areTipsCompleteAgain = items.contains { $0.content == .tips(isDegraded: false) }
        if hasGap || areTipsCompleteAgain { self.readLater([.audience]) }
        if listedCount >= Self.minListedViewers, self.lacksListedViewers { self.readLater([.audience]) }
        // Likes and statistics may be missing, too.
        if hasGap { self.readLater([.statistics]) }
        if !wasHost, self.isHost { self.readNow(self.snapshotsForHosts) }
    }

    /// Whether few viewers are still listed although the live has more: those who joined while the list was full.
    private var lacksListedViewers: Bool {
        guard let audience = self.liveSession?.fold.states.audience else { return false }
        let count = audience.audienceList.count
        return count < Self.minListedViewers && count < audience.audienceCount
    }

    /// Reads again what the client may have missed while its connection was lost.
    ///
    /// `replayed`: whether the server sends the feed items that the client has missed.
    private func resumed(replayed: Bool) {
        let awayTime = self.connection?.lostAt.map { self.clock.now - $0 } ?? Milliseconds(0)
        self.connection?.lostAt = nil
        guard let live = self.liveSession?.fold.liveID else { return }
        self.awaitNotices()
        if !replayed {
            self.applyInput(.local(.itemsMissed), in: live)
            self.readNow([.details])
            self.readLater([.audience, .statistics])
        }
        // The server keeps notices for a minute only, so some may be missing, also if the feed is replayed.
        if self.isHost {
            self.readLater(self.snapshotsForHosts)
        } else if !replayed || awayTime >= Self.maxAwayTimeWithNotices {
            // A viewer may have been muted, unmuted or invited meanwhile.
            self.readLater([.mutes, .seatRequests])
        }
    }

    /// The snapshots that hosts (the owner and the admins) read; the owner also reads the requests between lives.
    var snapshotsForHosts: [SnapshotName] {
        let isOwner = self.liveSession?.fold.states.live.info.liveOwner.userID == self.selfID
        return [.mutes, .seatRequests] + (isOwner ? [.coHostRequests, .battleRequests] : [])
    }

    /// Whether the user is the owner of the live or an admin.
    var isHost: Bool {
        guard let info = self.liveSession?.fold.states.live.info else { return false }
        return info.liveOwner.userID == self.selfID || info.admins.contains(self.selfID)
    }

    /// Leaves the seat that a viewer still has from an earlier stay in a video live.
    private func leaveOldSeat() {
        guard let fold = self.liveSession?.fold, fold.states.live.info.liveOwner.userID != self.selfID,
            SeatTemplate.resolved(Int(clamping: fold.states.live.info.seatLayoutTemplateID)).kind == .video
        else { return }
        if OwnSeat(of: self.selfID, in: fold.states.seat.seatList, liveID: fold.liveID.text) != nil {
            self.task { engine in _ = try? await engine.call("seat.leave", live: fold.liveID) }
        }
    }

    /// Shows the states of the live in its stores, and publishes events.
    private func showStates(publishing events: [StoreEvent]) {
        guard let session = self.liveSession else { return }
        // An app sees at once in which live the client is, even before the info of the live is read.
        var info = session.fold.states.live.info
        info.liveID = session.fold.liveID.text
        info.isEmpty = false
        let ownSeat = OwnSeat(of: self.selfID, in: session.fold.states.seat.seatList, liveID: info.liveID)
        let (devices, reporting) = (self.sinks.devices(), self.reportingDevices)
        self.show(session.fold.states, current: info, in: session.stores, publishing: events) {
            devices?.ownSeatChanged(to: ownSeat, reporting: reporting)
        }
    }

    /// Increases the displayed duration each second, until the live session ends.
    private func scheduleDurationTick() {
        guard let number = self.liveSession?.number else { return }
        let start = self.clock.now
        self.liveSession?.durationTimer = self.clock.schedule(after: Self.durationTick, on: self.queue) { [weak self] in
            self?.assumeOnQueue { engine in
                guard let session = engine.liveSession, session.number == number else { return }
                let elapsedTime = engine.clock.now - start
                // Before the statistics are read, there is no duration to increase.
                if session.fold.states.summary.summaryData.totalDuration > 0 {
                    engine.applyInput(.local(.elapsed(elapsedTime)), in: session.fold.liveID)
                }
                engine.scheduleDurationTick()
            }
        }
    }
}
