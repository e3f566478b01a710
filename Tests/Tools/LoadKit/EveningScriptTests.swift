// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import LoadKit

/// Tests of the script of `plaza demo --evening`: who does what and when; times are milliseconds since its beginning.
@Suite struct EveningScriptTests {
    /// Takes the actions of the time from 0 to `milliseconds`, in steps of 200 ms.
    private func takeActions(_ script: inout EveningScript, until milliseconds: Int64) -> [EveningAction] {
        stride(from: Int64(0), through: milliseconds, by: 200).flatMap { script.takeActions(until: $0) }
    }

    @Test(arguments: [1, 7, 12345]) func `one seed always gives the same evening, another seed a different one`(
        seed: UInt64
    ) {
        var script = EveningScript(seed: seed)
        var sameScript = EveningScript(seed: seed)
        var otherScript = EveningScript(seed: seed + 1)
        let actions = self.takeActions(&script, until: 60_000)
        #expect(actions == self.takeActions(&sameScript, until: 60_000))
        #expect(actions != self.takeActions(&otherScript, until: 60_000))
    }

    @Test(arguments: [1, 2, 3])
    func `each live has two to ten messages a second, and enough of every other kind of action`(seed: UInt64) {
        var script = EveningScript(seed: seed)
        // The first two lives are in a battle.
        script.noteStage(.battling)
        let actions = self.takeActions(&script, until: 300_000)
        for live in EveningCast.lives.indices {
            let actionsOfLive = actions.filter { $0.live == live }
            func count(_ matches: (EveningAction.Kind) -> Bool) -> Int { actionsOfLive.count { matches($0.kind) } }
            // Two to ten messages a second in 300 s are 600 to 3000; the bounds allow a tolerance.
            #expect((570...3_100).contains(count { if case .text = $0 { true } else { false } }))
            #expect(count { if case .gift = $0 { true } else { false } } >= 20)
            #expect(count { if case .likes = $0 { true } else { false } } >= 90)
            #expect(count { $0 == .askForSeat } >= 5)
            #expect(count { $0 == .leaveSeat } >= 5)
            #expect(count { $0 == .join } >= 3)
            #expect(count { $0 == .leave } >= 3)
            #expect(count { if case .speaking(let level) = $0 { level > 0 } else { false } } >= 150)
            // Only the first two lives battle.
            #expect((count { if case .score = $0 { true } else { false } } > 0) == (live < 2))
        }
    }

    @Test(arguments: [4, 5, 6])
    func `only users in a live act there, and only seated users report devices and speaking levels`(seed: UInt64) {
        var script = EveningScript(seed: seed)
        var present = Set(script.openingActions().map(\.user)).union(EveningCast.lives.map(\.hostID))
        var seated = Set(EveningCast.lives.map(\.hostID))
        for action in self.takeActions(&script, until: 300_000) {
            switch action.kind {
            case .join: #expect(present.insert(action.user).inserted)
            case .leave:
                #expect(present.remove(action.user) != nil)
                #expect(!seated.contains(action.user))
            case .askForSeat: #expect(seated.insert(action.user).inserted)
            case .leaveSeat: #expect(seated.remove(action.user) != nil)
            case .devices, .speaking: #expect(seated.contains(action.user))
            default: #expect(present.contains(action.user))
            }
            #expect(seated.isSubset(of: present))
            #expect(seated.count <= EveningCast.lives.count * (1 + EveningScript.maxGuests))
        }
    }

    @Test func `the first two lives connect, battle for one to two minutes, and battle again after a pause`() {
        // The test tells the script the stage that follows from each action.
        var script = EveningScript(seed: 1)
        #expect(self.takeActions(&script, until: 1_000).contains { $0.kind == .connect(to: 1) })
        script.noteStage(.connected)
        let actions = stride(from: Int64(1_200), through: 5_000, by: 200).flatMap { script.takeActions(until: $0) }
        // The lengths of the battles that live 0 begins against live 1.
        let battleSeconds = actions.compactMap { action in
            if case .battle(1, let seconds) = action.kind { seconds } else { nil }
        }
        #expect(battleSeconds.count >= 1)
        #expect(battleSeconds.allSatisfy { (60...120).contains($0) })
        /// Whether a battle begins in these steps.
        func beginsBattle(in steps: StrideThrough<Int64>, _ script: inout EveningScript) -> Bool {
            steps.flatMap { script.takeActions(until: $0) }.contains {
                if case .battle = $0.kind { true } else { false }
            }
        }
        // No other battle begins during the battle.
        script.noteStage(.battling)
        #expect(!beginsBattle(in: stride(from: 5_200, through: 70_000, by: 200), &script))
        // The battle ends at 70 s, and a pause of 8 to 15 s follows.
        script.noteStage(.connected)
        #expect(!beginsBattle(in: stride(from: 70_200, through: 77_000, by: 200), &script))
        #expect(beginsBattle(in: stride(from: 77_200, through: 90_000, by: 200), &script))
    }

    @Test func `when the script was not asked for an hour, the missed actions are not all returned at once`() {
        var script = EveningScript(seed: 1)
        _ = self.takeActions(&script, until: 10_000)
        // An hour has many thousand actions.
        #expect(script.takeActions(until: 3_600_000).count < 120)
    }

    @Test func `the admin welcomes by name a user who joins the live, but at most one user in each interval`() {
        var script = EveningScript(seed: 1)
        _ = script.takeActions(until: 1_000)
        let welcome = script.takeWelcome(of: "Ada", live: 2)
        // Viewer 0 of each live is its admin.
        #expect(welcome?.user == EveningCast.lives[2].viewerID(0))
        if case .text(let text) = welcome?.kind { #expect(text.contains("Ada")) } else { Issue.record("no welcome") }
        // Each live has an interval of its own, and that of live 2 has just begun.
        #expect(script.takeWelcome(of: "Ben", live: 2) == nil)
        #expect(script.takeWelcome(of: "Ben", live: 1) != nil)
        _ = script.takeActions(until: 1_000 + EveningScript.welcomeInterval)
        #expect(script.takeWelcome(of: "Ben", live: 2) != nil)
        // A user without a name is not welcomed.
        #expect(script.takeWelcome(of: "", live: 3) == nil)
    }
}
