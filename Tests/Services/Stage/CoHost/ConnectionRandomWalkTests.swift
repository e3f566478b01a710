// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import StageCore

/// Long random walks: the invariants hold after each step, for any inputs in any order.
struct ConnectionRandomWalkTests {
    @Test(arguments: UInt64(1)...6)
    func `I12 I13 I14 random commands keep connections symmetric and end every request and battle once`(
        seed: UInt64
    ) throws {
        var walk = ConnectionRandomWalk(seed: seed)
        for step in 0..<3000 {
            walk.step()
            try #require(walk.machine.violations == [], "seed \(seed), step \(step)")
            walk.checker.compare(with: walk.machine.rows)
            try #require(walk.checker.contradictions == [], "seed \(seed), step \(step)")
            if step % 250 == 0 {
                try #require(try walk.machine.roundTripsThroughStateTopic(), "seed \(seed), step \(step)")
            }
        }
        let checker = walk.checker
        let coverage =
            "\(checker.openedCount) requests, \(checker.results.count) ended battles, and a largest connection of "
            + "\(checker.maxMemberCount) lives"
        #expect(
            checker.openedCount > 100 && checker.results.count > 10 && checker.maxMemberCount > 4,
            "the walk has tried too little: \(coverage)")
        #expect(checker.openedCount == checker.endedCount + checker.openRequests.count)
        // 3 * 600 s = 1800 s, the longest time-out of a request, and longer than any battle.
        for _ in 0..<3 { walk.advance(milliseconds: 600_000) }
        #expect(walk.checker.openedCount == walk.checker.endedCount, "expected every request to have ended by now")
        #expect(walk.checker.startedBattles == Set(walk.checker.results.keys), "expected a result of every battle")
        #expect(walk.checker.contradictions == [])
    }

    @Test(arguments: UInt64(21)...24)
    func `I15 a batch that is rolled back and repeated has the same effects and rows`(seed: UInt64) throws {
        try ConnectionRandomWalk.requireSameAfterRollbacks(seed: seed, rounds: 200)
    }

    @Test func `I17 lives of another app are invisible`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        let effectsInOtherApp = harness.machine.send(
            ConnectionInput(
                app: "other",
                .coHostRequest(from: "arena", to: ["bistro"], caller: harness.callers.user("host-arena"))))
        #expect(effectsInOtherApp.code == .noSuchRoom)
        _ = harness.machine.send(
            ConnectionInput(
                app: "other", .opened(live: "museum", owner: ConnectionHarness.host("museum"), isVoice: false)))
        #expect(harness.request("arena", to: "museum").coHostCodes == [.noSuchLive])
    }
}

/// One random walk: a machine, random inputs, and a checker of its effects.
struct ConnectionRandomWalk: RandomWalk {
    static let stepsPerPause = 6
    static let maxPauseMilliseconds: Int64 = 2500
    static let lives = (0..<10).map { LiveID("l\($0)") }
    var random: SeededRandom
    var machine = MachineHarness(ConnectionMachine(policies: Policies(["demo": AppPolicy(maxBattleSeconds: 20)])))
    var callers = Callers()
    var checker = ConnectionEffectChecker()
    var lastCall: (input: ConnectionInput, reply: Reply)?

    var contradictions: [String] {
        get { self.checker.contradictions }
        set { self.checker.contradictions = newValue }
    }

    init(seed: UInt64) { self.random = SeededRandom(seed: seed) }

    mutating func send(_ input: ConnectionInput) -> [Effect] {
        let effects = self.machine.send(input)
        self.checker.check(input.command, effects, at: self.machine.moment.now)
        return effects
    }

    mutating func advance(milliseconds: Int64) {
        let effects = self.machine.advance(Milliseconds(milliseconds))
        self.checker.check(nil, effects, at: self.machine.moment.now)
    }

    private func live(_ id: LiveID) -> HostedLive? {
        if case .live(let live)? = self.machine.rows[.live(LiveKey("demo", id))] { live.value } else { nil }
    }

    mutating func randomInput() -> ConnectionInput { ConnectionInput(app: "demo", self.randomCommand()) }

    /// A random command, usually one that is possible in the current state.
    private mutating func randomCommand() -> ConnectionCommand {
        let id = self.pick(Self.lives)
        let live = self.live(id)
        let randomLives = (0..<3).map { _ in self.pick(Self.lives) }
        // A battle request of a connected live also names two lives of its connection, which can be invited.
        var battleTargets = randomLives
        if let connectionID = live?.connection,
            case .connection(let view)? = self.machine.rows[.connection("demo", connectionID)]
        {
            battleTargets += [self.pick(view.members).live, self.pick(view.members).live]
        }
        // One call in twenty comes from a user who owns no live.
        let isOwner = Int.random(in: 0..<20, using: &self.random) != 0
        let caller = self.callers.user(isOwner ? ConnectionHarness.host(id).userID : "gina")
        let timeoutSeconds = Int64.random(in: 0...12, using: &self.random)
        let battle: BattleID = live?.battleRequest ?? live?.battle ?? BattleID.unknown
        // The more numbers a command has, the more often it is chosen; `default` has the numbers 54 to 71.
        switch Int.random(in: 0..<72, using: &self.random) {
        case 0: return Bool.random(using: &self.random) ? .ended(live: id, ending: ending()) : .confirmOwner(live: id)
        case 1...4:
            let isVoice = Int.random(in: 0..<16, using: &self.random) == 0
            return .opened(live: id, owner: ConnectionHarness.host(id), isVoice: live?.isVoice ?? isVoice)
        case 5 where Bool.random(using: &self.random): return .userGone(live: id, user: caller.userID)
        case 5, 6: return .confirmOwner(live: id)
        // A floor is the lowest valid ticket, so a floor equal to the callers' ticket does not revoke the ticket.
        case 7: return .floor(live: id, user: caller.userID, ticket: Callers.joinTicket)
        case 8...19:
            return .coHostRequest(from: id, to: randomLives, timeoutSeconds: timeoutSeconds, caller: caller)
        case 20: return .cancelRequest(from: id, to: live?.outgoing ?? randomLives, caller: caller)
        case 21...34: return .accept(live: id, inviter: live?.incoming ?? randomLives[0], caller: caller)
        case 35: return .reject(live: id, inviter: live?.incoming ?? randomLives[0], caller: caller)
        case 36: return .exit(live: id, caller: caller)
        case 37...44:
            // The app allows at most 20 s, so a battle of 21 s is rejected.
            return .requestBattle(
                from: id, to: battleTargets, durationSeconds: Int64.random(in: 0...21, using: &self.random),
                needResponse: Int.random(in: 0..<3, using: &self.random) != 0, timeoutSeconds: timeoutSeconds,
                extensionInfo: "", caller: caller)
        case 45: return .cancelBattle(battle: battle, live: id, to: randomLives, caller: caller)
        case 46...51: return .acceptBattle(battle: battle, live: id, caller: caller)
        case 52: return .rejectBattle(battle: battle, live: id, caller: caller)
        case 53: return .exitBattle(battle: battle, live: id, caller: caller)
        default:
            let scores = ([id] + randomLives.prefix(1)).map {
                ScoreUpdate(live: $0, score: Int64.random(in: -2...9, using: &self.random))
            }
            return .updateScores(
                battle: battle, operation: self.pick([.accumulate, .accumulate, .overwrite]), scores: scores,
                caller: self.callers.server())
        }
    }
}
