// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import StageCore
import Testing

/// Lives `a`, `b`, `c` … of owners `host-a`, `host-b` …, and a connection machine that is checked after every step.
struct ConnectionRig {
    var rig: Rig<ConnectionMachine>
    var callers = Callers()

    init(_ lives: [LiveID], maxBattleSeconds: Int64 = 300, hasWebhooks: Bool = false) {
        var policy = AppPolicy(maxBattleSeconds: maxBattleSeconds)
        policy.hasWebhooks = hasWebhooks
        self.rig = Rig(ConnectionMachine(policies: Policies(["demo": policy])))
        for live in lives { _ = self.tell(.opened(live: live, owner: Self.host(live), isVoice: false)) }
    }

    static func host(_ live: LiveID) -> UserInfo { info(UserID("host-\(live)")) }

    mutating func tell(
        _ command: ConnectionCommand, sourceLocation: SourceLocation = #_sourceLocation
    ) -> [Effect] {
        let effects = self.rig.send(ConnectionInput(app: "demo", command))
        self.check(sourceLocation)
        return effects
    }

    /// A call of the owner of `live`.
    mutating func call(
        _ live: LiveID, sourceLocation: SourceLocation = #_sourceLocation, _ command: (Caller) -> ConnectionCommand
    ) -> [Effect] {
        self.tell(command(self.callers.user(Self.host(live).userID)), sourceLocation: sourceLocation)
    }

    mutating func pass(
        milliseconds: Int64, sourceLocation: SourceLocation = #_sourceLocation
    ) -> [Effect] {
        let effects = self.rig.pass(milliseconds: milliseconds)
        self.check(sourceLocation)
        return effects
    }

    private func check(_ sourceLocation: SourceLocation) {
        let wrong = self.rig.machine.checkInvariants(of: self.rig.journal, at: self.rig.moment.now)
        #expect(wrong == [], sourceLocation: sourceLocation)
    }

    // MARK: - Short ways

    mutating func request(_ from: LiveID, _ to: LiveID..., timeout: Int64 = 0) -> [Effect] {
        self.call(from) {
            .request(from: from, to: to, layoutTemplate: 0, timeoutSeconds: timeout, extensionInfo: "", caller: $0)
        }
    }

    mutating func accept(_ live: LiveID, _ inviter: LiveID) -> [Effect] {
        self.call(live) { .accept(live: live, inviter: inviter, caller: $0) }
    }

    mutating func exit(_ live: LiveID) -> [Effect] { self.call(live) { .exit(live: live, caller: $0) } }

    /// Connects all of `lives` with the first.
    mutating func connect(_ lives: LiveID...) {
        for live in lives.dropFirst() {
            _ = self.request(lives[0], live)
            _ = self.accept(live, lives[0])
        }
    }

    /// Starts a battle at once; its id.
    mutating func fight(_ from: LiveID, _ to: LiveID..., seconds: Int64 = 60) -> BattleID {
        let effects = self.call(from) {
            .requestBattle(
                from: from, to: to, durationSeconds: seconds, needResponse: false, timeoutSeconds: 0,
                extensionInfo: "", caller: $0)
        }
        if case .battle(let battle, _, _, _)? = effects.result { return battle }
        return "none"
    }

    mutating func ask(_ from: LiveID, _ to: LiveID..., seconds: Int64 = 60, timeout: Int64 = 0) -> BattleID {
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
        return self.tell(
            .updateScores(battle: battle, operation: operation, scores: updates, caller: self.callers.server()))
    }

    /// Lets every live ask again as if it had rested.
    mutating func rest() {
        for key in self.rig.journal.sortedKeys {
            guard case .live(var live)? = self.rig.journal[key] else { continue }
            live.value.coHostPace = Pace()
            live.value.battlePace = Pace()
            self.rig.journal[key] = .live(live: live)
        }
        self.rig.journal.commit()
    }

    // MARK: - What is there

    func live(_ id: LiveID) -> HostedLive? {
        if case .live(let live)? = self.rig.journal[.live(LiveKey("demo", id))] { live.value } else { nil }
    }

    func member(_ live: LiveID, at time: Timestamp? = nil) -> ConnectionMember {
        ConnectionMember(live: live, host: Self.host(live), joinedAt: time ?? self.rig.moment.now)
    }

    func notice(to live: LiveID, _ content: NoticeContent) -> Effect {
        .notice(
            Notice(
                to: UserKey("demo", Self.host(live).userID), live: live, at: self.rig.moment.now, content: content))
    }

    /// What the seat machine of `live` is told.
    func seat(
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
    /// What each live's seat machine was told last: the lives in that order, the battles and the events.
    var toldLives: [LiveID] { self.seatInputs.map(\.key.live) }

    func toldBattle(_ live: LiveID) -> BattleView? {
        for input in self.seatInputs.reversed() where input.key.live == live {
            if case .connection(_, let battle, _, _, _) = input.command { return battle }
        }
        return nil
    }

    func toldOthers(_ live: LiveID) -> [BattleView] {
        for input in self.seatInputs.reversed() where input.key.live == live {
            if case .connection(_, _, _, _, let others) = input.command { return others ?? [] }
        }
        return []
    }

    func toldConnection(_ live: LiveID) -> ConnectionView? {
        for input in self.seatInputs.reversed() where input.key.live == live {
            if case .connection(let view, _, _, _, _) = input.command { return view }
        }
        return nil
    }

    func toldEvents(_ live: LiveID) -> [StageEvent] {
        self.seatInputs.filter { $0.key.live == live }.flatMap { input -> [StageEvent] in
            if case .connection(_, _, _, let events, _) = input.command { events } else { [] }
        }
    }

    /// The codes per live of the one reply.
    var liveCodes: [Int]? {
        switch self.result {
        case .coHost(let codes)?, .scores(let codes)?, .battle(_, _, _, let codes)?: codes.map(\.code)
        default: nil
        }
    }
}
