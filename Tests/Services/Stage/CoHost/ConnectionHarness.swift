// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import StageCore

/// A connection machine whose invariants are checked after every step; the owner of a live such as `arena` is
/// `host-arena`.
struct ConnectionHarness: CheckedHarness {
    var machine: MachineHarness<ConnectionMachine>
    var callers = Callers()

    /// Opens `lives` as video lives; `maxBattleSeconds` is the app's longest battle.
    init(_ lives: [LiveID], maxBattleSeconds: Int64 = 300, hasWebhooks: Bool = false) {
        var policy = AppPolicy(maxBattleSeconds: maxBattleSeconds)
        policy.hasWebhooks = hasWebhooks
        self.machine = MachineHarness(ConnectionMachine(policies: Policies(["demo": policy])))
        for live in lives { _ = self.handle(.opened(live: live, owner: Self.host(live), isVoice: false)) }
    }

    /// The owner of a live.
    static func host(_ live: LiveID) -> UserInfo { userInfo(UserID("host-\(live)")) }

    /// Handles a command, checks the invariants and returns the effects.
    mutating func handle(
        _ command: ConnectionCommand, sourceLocation: SourceLocation = #_sourceLocation
    ) -> [Effect] {
        self.send(ConnectionInput(app: "demo", command), sourceLocation: sourceLocation)
    }

    /// Handles a call of the owner of `live`.
    mutating func call(
        _ live: LiveID, sourceLocation: SourceLocation = #_sourceLocation, _ command: (Caller) -> ConnectionCommand
    ) -> [Effect] {
        self.handle(command(self.callers.user(Self.host(live).userID)), sourceLocation: sourceLocation)
    }

    /// `count` seats of a live, of which the first `occupied` are taken.
    static func seats(_ live: LiveID, occupied: Int, of count: Int = 10) -> [Seat] {
        (0..<count).map { index in
            let user = SeatUser(user: userInfo(UserID("guest\(index)")), role: .generalUser, live: live)
            return Seat(index: index, occupant: index < occupied ? user : nil)
        }
    }

    // MARK: - Calls

    /// Sends co-host requests of the owner of `from`; a time-out of 0 means the default of 10 s.
    mutating func request(_ from: LiveID, to: LiveID..., timeoutSeconds: Int64 = 0) -> [Effect] {
        self.call(from) { .coHostRequest(from: from, to: to, timeoutSeconds: timeoutSeconds, caller: $0) }
    }

    /// Accepts the co-host request that `inviter` has sent to `live`.
    mutating func accept(_ live: LiveID, inviter: LiveID) -> [Effect] {
        self.call(live) { .accept(live: live, inviter: inviter, caller: $0) }
    }

    /// Makes `live` leave its connection.
    mutating func exit(_ live: LiveID) -> [Effect] { self.call(live) { .exit(live: live, caller: $0) } }

    /// Connects `lives`: the first one invites the others one after the other.
    mutating func connect(_ lives: LiveID...) {
        for live in lives.dropFirst() {
            _ = self.request(lives[0], to: live)
            _ = self.accept(live, inviter: lives[0])
        }
    }

    /// Starts a battle of `seconds` that needs no response.
    ///
    /// - Returns: the battle's id; `rejected` when the call was rejected.
    mutating func startBattle(_ from: LiveID, against to: LiveID..., seconds: Int64 = 60) -> BattleID {
        self.call(from) {
            .battleRequest(from: from, to: to, seconds: seconds, needResponse: false, caller: $0)
        }.requestedBattle
    }

    /// Requests a battle of `seconds` that the invitees have to accept, with the extra info `pk`.
    ///
    /// A time-out of 0 for the invitees' answers means the default of 10 s.
    ///
    /// - Returns: the battle's id; `rejected` when the call was rejected.
    mutating func requestBattle(
        _ from: LiveID, against to: LiveID..., seconds: Int64 = 60, timeoutSeconds: Int64 = 0
    ) -> BattleID {
        self.call(from) {
            .battleRequest(
                from: from, to: to, seconds: seconds, needResponse: true, timeoutSeconds: timeoutSeconds,
                extensionInfo: "pk", caller: $0)
        }.requestedBattle
    }

    /// Updates the scores of a battle on behalf of the app's server.
    mutating func updateScores(
        _ battle: BattleID, _ scores: [(live: LiveID, score: Int64)], _ operation: ScoreOperation = .accumulate
    ) -> [Effect] {
        let updates = scores.map { ScoreUpdate(live: $0.live, score: $0.score) }
        return self.handle(
            .updateScores(battle: battle, operation: operation, scores: updates, caller: self.callers.server()))
    }

    /// Resets the request limiters of all lives, so that no later request is rejected as too frequent.
    mutating func resetRequestLimiters() {
        for key in self.machine.rows.sortedKeys {
            guard case .live(var live)? = self.machine.rows[key] else { continue }
            live.value.coHostRequestLimiter = RequestRateLimiter()
            live.value.battleRequestLimiter = RequestRateLimiter()
            self.machine.rows[key] = .live(live: live)
        }
        self.machine.rows.commit()
    }

    // MARK: - State and expected effects

    /// The stored state of a live.
    func live(_ id: LiveID) -> HostedLive? {
        if case .live(let live)? = self.machine.rows[.live(LiveKey("demo", id))] { live.value } else { nil }
    }

    /// The member of a connection that joined at `time`, by default now.
    func member(_ live: LiveID, at time: Timestamp? = nil) -> ConnectionMember {
        ConnectionMember(live: live, host: Self.host(live), joinedAt: time ?? self.machine.moment.now)
    }

    /// The notice that the request of `inviter` to `invitee` was cancelled.
    func coHostRequestCancelled(_ inviter: LiveID, _ invitee: LiveID) -> NoticeContent {
        .coHostRequestCancelled(
            inviter: self.member(inviter), invitee: invitee, inviteeMember: self.member(invitee))
    }

    /// The notice that a battle request was cancelled, between members that joined at `time`.
    func battleRequestCancelled(
        _ battle: BattleID, _ inviter: LiveID, _ invitee: LiveID, at time: Timestamp? = nil
    ) -> NoticeContent {
        .battleRequestCancelled(
            battle: battle, inviter: inviter, invitee: invitee, inviterMember: self.member(inviter, at: time),
            inviteeMember: self.member(invitee, at: time))
    }

    /// The expected notice to the owner of `live`.
    func notice(to live: LiveID, _ content: NoticeContent) -> Effect {
        .notice(
            Notice(
                to: UserKey("demo", Self.host(live).userID), live: live, at: self.machine.moment.now, content: content))
    }

    /// The expected report to the seat machine of `live`; nil for `connection` says that the live is in none.
    func seatReport(
        _ live: LiveID, connection view: ConnectionView?, battle: BattleView? = nil, events: [StageEvent]
    ) -> Effect {
        .seat(
            SeatInput(
                LiveKey("demo", live),
                .connection(
                    view: view, battle: battle, revision: self.live(live)?.revision ?? 0, events: events,
                    otherBattles: nil)))
    }
}

extension ConnectionCommand {
    /// A co-host request with the default layout template; a time-out of 0 means the default of 10 s.
    static func coHostRequest(
        from: LiveID, to: [LiveID], timeoutSeconds: Int64 = 0, extensionInfo: String = "", caller: Caller
    ) -> ConnectionCommand {
        .request(
            from: from, to: to, layoutTemplate: 0, timeoutSeconds: timeoutSeconds, extensionInfo: extensionInfo,
            caller: caller)
    }

    /// A battle request; a duration of 0 means the app's maximum, and a time-out of 0 the default of 10 s.
    static func battleRequest(
        from: LiveID, to: [LiveID], seconds: Int64 = 0, needResponse: Bool, timeoutSeconds: Int64 = 0,
        extensionInfo: String = "", caller: Caller
    ) -> ConnectionCommand {
        .requestBattle(
            from: from, to: to, durationSeconds: seconds, needResponse: needResponse, timeoutSeconds: timeoutSeconds,
            extensionInfo: extensionInfo, caller: caller)
    }
}

extension BattleID {
    /// Stands for the battle of a rejected battle request.
    static let rejected: BattleID = "none"
    /// An id that no battle has: battles are named after the offsets of inputs, and a harness has only offsets above
    /// 100.
    static let unknown: BattleID = "b-0"
}

extension [Effect] {
    /// The battle that the call has requested or started; `rejected` when the call was rejected.
    var requestedBattle: BattleID {
        if case .battle(let battle, _, _, _)? = self.result { battle } else { .rejected }
    }

    /// The lives whose seat machines get a command, in order.
    var notifiedLives: [LiveID] { self.seatInputs.map(\.key.live) }

    /// The battle in the last report to the seat machine of `live`.
    func reportedBattle(_ live: LiveID) -> BattleView? {
        for input in self.seatInputs.reversed() where input.key.live == live {
            if case .connection(_, let battle, _, _, _) = input.command { return battle }
        }
        return nil
    }

    /// The other battles in the last report to the seat machine of `live`.
    func reportedOtherBattles(_ live: LiveID) -> [BattleView] {
        for input in self.seatInputs.reversed() where input.key.live == live {
            if case .connection(_, _, _, _, let others) = input.command { return others ?? [] }
        }
        return []
    }

    /// The connection in the last report to the seat machine of `live`.
    func reportedConnection(_ live: LiveID) -> ConnectionView? {
        for input in self.seatInputs.reversed() where input.key.live == live {
            if case .connection(let view, _, _, _, _) = input.command { return view }
        }
        return nil
    }

    /// The events in all reports to the seat machine of `live`.
    func reportedEvents(_ live: LiveID) -> [StageEvent] {
        self.seatInputs.filter { $0.key.live == live }.flatMap { input -> [StageEvent] in
            if case .connection(_, _, _, let events, _) = input.command { events } else { [] }
        }
    }

    /// The result of a co-host request for each live that it names; nil when the call was rejected.
    var coHostCodes: [CoHostCode?]? {
        if case .coHost(let codes)? = self.result { codes.map { CoHostCode(rawValue: $0.code) } } else { nil }
    }

    /// The result of a battle request for each live that it names; nil when the call was rejected.
    var battleCodes: [BattleCode?]? {
        if case .battle(_, _, _, let codes)? = self.result { codes.map { BattleCode(rawValue: $0.code) } } else { nil }
    }

    /// The result of a score update for each live that it names; nil when the call was rejected.
    var scoreCodes: [ReplyCode]? {
        if case .scores(let codes)? = self.result { codes.map { ReplyCode($0.code) } } else { nil }
    }
}

extension ConnectionKey {
    /// A running live.
    static func live(_ live: LiveKey) -> ConnectionKey { ConnectionKey(.live, live.app, live.live.text) }
    /// A connection between lives.
    static func connection(_ app: AppID, _ id: ConnectionID) -> ConnectionKey {
        ConnectionKey(.connection, app, id.text)
    }
    /// A battle that is requested, running or over.
    static func battle(_ app: AppID, _ id: BattleID) -> ConnectionKey { ConnectionKey(.battle, app, id.text) }
}
