// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import StageCore
import Testing

/// The machine against models that are written from the reference alone: every move in every state that three lives
/// can reach, and long walks with more of them.
struct StageModelTests {
    @Test func `I12 I13 every move of three lives in every state that they can reach is as the model says`() throws {
        let lives: [LiveID] = ["a", "b", "c"]
        let moves = ConnectionModel.moves(lives)
        let rig = ConnectionRig(lives)
        var known: Set<ConnectionModel> = [rig.connectionModel]
        var open = [rig]
        var steps = 0
        // The nearest states first: on a long way fights would end by time while others are agreed on.
        while !open.isEmpty {
            let rig = open.removeFirst()
            let before = rig.connectionModel
            for move in moves {
                var (model, machine) = (before, rig)
                let (done, said) = (machine.make(move), model.make(move))
                try #require(done == said, "\(move) in \(before)")
                try #require(machine.connectionModel == model, "\(move) in \(before)")
                steps += 1
                guard known.insert(model).inserted else { continue }
                machine.rest()
                open.append(machine)
            }
        }
        #expect(known.count > 60, "only \(known.count) states in \(steps) steps")
    }

    @Test func `I13 I14 every battle move of three connected lives in every state is as the model says`() throws {
        let lives: [LiveID] = ["a", "b", "c"]
        let moves = BattleModel.moves(lives)
        var rig = ConnectionRig(lives)
        rig.connect("a", "b", "c")
        var known: Set<BattleModel> = [rig.battleModel]
        var open = [rig]
        var steps = 0
        // The nearest states first: on a long way fights would end by time while others are agreed on.
        while !open.isEmpty {
            let rig = open.removeFirst()
            let before = rig.battleModel
            for move in moves {
                var (model, machine) = (before, rig)
                let (done, said) = (machine.make(move), model.make(move))
                try #require(done == said, "\(move) in \(before)")
                try #require(machine.battleModel == model, "\(move) in \(before)")
                steps += 1
                guard known.insert(model).inserted else { continue }
                machine.rest()
                open.append(machine)
            }
        }
        #expect(known.count > 20, "only \(known.count) states in \(steps) steps")
    }

    @Test(arguments: UInt64(1)...4)
    func `I12 I13 long walks of eight lives go as the model says`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let lives = (0..<8).map { LiveID("l\($0)") }
        let moves = ConnectionModel.moves(lives)
        var rig = ConnectionRig(lives)
        var model = rig.connectionModel
        var largest = 0
        for step in 0..<2000 {
            // Leaving and ending are rarer than in the list of moves, so that connections grow.
            var move = moves[Int.random(in: 0..<moves.count, using: &random)]
            if Int.random(in: 0..<3, using: &random) > 0,
                let request = model.requests.sorted(by: { $0.lexicographicallyPrecedes($1) }).first
            {
                move = .accept(request[1], request[0])
            }
            let (done, said) = (rig.make(move), model.make(move))
            try #require(done == said, "seed \(seed), step \(step): \(move)")
            try #require(rig.connectionModel == model, "seed \(seed), step \(step): \(move)")
            largest = max(largest, model.connections.map(\.count).max() ?? 0)
            rig.rest()
        }
        #expect(largest > 3, "only \(largest) lives were ever connected")
    }

    @Test(arguments: UInt64(11)...14)
    func `I14 scores of a random battle are what was added and overwritten while it ran`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<20 {
            var rig = ConnectionRig(["a", "b", "c"])
            rig.connect("a", "b", "c")
            let id = rig.fight("a", "b", "c", seconds: 20)
            var scores: [LiveID: Int64] = ["a": 0, "b": 0, "c": 0]
            var fighting: Set<LiveID> = ["a", "b", "c"]
            var elapsed: Int64 = 0
            while elapsed < 20_000, !fighting.isEmpty {
                let live: LiveID = ["a", "b", "c"][Int.random(in: 0..<3, using: &random)]
                switch Int.random(in: 0..<10, using: &random) {
                case 0:
                    let code = rig.call(live) { .exitBattle(battle: id, live: live, caller: $0) }.code
                    try #require(code == (fighting.contains(live) ? 0 : 100414))
                    fighting.remove(live)
                case 1...3:
                    let milliseconds = Int64.random(in: 1...4000, using: &random)
                    elapsed += milliseconds
                    _ = rig.pass(milliseconds: milliseconds)
                default:
                    let value = Int64.random(in: 0...50, using: &random)
                    let isAdded = Bool.random(using: &random)
                    let command = ConnectionCommand.updateScores(
                        battle: id, operation: isAdded ? .accumulate : .overwrite,
                        scores: [ScoreUpdate(live: live, score: value)], caller: rig.callers.server())
                    // However often it is sent, it counts once.
                    for _ in 0...Int.random(in: 0...2, using: &random) {
                        try #require(rig.tell(command).liveCodes == [fighting.contains(live) ? 0 : 100414])
                    }
                    if fighting.contains(live) { scores[live] = (isAdded ? scores[live] ?? 0 : 0) + value }
                }
            }
            if !fighting.isEmpty { _ = rig.pass(milliseconds: 20_000) }
            guard case .battle(let battle)? = rig.rig.journal[.battle("demo", id)], let view = battle.view else {
                Issue.record("seed \(seed): the result is gone")
                return
            }
            #expect(view.ended == (fighting.isEmpty ? .allMemberExit : .timeOver), "seed \(seed)")
            for side in view.sides { #expect(side.score == scores[side.live], "seed \(seed), \(side.live)") }
            #expect(rig.score(id, [("a", 1)]).liveCodes == [100421])
        }
    }
}
