// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

extension BattleState {
    /// Applies an input to the state, and adds the resulting events to `context`.
    mutating func reduce(_ input: FoldInput, _ context: inout FoldContext) {
        // An event may be about a battle that only the former state still contains.
        let formerState = self
        if let record = context.newStage { self.show(record.battle) }
        for event in context.states.stage.events { formerState.addEvent(for: event, to: &context) }
        if case .notice(let content, _) = input { Self.addEvent(for: content, to: &context) }
    }

    /// Shows the battle that a stage has.
    ///
    /// The scores remain after the battle's end, so that an app can show the result.
    private mutating func show(_ battle: BattleView?) {
        guard let battle else { return self.showNoBattle() }
        self.battleScore = Dictionary(
            battle.sides.map { ($0.host.userID.text, UInt(clamping: $0.score)) },
            uniquingKeysWith: { first, _ in first })
        guard battle.ended == nil else { return self.showNoBattle() }
        self.currentBattleInfo = BattleInfo(battle)
        self.battleUsers = battle.sides.filter { !$0.hasLeft }.map { SeatUserInfo($0) }
    }

    private mutating func showNoBattle() {
        self.currentBattleInfo = nil
        self.battleUsers = []
    }

    private func addEvent(for event: StageEvent, to context: inout FoldContext) {
        switch event {
        case .battleStarted(let id):
            // The inviter's side is the first one.
            let sides = Self.battle(id, context)?.sides.map { SeatUserInfo($0) } ?? []
            context.events.append(
                .battle(
                    .onBattleStarted(
                        battleInfo: self.info(of: id, context), inviter: sides.first ?? SeatUserInfo(),
                        invitees: Array(sides.dropFirst()))))
        case .battleEnded(let id, let reason):
            context.events.append(
                .battle(.onBattleEnded(battleInfo: self.info(of: id, context), reason: BattleEndedReason(reason))))
        case .battleUserJoined(let id, let live):
            let user = Self.user(of: live, in: id, context)
            context.events.append(.battle(.onUserJoinBattle(battleID: id.text, battleUser: user)))
        case .battleUserExited(let id, let live):
            let user = Self.user(of: live, in: id, context)
            context.events.append(.battle(.onUserExitBattle(battleID: id.text, battleUser: user)))
        default: break
        }
    }

    private static func addEvent(for content: NoticeContent, to context: inout FoldContext) {
        // Only the inviter gets a notice of an answer, so the inviter in such a notice is the host of this live. The
        // notice of a new request is handled by `AnnouncedRequests`.
        let ownHost = context.host(of: context.liveID)
        let event: BattleEvent? =
            switch content {
            case .battleRequestCancelled(let id, let inviter, let invitee, let inviterMember, let inviteeMember):
                .onBattleRequestCancelled(
                    battleID: id.text, inviter: inviterMember.map { SeatUserInfo($0) } ?? context.host(of: inviter),
                    invitee: inviteeMember.map { SeatUserInfo($0) } ?? context.host(of: invitee))
            case .battleRequestAccepted(let id, let invitee):
                .onBattleRequestAccept(battleID: id.text, inviter: ownHost, invitee: SeatUserInfo(invitee))
            case .battleRequestRejected(let id, let invitee):
                .onBattleRequestReject(battleID: id.text, inviter: ownHost, invitee: SeatUserInfo(invitee))
            case .battleRequestTimedOut(let id, let inviter, let invitee, let inviterMember, let inviteeMember):
                .onBattleRequestTimeout(
                    battleID: id.text, inviter: inviterMember.map { SeatUserInfo($0) } ?? context.host(of: inviter),
                    invitee: inviteeMember.map { SeatUserInfo($0) } ?? context.host(of: invitee))
            default: nil
            }
        if let event { context.events.append(.battle(event)) }
    }

    /// A battle of the stage: the live's own battle, or another one of its connection.
    private static func battle(_ id: BattleID, _ context: FoldContext) -> BattleView? {
        guard let record = context.states.stage.record else { return nil }
        if let ownBattle = record.battle, ownBattle.id == id { return ownBattle }
        return record.otherBattles?.first { $0.id == id }
    }

    /// A battle as the stage shows it, or as this state has shown it before.
    ///
    /// If neither has the battle, the result has only the battle's id.
    private func info(of id: BattleID, _ context: FoldContext) -> BattleInfo {
        if let battle = Self.battle(id, context) { return BattleInfo(battle) }
        if let current = self.currentBattleInfo, current.battleID == id.text { return current }
        return BattleInfo(battleID: id.text)
    }

    /// The host of a live in a battle.
    private static func user(of live: LiveID, in id: BattleID, _ context: FoldContext) -> SeatUserInfo {
        let side = Self.battle(id, context)?.sides.first { $0.live == live }
        return side.map { SeatUserInfo($0) } ?? context.host(of: live)
    }
}

extension SeatUserInfo {
    fileprivate init(_ side: BattleSide) { self.init(host: side.host, live: side.live) }
}
