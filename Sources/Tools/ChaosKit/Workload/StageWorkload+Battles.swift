// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import PlazaModel
internal import ProtocolClient

/// The part of the workload with battles.
extension StageWorkload {
    /// Connects the two lives, and lets them battle repeatedly.
    ///
    /// The ends of the co-host request are recorded after the last battle, so that a late second end is found, too.
    func runBattles(until isOver: () -> Bool) async throws(Stall) {
        let noticesBefore = self.hosts[0].notices.count
        try await self.connect()
        defer { self.recordConnectionRequest(from: noticesBefore) }
        while !isOver() { try await self.runBattle() }
    }

    /// Connects the two lives by a co-host request.
    private func connect() async throws(Stall) {
        let (inviter, invitee) = (self.hosts[0], self.hosts[1])
        let request = CallParams(live: inviter.live, to: [invitee.live], timeout: 120)
        try await self.call(inviter.client, inviter.name, "cohost.request", request)
        try await self.wait(invitee, "the co-host request") { witness in
            witness.notices.contains { if case .coHostRequestReceived = $0 { true } else { false } }
        }
        try await self.call(
            invitee.client, invitee.name, "cohost.accept", CallParams(live: invitee.live, inviter: inviter.live),
            alreadyDone: [.alreadyConnected, .noSuchConnection])
        for witness in self.viewers {
            try await self.wait(witness, "the connection") { ($0.stage?.connection?.members.count ?? 0) == 2 }
        }
        // The notice about the request's end may be received after the stage.
        try? await Task.sleep(for: .seconds(1))
    }

    private func recordConnectionRequest(from index: Int) {
        let inviter = self.hosts[0]
        self.recordRequest("\(inviter.name)'s co-host request", of: inviter, from: index) { notice in
            switch notice {
            case .coHostRequestAccepted: "accepted"
            case .coHostRequestRejected: "rejected"
            case .coHostRequestTimedOut: "timed out"
            default: nil
            }
        }
    }

    /// Runs one battle from its request to its end, and sends scores meanwhile.
    private func runBattle() async throws(Stall) {
        let earlierBattles = Set(self.startedBattles(seenBy: self.viewers[0]))
        let params = CallParams(live: self.lives[0], to: [self.lives[1]], duration: Self.battleSeconds)
        try await self.call(
            self.hosts[0].client, self.hosts[0].name, "battle.request", params,
            alreadyDone: [.inAnotherBattle, .battlePending])
        try await self.wait(self.viewers[0], "the begin of a battle") {
            !earlierBattles.isSuperset(of: self.startedBattles(seenBy: $0))
        }
        let battles = self.startedBattles(seenBy: self.viewers[0])
        guard let battle = battles.first(where: { !earlierBattles.contains($0) }) else { return }
        self.history.withLock { $0.battles[battle] = Set(self.lives) }
        self.openBattle.withLock { $0 = battle }
        self.battleEnd.withLock { $0 = ContinuousClock.now + .seconds(Self.battleSeconds) }
        await self.sendScores(battle)
        self.openBattle.withLock { $0 = nil }
        for witness in self.hosts + self.viewers {
            try await self.wait(witness, "the end of battle \(battle.text)") { witness in
                // After a gap, a stage without a battle may be later than the whole battle. A stage with another battle
                // is later in any case.
                guard let view = witness.stage?.battle else { return witness.feed.steps.contains(.gap) }
                return view.id == battle ? view.ended != nil : true
            }
        }
        await self.readResult(of: battle)
    }

    /// Reads the battle's result with `battle.get`, as a client does that missed the battle's end, and records it.
    ///
    /// A failed call is repeated at most twice.
    private func readResult(of battle: BattleID) async {
        for _ in 1...3 {
            do {
                let result = try await self.appServer.call("battle.get", CallParams(battle: battle))
                guard case .battleInfo(let details) = result, let view = details.battle else { return }
                let scores = Dictionary(view.sides.map { ($0.live, $0.score) }, uniquingKeysWith: { first, _ in first })
                return self.history.withLock {
                    $0.battleReads.append(
                        BattleRead(
                            battle: battle, hasEnded: view.ended != nil, scores: scores, at: .ofThisMachine))
                }
            } catch {
                // The server keeps a result only for a while; after that no call can read it.
                if error.code == .noSuchBattle { return }
            }
        }
    }

    /// Waits at most 20 s until a battle is in its last second.
    ///
    /// - Returns: whether a battle is in its last second now.
    func waitForLastSecondOfBattle() async -> Bool {
        let deadline = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < deadline {
            let timeLeft = self.battleEnd.withLock { end in end.map { $0 - ContinuousClock.now } }
            // With less than 200 ms left, the battle might end before the fault is injected.
            if let timeLeft, timeLeft < .milliseconds(900), timeLeft > .milliseconds(200) { return true }
            try? await Task.sleep(for: .milliseconds(50))
        }
        return false
    }

    /// Sends scores until one second before the battle's end.
    private func sendScores(_ battle: BattleID) async {
        let deadline = ContinuousClock.now + .seconds(Self.battleSeconds - 1)
        var round: Int64 = 0
        while ContinuousClock.now < deadline {
            round += 1
            let live = self.lives[Int(round % 2)]
            await self.sendScore(1 + round % 7, for: live, in: battle)
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    /// The battles whose start a witness has received.
    private func startedBattles(seenBy witness: Witness) -> [BattleID] {
        witness.feed.contents.flatMap { content -> [BattleID] in
            guard case .stage(_, let events) = content else { return [] }
            return events.compactMap { if case .battleStarted(let battle) = $0 { battle } else { nil } }
        }
    }

    /// How long each battle lasts, in seconds.
    private static let battleSeconds = 8
}
