// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import StageCore
import Testing

/// Long random walks: whatever comes in whatever order, the invariants hold after each step.
struct ConnectionWalkTests {
    @Test(arguments: UInt64(1)...6)
    func `I12 I13 I14 random commands keep connections symmetric and end every request and battle once`(
        seed: UInt64
    ) throws {
        var walk = ConnectionWalk(seed: seed)
        for step in 0..<3000 {
            walk.step()
            let wrong = walk.rig.machine.checkInvariants(of: walk.rig.journal, at: walk.rig.moment.now)
            try #require(wrong == [], "seed \(seed), step \(step)")
            walk.follower.compare(with: walk.rig.journal)
            try #require(walk.follower.wrong == [], "seed \(seed), step \(step)")
            if step % 250 == 0 { try #require(try walk.rig.survivesStateTopic(), "seed \(seed), step \(step)") }
        }
        let follower = walk.follower
        let reach = "\(follower.opened) requests, \(follower.results.count) battles, \(follower.mostMembers) lives"
        #expect(follower.opened > 100 && follower.results.count > 10 && follower.mostMembers > 4, "only \(reach)")
        #expect(follower.opened == follower.ended + follower.openRequests.count)
        for _ in 0..<3 { walk.pass(milliseconds: 600_000) }
        #expect(walk.follower.opened == walk.follower.ended, "after the longest time-out none is open")
        #expect(walk.follower.started == Set(walk.follower.results.keys), "every battle has its one result")
        #expect(walk.follower.wrong == [])
    }

    @Test(arguments: UInt64(21)...24)
    func `I15 a batch that is put back and read again has the same effects and rows`(seed: UInt64) throws {
        var walk = ConnectionWalk(seed: seed)
        for round in 0..<200 {
            let inputs = (0..<8).map { _ in walk.randomInput() }
            let moment = walk.rig.moment
            let before = walk.rig.journal.sortedKeys.map { walk.rig.journal[$0] }
            let first = inputs.map { walk.rig.tentatively($0) }
            let rows = walk.rig.journal.sortedKeys.map { walk.rig.journal[$0] }
            walk.rig.journal.rollback()
            try #require(walk.rig.journal.sortedKeys.map { walk.rig.journal[$0] } == before, "round \(round)")
            walk.rig.moment = moment
            let second = inputs.map { walk.rig.tentatively($0) }
            try #require(first == second, "round \(round)")
            try #require(walk.rig.journal.sortedKeys.map { walk.rig.journal[$0] } == rows, "round \(round)")
            walk.rig.journal.commit()
            _ = walk.rig.pass(milliseconds: Int64.random(in: 0...3000, using: &walk.random))
        }
    }

    @Test func `I17 lives of another app are not there`() {
        var rig = ConnectionRig(["a", "b"])
        let other = rig.rig.send(
            ConnectionInput(
                app: "other",
                .request(
                    from: "a", to: ["b"], layoutTemplate: 0, timeoutSeconds: 0, extensionInfo: "",
                    caller: rig.callers.user("host-a"))))
        #expect(other.code == 100004)
        _ = rig.rig.send(
            ConnectionInput(app: "other", .opened(live: "x", owner: ConnectionRig.host("x"), isVoice: false)))
        #expect(rig.request("a", "x").liveCodes == [1])
    }
}

/// One walk: chance, a machine, and a reader of its effects.
struct ConnectionWalk {
    static let lives = (0..<10).map { LiveID("l\($0)") }
    var random: SeededRandom
    var rig = Rig(ConnectionMachine(policies: Policies(["demo": AppPolicy(maxBattleSeconds: 20)])))
    var callers = Callers()
    var follower = ConnectionFollower()
    var last: (input: ConnectionInput, reply: Reply)?

    init(seed: UInt64) { self.random = SeededRandom(seed: seed) }

    mutating func step() {
        if let last = self.last, Int.random(in: 0..<12, using: &self.random) == 0 {
            let effects = self.rig.send(last.input)
            if effects.replies != [last.reply] || effects.count != 1 { self.follower.wrong.append("I15: not the same") }
            return
        }
        if Int.random(in: 0..<6, using: &self.random) == 0 {
            self.pass(milliseconds: Int64.random(in: 0...2500, using: &self.random))
            self.last = nil
            return
        }
        let input = self.randomInput()
        let effects = self.rig.send(input)
        self.follower.follow(input.command, effects, at: self.rig.moment.now)
        self.last = effects.replies.last.map { (input, $0) }
    }

    mutating func pass(milliseconds: Int64) {
        let effects = self.rig.pass(milliseconds: milliseconds)
        self.follower.follow(nil, effects, at: self.rig.moment.now)
    }

    private mutating func pick<T>(_ choices: [T]) -> T {
        choices[Int.random(in: 0..<choices.count, using: &self.random)]
    }

    private func live(_ id: LiveID) -> HostedLive? {
        if case .live(let live)? = self.rig.journal[.live(LiveKey("demo", id))] { live.value } else { nil }
    }

    mutating func randomInput() -> ConnectionInput { ConnectionInput(app: "demo", self.randomCommand()) }

    /// Mostly what makes sense as things are, sometimes anything.
    private mutating func randomCommand() -> ConnectionCommand {
        let id = self.pick(Self.lives)
        let live = self.live(id)
        let others = (0..<3).map { _ in self.pick(Self.lives) }
        // Most battles are asked of lives that are connected.
        var partners = others
        if let id = live?.connection, case .connection(let view)? = self.rig.journal[.connection("demo", id)] {
            partners += [self.pick(view.members).live, self.pick(view.members).live]
        }
        let isOwner = Int.random(in: 0..<20, using: &self.random) != 0
        let caller = self.callers.user(isOwner ? ConnectionRig.host(id).userID : "gina")
        let timeout = Int64.random(in: 0...12, using: &self.random)
        let battle: BattleID = live?.battleRequest ?? live?.battle ?? "b-1"
        switch Int.random(in: 0..<72, using: &self.random) {
        case 0: return Bool.random(using: &self.random) ? .ended(live: id, ending: ending()) : .confirmOwner(live: id)
        case 1...4:
            let isVoice = Int.random(in: 0..<16, using: &self.random) == 0
            return .opened(live: id, owner: ConnectionRig.host(id), isVoice: live?.isVoice ?? isVoice)
        case 5 where Bool.random(using: &self.random): return .userGone(live: id, user: caller.userID)
        case 5, 6: return .confirmOwner(live: id)
        case 7: return .floor(live: id, user: caller.userID, ticket: Ticket(50))
        case 8...19:
            return .request(
                from: id, to: others, layoutTemplate: 0, timeoutSeconds: timeout, extensionInfo: "", caller: caller)
        case 20: return .cancelRequest(from: id, to: live?.outgoing ?? others, caller: caller)
        case 21...34: return .accept(live: id, inviter: live?.incoming ?? others[0], caller: caller)
        case 35: return .reject(live: id, inviter: live?.incoming ?? others[0], caller: caller)
        case 36: return .exit(live: id, caller: caller)
        case 37...44:
            return .requestBattle(
                from: id, to: partners, durationSeconds: Int64.random(in: 0...21, using: &self.random),
                needResponse: Int.random(in: 0..<3, using: &self.random) != 0, timeoutSeconds: timeout,
                extensionInfo: "", caller: caller)
        case 45: return .cancelBattle(battle: battle, live: id, to: others, caller: caller)
        case 46...51: return .acceptBattle(battle: battle, live: id, caller: caller)
        case 52: return .rejectBattle(battle: battle, live: id, caller: caller)
        case 53: return .exitBattle(battle: battle, live: id, caller: caller)
        default:
            let scores = ([id] + others.prefix(1)).map {
                ScoreUpdate(live: $0, score: Int64.random(in: -2...9, using: &self.random))
            }
            return .updateScores(
                battle: battle, operation: self.pick([.accumulate, .accumulate, .overwrite]), scores: scores,
                caller: self.callers.server())
        }
    }
}
