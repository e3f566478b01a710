// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import StageCore
import Testing

/// Lives `a`, `b`, `c` … of owners `host-a`, `host-b` …, and a connection machine that is checked after every step.
struct ConnectionHarness: CheckedHarness {
    var machine: MachineHarness<ConnectionMachine>
    var callers = Callers()

    init(_ lives: [LiveID], maxBattleSeconds: Int64 = 300, hasWebhooks: Bool = false) {
        var policy = AppPolicy(maxBattleSeconds: maxBattleSeconds)
        policy.hasWebhooks = hasWebhooks
        self.machine = MachineHarness(ConnectionMachine(policies: Policies(["demo": policy])))
        for live in lives { _ = self.handle(.opened(live: live, owner: Self.host(live), isVoice: false)) }
    }

    static func host(_ live: LiveID) -> UserInfo { info(UserID("host-\(live)")) }

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

    // MARK: - Calls

    mutating func request(_ from: LiveID, _ to: LiveID..., timeout: Int64 = 0) -> [Effect] {
        self.call(from) {
            .request(from: from, to: to, layoutTemplate: 0, timeoutSeconds: timeout, extensionInfo: "", caller: $0)
        }
    }

    mutating func accept(_ live: LiveID, _ inviter: LiveID) -> [Effect] {
        self.call(live) { .accept(live: live, inviter: inviter, caller: $0) }
    }

    mutating func exit(_ live: LiveID) -> [Effect] { self.call(live) { .exit(live: live, caller: $0) } }

    /// Connects all of `lives` with the first one.
    mutating func connect(_ lives: LiveID...) {
        for live in lives.dropFirst() {
            _ = self.request(lives[0], live)
            _ = self.accept(live, lives[0])
        }
    }

    /// Starts a battle that needs no response.
    ///
    /// - Returns: the battle's id; `none` when the call was rejected.
    mutating func startBattle(_ from: LiveID, _ to: LiveID..., seconds: Int64 = 60) -> BattleID {
        let effects = self.call(from) {
            .requestBattle(
                from: from, to: to, durationSeconds: seconds, needResponse: false, timeoutSeconds: 0,
                extensionInfo: "", caller: $0)
        }
        if case .battle(let battle, _, _, _)? = effects.result { return battle }
        return "none"
    }

    /// Requests a battle that the invitees have to accept.
    ///
    /// - Returns: the battle's id; `none` when the call was rejected.
    mutating func requestBattle(_ from: LiveID, _ to: LiveID..., seconds: Int64 = 60, timeout: Int64 = 0) -> BattleID {
        let effects = self.call(from) {
            .requestBattle(
                from: from, to: to, durationSeconds: seconds, needResponse: true, timeoutSeconds: timeout,
                extensionInfo: "pk", caller: $0)
        }
        if case .battle(let battle, _, _, _)? = effects.result { return battle }
        return "none"
    }

    mutating func score(
        _ battle: BattleID, _ scores: [(LiveID, Int64)], _ operation: ScoreOperation = .accumulate
    ) -> [Effect] {
        let updates = scores.map { ScoreUpdate(live: $0.0, score: $0.1) }
        return self.handle(
            .updateScores(battle: battle, operation: operation, scores: updates, caller: self.callers.server()))
    }

    /// Resets the request limiters of all lives.
    mutating func resetRequestLimiters() {
        for key in self.machine.journal.sortedKeys {
            guard case .live(var live)? = self.machine.journal[key] else { continue }
            live.value.coHostRequestLimiter = RequestRateLimiter()
            live.value.battleRequestLimiter = RequestRateLimiter()
            self.machine.journal[key] = .live(live: live)
        }
        self.machine.journal.commit()
    }

    // MARK: - State and expected effects

    func live(_ id: LiveID) -> HostedLive? {
        if case .live(let live)? = self.machine.journal[.live(LiveKey("demo", id))] { live.value } else { nil }
    }

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

    func notice(to live: LiveID, _ content: NoticeContent) -> Effect {
        .notice(
            Notice(
                to: UserKey("demo", Self.host(live).userID), live: live, at: self.machine.moment.now, content: content))
    }

    /// The expected report to the seat machine of `live`.
    func seatReport(
        _ live: LiveID, _ view: ConnectionView?, _ battle: BattleView? = nil, _ events: [StageEvent],
        others: [BattleView]? = nil
    ) -> Effect {
        .seat(
            SeatInput(
                LiveKey("demo", live),
                .connection(
                    view: view, battle: battle, revision: self.live(live)?.revision ?? 0, events: events,
                    otherBattles: others)))
    }
}

extension [Effect] {
    /// The lives whose seat machines are notified, in order.
    var notifiedLives: [LiveID] { self.seatInputs.map(\.key.live) }

    func reportedBattle(_ live: LiveID) -> BattleView? {
        for input in self.seatInputs.reversed() where input.key.live == live {
            if case .connection(_, let battle, _, _, _) = input.command { return battle }
        }
        return nil
    }

    func reportedOtherBattles(_ live: LiveID) -> [BattleView] {
        for input in self.seatInputs.reversed() where input.key.live == live {
            if case .connection(_, _, _, _, let others) = input.command { return others ?? [] }
        }
        return []
    }

    func reportedConnection(_ live: LiveID) -> ConnectionView? {
        for input in self.seatInputs.reversed() where input.key.live == live {
            if case .connection(let view, _, _, _, _) = input.command { return view }
        }
        return nil
    }

    func reportedEvents(_ live: LiveID) -> [StageEvent] {
        self.seatInputs.filter { $0.key.live == live }.flatMap { input -> [StageEvent] in
            if case .connection(_, _, _, let events, _) = input.command { events } else { [] }
        }
    }

    /// The result codes of the lives in the only reply.
    var liveCodes: [Int]? {
        switch self.result {
        case .coHost(let codes)?, .scores(let codes)?, .battle(_, _, _, let codes)?: codes.map(\.code)
        default: nil
        }
    }
}
