// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

extension PlazaEngine {
    /// The interval at which the displayed duration of a live is increased, in milliseconds.
    private static var countInterval: Double { 1000 }

    /// The id of the live that the client is in; empty if it is in none.
    var currentLiveID: String { self.session?.fold.liveID.text ?? "" }

    /// Enters a live and waits until its info is known.
    ///
    /// - Throws: `noSuchRoomOnEntry`, `inAnotherRoom`, `roomFull`, `banned`, `noPermission`.
    func enter(_ liveID: String) async throws(ErrorInfo) -> LiveInfo {
        _ = try await self.call("live.join", live: LiveID(liveID))
        return try await self.entered(liveID)
    }

    /// Waits until the info of a live is known that was just joined.
    ///
    /// - Throws: `notInRoom`.
    func entered(_ liveID: String) async throws(ErrorInfo) -> LiveInfo {
        let live = LiveID(liveID)
        guard let session = self.session, session.fold.liveID == live else { throw Self.leftMeanwhile }
        guard session.fold.states.live.info.isEmpty else { return session.fold.states.live.info }
        do throws(ErrorInfo) {
            try await self.refresh(.details)
        } catch {
            // A live whose info cannot be read cannot be shown.
            _ = try? await self.call("live.leave", live: live)
            throw error
        }
        guard let entered = self.session, entered.number == session.number else { throw Self.leftMeanwhile }
        self.readSoon([.audience, .statistics])
        self.loadForHosts()
        self.leaveOldSeat()
        return entered.fold.states.live.info
    }

    private static var leftMeanwhile: ErrorInfo { ErrorInfo(.notInRoom, "the live was left meanwhile") }

    /// Folds a change that this client has made, if it is about the live that the client is in.
    func local(_ change: LocalChange, in live: String) { self.fold(.local(change), in: LiveID(live)) }

    /// Folds the result of a read, if it is about the live that the client is in.
    func snapshot(_ snapshot: Snapshot, in live: String) {
        guard self.session?.fold.liveID.text == live else { return }
        let events = self.session?.fold.snapshotRead(snapshot) ?? []
        self.show(events)
    }

    /// The states of a live: the defaults, unless the client is in it.
    func states(of live: String) -> LiveStates {
        guard let fold = self.session?.fold, fold.liveID.text == live else { return LiveStates() }
        return fold.states
    }

    /// Handles an event of the connection.
    func sessionReceived(_ event: ClientEvent) {
        switch event {
        case .joined(let live, let isAgain, _):
            if !isAgain || self.session?.fold.liveID != live { self.beginSession(live) }
        case .feed(_, let items, _, let hasGap): self.feed(items, hasGap: hasGap)
        case .counts(let counts):
            let wasStale = self.session?.fold.states.audience.isAudienceCountStale == true
            self.fold(.counts(counts), in: counts.live)
            // Users who were away while presence lost its store are in no list, and no tip says so.
            if wasStale, !counts.stale { self.readLater([.audience]) }
        case .notice(let notice): self.fold(.notice(notice.content, at: notice.at), in: notice.live)
        case .resumed(_, let replayed): self.resumed(replayed: replayed)
        case .left, .ended: self.endSession()
        case .liveEnded(let live, _): self.liveEnded(live, .endedByHost)
        case .kickedOut(let live, let reason, _): self.exitLive(live, .kickedOut(LiveKickedOutReason(reason)))
        case .lost(let live, let error): self.lost(live, error)
        case .loggedIn, .disconnected, .draining, .renewed, .renewalFailed, .tokenProviderFailed, .badFrame: break
        }
    }

    private func fold(_ input: FoldInput, in live: LiveID) {
        guard self.session?.fold.liveID == live else { return }
        let events = self.session?.fold.apply(input) ?? []
        self.show(events)
    }

    private func beginSession(_ live: LiveID) {
        self.endSession()
        self.sessionCount += 1
        self.session = LiveSession(
            number: self.sessionCount, fold: LiveFold(liveID: live, selfID: UserID(self.selfID)),
            stores: self.sinks.stores(live.text))
        self.count()
        self.show([])
    }

    /// Ends the session: the stores of the live return to their defaults.
    func endSession() {
        guard let session = self.session else { return }
        self.session = nil
        session.timer?.cancel()
        for timer in session.timers.values { timer.cancel() }
        self.sinks.list()?.showCurrent(LiveInfo())
        session.stores.show(LiveStates(), events: [])
    }

    /// Why a client is no longer in its live, although it did not leave.
    private enum LiveExit {
        case ended(LiveEndedReason)
        case kickedOut(LiveKickedOutReason)
    }

    private func exitLive(_ live: LiveID, _ way: LiveExit, message: String = "") {
        guard self.session?.fold.liveID == live else { return }
        self.endSession()
        switch way {
        case .ended(let reason):
            self.sinks.list()?.tell(.onLiveEnded(liveID: live.text, reason: reason, message: message))
        case .kickedOut(let reason):
            self.sinks.list()?.tell(.onKickedOutOfLive(liveID: live.text, reason: reason, message: message))
        }
    }

    private func liveEnded(_ live: LiveID, _ reason: LiveEndReason) {
        self.exitLive(live, .ended(LiveEndedReason(reason)))
    }

    /// Handles the failure to resume the live.
    private func lost(_ live: LiveID, _ error: ErrorInfo) {
        let message = error.message
        switch ReplyCode(error.code) {
        case .noSuchRoomOnEntry:
            let isByHost = message.contains("endedByHost")
            self.exitLive(live, .ended(isByHost ? .endedByHost : .endedByServer), message: message)
        case .banned: self.exitLive(live, .kickedOut(.byAdmin), message: message)
        case .staleTicket: self.exitLive(live, .kickedOut(.forJoinRoomStatusInvalidDuringOffline), message: message)
        default: self.exitLive(live, .kickedOut(.forNetworkDisconnected), message: message)
        }
    }

    private func feed(_ items: [FeedEntry], hasGap: Bool) {
        // A copy of the session would share the list of messages, which would then be copied with each message.
        guard let live = self.session?.fold.liveID else { return }
        let wasDegraded = self.session?.fold.states.live.isTipsDegraded ?? false
        let wasHost = self.isHost
        var events: [StoreEvent] = []
        for item in items { events += self.session?.fold.apply(.item(item)) ?? [] }
        self.show(events)
        for case .liveEnded(let reason, _) in items.map(\.content) {
            return self.liveEnded(live, reason)
        }
        let isDegraded = self.session?.fold.states.live.isTipsDegraded ?? false
        // Tips were left out, so the list is read again, at a random moment for each client.
        if hasGap || (wasDegraded && !isDegraded) { self.readLater([.audience]) }
        if !wasHost, self.isHost { self.loadForHosts() }
    }

    private func resumed(replayed: Bool) {
        guard self.session != nil else { return }
        if !replayed {
            self.readSoon([.details])
            self.readLater([.audience, .statistics])
        }
        // Notices are kept for a minute only.
        if self.isHost { self.readLater([.mutes, .seatRequests]) }
    }

    private func loadForHosts() {
        if self.isHost { self.readSoon([.mutes, .seatRequests]) }
    }

    /// Whether the user is the owner of the live or an admin.
    private var isHost: Bool {
        guard let info = self.session?.fold.states.live.info else { return false }
        return info.liveOwner.userID == self.selfID || info.admins.contains(self.selfID)
    }

    /// Leaves the seat on which a viewer who enters again is still shown.
    private func leaveOldSeat() {
        guard let fold = self.session?.fold, fold.states.live.info.liveOwner.userID != self.selfID else { return }
        let isSeated = fold.states.seat.seatList.contains { seat in
            seat.userInfo.liveID == fold.liveID.text && seat.userInfo.userID == self.selfID
        }
        if isSeated { self.task { engine in _ = try? await engine.call("seat.leave", live: fold.liveID) } }
    }

    private func show(_ events: [StoreEvent]) {
        guard let session = self.session else { return }
        var info = session.fold.states.live.info
        info.liveID = session.fold.liveID.text
        info.isEmpty = false
        self.sinks.list()?.showCurrent(info)
        session.stores.show(session.fold.states, events: events)
    }

    /// Increases the displayed duration.
    private func count() {
        guard let number = self.session?.number else { return }
        let from = self.clock.now
        self.session?.timer = self.clock.schedule(after: Self.countInterval, on: self.queue) { [weak self] in
            self?.assumeOnQueue { engine in
                guard let session = engine.session, session.number == number else { return }
                let passed = UInt(max(0, (engine.clock.now - from).rounded()))
                if session.fold.states.summary.summaryData.totalDuration > 0 {
                    engine.fold(.local(.elapsed(passed)), in: session.fold.liveID)
                }
                engine.count()
            }
        }
    }
}
