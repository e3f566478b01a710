// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import StageCore
import Testing

/// Compares the connection machine with models that were written from the rules alone, without reading the machine's
/// code.
///
/// With three lives, every move in every reachable state is compared; with eight lives, only the moves of random walks.
struct ConnectionModelTests {
    @Test func `I12 I13 every move of three lives in every reachable state has the result of the model`() throws {
        let lives: [LiveID] = ["arena", "bistro", "cafe"]
        let moves = ConnectionModel.moves(lives)
        let harness = ConnectionHarness(lives)
        var reached: Set<ConnectionModel> = [harness.connectionModel]
        var unexplored = [harness]
        var steps = 0
        // A breadth-first search: states that need fewer moves come first.
        while !unexplored.isEmpty {
            let harness = unexplored.removeFirst()
            let state = harness.connectionModel
            for move in moves {
                var (model, nextHarness) = (state, harness)
                let (machineOutcome, modelOutcome) = (nextHarness.make(move), model.make(move))
                try #require(machineOutcome == modelOutcome, "\(move) in \(state)")
                try #require(nextHarness.connectionModel == model, "\(move) in \(state)")
                steps += 1
                guard reached.insert(model).inserted else { continue }
                nextHarness.resetRequestLimiters()
                unexplored.append(nextHarness)
            }
        }
        #expect(reached.count > 60, "only \(reached.count) states were reached in \(steps) steps")
    }

    @Test func `I13 I14 every battle move of three connected lives in every reachable state has the model's result`()
        throws
    {
        let lives: [LiveID] = ["arena", "bistro", "cafe"]
        let moves = BattleModel.moves(lives)
        var harness = ConnectionHarness(lives)
        harness.connect("arena", "bistro", "cafe")
        var reached: Set<BattleModel> = [harness.battleModel]
        var unexplored = [harness]
        var steps = 0
        // A breadth-first search: states that need fewer moves come first. The model has no clock, so it does not know
        // that a battle ends after 300 s. With few moves, each of which takes at most 10 s unless it ends the battles,
        // every state is reached earlier.
        while !unexplored.isEmpty {
            let harness = unexplored.removeFirst()
            let state = harness.battleModel
            for move in moves {
                var (model, nextHarness) = (state, harness)
                let (machineOutcome, modelOutcome) = (nextHarness.make(move), model.make(move))
                try #require(machineOutcome == modelOutcome, "\(move) in \(state)")
                try #require(nextHarness.battleModel == model, "\(move) in \(state)")
                steps += 1
                guard reached.insert(model).inserted else { continue }
                nextHarness.resetRequestLimiters()
                unexplored.append(nextHarness)
            }
        }
        #expect(reached.count > 20, "only \(reached.count) states were reached in \(steps) steps")
    }

    @Test(arguments: UInt64(1)...4)
    func `I12 I13 long random walks of eight lives have the results of the model`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let lives = (0..<8).map { LiveID("l\($0)") }
        let moves = ConnectionModel.moves(lives)
        var harness = ConnectionHarness(lives)
        var model = harness.connectionModel
        var largestConnection = 0
        for step in 0..<2000 {
            // While a request is open, two of three moves accept the first request, so that connections grow.
            var move = moves[Int.random(in: 0..<moves.count, using: &random)]
            if Int.random(in: 0..<3, using: &random) > 0,
                let request = model.requests.sorted(by: { $0.lexicographicallyPrecedes($1) }).first
            {
                move = .accept(request[1], inviter: request[0])
            }
            let (machineOutcome, modelOutcome) = (harness.make(move), model.make(move))
            try #require(machineOutcome == modelOutcome, "seed \(seed), step \(step): \(move)")
            try #require(harness.connectionModel == model, "seed \(seed), step \(step): \(move)")
            largestConnection = max(largestConnection, model.connections.map(\.count).max() ?? 0)
            harness.resetRequestLimiters()
        }
        #expect(largestConnection > 3, "the largest connection had only \(largestConnection) lives")
    }

    @Test(arguments: UInt64(11)...14)
    func `I14 the scores of a battle follow from the updates that were made while the battle ran, and from no others`(
        seed: UInt64
    ) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<20 {
            var harness = ConnectionHarness(["arena", "bistro", "cafe"])
            harness.connect("arena", "bistro", "cafe")
            let id = harness.startBattle("arena", against: "bistro", "cafe", seconds: 20)
            var scores: [LiveID: Int64] = ["arena": 0, "bistro": 0, "cafe": 0]
            var livesInBattle: Set<LiveID> = ["arena", "bistro", "cafe"]
            var elapsedMilliseconds: Int64 = 0
            // Until the battle ends by time or all lives have left it, each step does one of three things at random: a
            // live leaves the battle, time passes, or a live gets a score.
            while elapsedMilliseconds < 20_000, !livesInBattle.isEmpty {
                let live: LiveID = ["arena", "bistro", "cafe"][Int.random(in: 0..<3, using: &random)]
                switch Int.random(in: 0..<10, using: &random) {
                case 0:
                    let code = harness.call(live) { .exitBattle(battle: id, live: live, caller: $0) }.code
                    try #require(code == (livesInBattle.contains(live) ? .success : .roomNotInBattle))
                    livesInBattle.remove(live)
                case 1...3:
                    let milliseconds = Int64.random(in: 1...4000, using: &random)
                    elapsedMilliseconds += milliseconds
                    _ = harness.advance(milliseconds: milliseconds)
                default:
                    let score = Int64.random(in: 0...50, using: &random)
                    let isAdded = Bool.random(using: &random)
                    let command = ConnectionCommand.updateScores(
                        battle: id, operation: isAdded ? .accumulate : .overwrite,
                        scores: [ScoreUpdate(live: live, score: score)], caller: harness.callers.server())
                    // The update is sent one to three times, but counts once.
                    for _ in 0...Int.random(in: 0...2, using: &random) {
                        try #require(
                            harness.handle(command).scoreCodes == [
                                livesInBattle.contains(live) ? .success : .roomNotInBattle
                            ])
                    }
                    if livesInBattle.contains(live) { scores[live] = (isAdded ? scores[live] ?? 0 : 0) + score }
                }
            }

            // If a live is still in the battle, this pause ends the battle by time, unless it has ended already.
            if !livesInBattle.isEmpty { _ = harness.advance(milliseconds: 20_000) }
            guard case .battle(let battle)? = harness.machine.rows[.battle("demo", id)], let view = battle.view
            else {
                Issue.record("seed \(seed): the row of the ended battle is missing, or has no result")
                return
            }
            #expect(view.ended == (livesInBattle.isEmpty ? .allMemberExit : .timeOver), "seed \(seed)")
            for side in view.sides { #expect(side.score == scores[side.live], "seed \(seed), \(side.live)") }
            #expect(harness.updateScores(id, [("arena", 1)]).scoreCodes == [.battleOver])
        }
    }
}
