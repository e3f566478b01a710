// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// One input at work on the lives of one app: the rows, lent for the time, and what follows.
///
/// Calls check everything before they change anything, so a refused call leaves no trace of itself.
struct ConnectionStep {
    let app: AppID
    let moment: Moment
    let policy: AppPolicy
    var journal = Journal<ConnectionKey, ConnectionRow>()
    var effects: [Effect] = []
    /// Lives whose seat machine is to be told, in the order in which they were first touched.
    private var touched: [LiveID] = []
    private var events: [LiveID: [StageEvent]] = [:]
    /// Battles that ended in this step.
    var endedHere: Set<BattleID> = []
    /// Results of such battles for lives that leave the connection in the same step: viewers see them once more.
    private var results: [LiveID: BattleView] = [:]

    init(app: AppID, moment: Moment, policy: AppPolicy) {
        self.app = app
        self.moment = moment
        self.policy = policy
    }

    // MARK: - Rows

    func live(_ id: LiveID) -> HostedLive? {
        if case .live(let live)? = self.journal[.live(LiveKey(self.app, id))] { live } else { nil }
    }

    func connection(_ id: ConnectionID?) -> ConnectionView? {
        guard let id, case .connection(let view)? = self.journal[.connection(self.app, id)] else { return nil }
        return view
    }

    func battle(_ id: BattleID?) -> Battle? {
        guard let id, case .battle(let battle)? = self.journal[.battle(self.app, id)] else { return nil }
        return battle
    }

    private func floors(of id: LiveID) -> Floors {
        if case .floors(let floors)? = self.journal[.floors(LiveKey(self.app, id))] { floors } else { Floors() }
    }

    mutating func update(_ id: LiveID, _ change: (inout HostedLive) -> Void) {
        guard var live = self.live(id) else { return }
        change(&live)
        self.journal[.live(LiveKey(self.app, id))] = .live(live: live)
    }

    mutating func set(_ connection: ConnectionView) {
        self.journal[.connection(self.app, connection.id)] = .connection(connection: connection)
    }

    mutating func set(_ battle: Battle) { self.journal[.battle(self.app, battle.id)] = .battle(battle: battle) }

    /// The live as others see it in a connection; one that is in none would join now.
    func member(_ id: LiveID) -> ConnectionMember {
        let live = self.live(id)
        if let member = self.connection(live?.connection)?.members.first(where: { $0.live == id }) { return member }
        return ConnectionMember(
            live: id, host: live?.owner ?? UserInfo(userID: ""), joinedAt: self.moment.now)
    }

    // MARK: - What is told

    /// The live's seat machine is to be told, with `event` if anything happened that has a name.
    mutating func touch(_ live: LiveID, _ event: StageEvent? = nil) {
        if self.events.index(forKey: live) == nil { self.touched.append(live) }
        self.events[live, default: []] += event.map { [$0] } ?? []
    }

    /// The live shows no battle any more; the last to do so removes it.
    mutating func hideBattle(of id: LiveID) {
        guard let battle = self.battle(self.live(id)?.battle), let view = battle.view else { return }
        if self.endedHere.contains(battle.id) { self.results[id] = view }
        self.update(id) { $0.battle = nil }
        if self.lives(showing: battle).isEmpty { self.journal[.battle(self.app, battle.id)] = nil }
    }

    /// The lives that show the battle: its sides, but those that have gone on to another battle or connection.
    func lives(showing battle: Battle) -> [LiveID] {
        (battle.view?.sides ?? []).map(\.live).filter { self.live($0)?.battle == battle.id }
    }

    /// Tells each touched live's seat machine its connection and battle, with what led to it; once a step.
    mutating func tellSeats() {
        for id in self.touched {
            guard var live = self.live(id) else { continue }
            live.revision = Revision.next(after: live.revision, at: self.moment)
            self.journal[.live(LiveKey(self.app, id))] = .live(live: live)
            let command = SeatCommand.connection(
                view: self.view(for: id), battle: self.battle(live.battle)?.view ?? self.results[id],
                revision: live.revision, events: self.events[id] ?? [])
            self.effects.append(.seat(SeatInput(LiveKey(self.app, id), command)))
        }
        self.touched = []
        self.events = [:]
        self.results = [:]
    }

    /// A notice for the owner of `id`.
    mutating func notify(_ id: LiveID, _ content: NoticeContent) {
        guard let live = self.live(id) else { return }
        self.effects.append(
            .notice(
                Notice(to: UserKey(self.app, live.owner.userID), live: id, at: self.moment.now, content: content)))
    }

    // MARK: - Inputs

    /// The live that `caller` acts for.
    ///
    /// - Throws: the refusal, when it does not run, or the caller was put out of it or does not own it.
    func owned(_ id: LiveID, by caller: Caller) throws(ReplyError) -> HostedLive {
        guard let live = self.live(id) else {
            throw ReplyError(.noSuchRoom, "the live does not exist or has ended")
        }
        if caller.role == .server { return live }
        if let refusal = self.floors(of: id).refusal(of: caller) { throw refusal }
        guard live.owner.userID == caller.userID else {
            throw ReplyError(.needsOwner, "only the owner of the live may do this")
        }
        return live
    }

    /// The live that `caller` acts for, as its owner or an admin.
    func hosted(_ id: LiveID, by caller: Caller) throws(ReplyError) -> HostedLive {
        do throws(ReplyError) {
            return try self.owned(id, by: caller)
        } catch {
            guard error.code == .needsOwner, let live = self.live(id), live.admins.contains(caller.userID) else {
                throw error.code == .needsOwner
                    ? ReplyError(.needsOwnerOrAdmin, "only the owner and admins may do this") : error
            }
            return live
        }
    }

    /// Decides a call; what tells rather than asks is none.
    mutating func decide(_ command: ConnectionCommand, for caller: Caller) throws(ReplyError) -> CallResult {
        switch command {
        case .request(let from, let to, let template, let timeout, let extensionInfo, _):
            return try self.request(
                from: from, to: to, layoutTemplate: template, timeoutSeconds: timeout, extensionInfo, caller)
        case .cancelRequest(let from, let to, _): return try self.cancelRequest(from: from, to: to, caller)
        case .accept(let live, let inviter, _): return try self.accept(live, inviter: inviter, caller)
        case .reject(let live, let inviter, _): return try self.reject(live, inviter: inviter, caller)
        case .exit(let live, _): return try self.exit(live, caller)
        case .requestBattle(let from, let to, let duration, let needResponse, let timeout, let extensionInfo, _):
            return try self.requestBattle(
                from: from, to: to, durationSeconds: duration, needResponse: needResponse, timeoutSeconds: timeout,
                extensionInfo, caller)
        case .cancelBattle(let id, let live, let to, _): return try self.cancelBattle(id, live, to: to, caller)
        case .acceptBattle(let id, let live, _): return try self.answerBattle(id, live, accepted: true, caller)
        case .rejectBattle(let id, let live, _): return try self.answerBattle(id, live, accepted: false, caller)
        case .exitBattle(let id, let live, _): return try self.exitBattle(id, live, caller)
        case .updateScores(let id, let operation, let scores, _):
            return try self.updateScores(id, operation, scores, caller)
        case .muteRemote(let live, let other, let isMuted, _):
            return try self.muteRemote(live, other, isMuted, caller)
        case .battleInfo(let id, let live, _): return try self.battleInfo(id, of: live, caller)
        case .opened, .ended, .userGone, .userBack, .confirmOwner, .floor, .rights, .seatsChanged: return .done
        }
    }

    /// Takes in what is told.
    mutating func learn(_ command: ConnectionCommand) {
        switch command {
        case .opened(let id, let owner, let isVoice): self.opened(id, owner: owner, isVoice: isVoice)
        case .ended(let id, let ending): self.ended(id, ending)
        case .userGone(let id, let user):
            if self.live(id)?.owner.userID == user { self.withdraw(id) }
        case .userBack(let id, let user): self.userBack(id, user)
        case .rights(let id, let admins): self.update(id) { $0.admins = admins }
        case .seatsChanged(let id, let seats): self.seatsChanged(id, seats)
        case .confirmOwner(let id):
            guard let live = self.live(id) else { return }
            let isIdle = live.connection == nil && live.outgoing.isEmpty && live.incoming == nil
            if isIdle { return }
            self.effects.append(
                .audience(AudienceInput(LiveKey(self.app, id), .confirm(user: live.owner.userID))))
        case .floor(let id, let user, let ticket):
            guard self.live(id) != nil else { return }
            var floors = self.floors(of: id)
            floors.raise(user, to: ticket)
            self.journal[.floors(LiveKey(self.app, id))] = .floors(floors: floors)
        default: break
        }
    }
}
