// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import PlazaModel
internal import ProtocolClient

/// Connects the two lives and lets them battle, again and again.
extension StageWorkload {
    func battle(until isOver: () -> Bool) async throws(Stall) {
        try await self.connect()
        while !isOver() { try await self.battleOnce() }
    }

    private func connect() async throws(Stall) {
        let (inviter, invitee) = (self.hosts[0], self.hosts[1])
        let before = inviter.notices.count
        let request = CallParams(live: inviter.live, to: [invitee.live], timeout: 120)
        try await self.call(inviter.client, inviter.name, "cohost.request", request)
        try await self.wait(invitee, "the co-host request") { witness in
            witness.notices.contains { if case .coHostRequestReceived = $0 { true } else { false } }
        }
        try await self.call(
            invitee.client, invitee.name, "cohost.accept", CallParams(live: invitee.live, inviter: inviter.live),
            done: [.alreadyConnected, .noSuchConnection])
        for witness in self.viewers {
            try await self.wait(witness, "the connection") { ($0.stage?.connection?.members.count ?? 0) == 2 }
        }
        // The notice may come after the stage.
        try? await Task.sleep(for: .seconds(1))
        let ends = inviter.notices.dropFirst(before).compactMap { notice -> String? in
            switch notice {
            case .coHostRequestAccepted: "accepted"
            case .coHostRequestRejected: "rejected"
            case .coHostRequestTimedOut: "timed out"
            default: nil
            }
        }
        self.history.withLock { $0.requests.append(.init(name: "\(inviter.name)'s co-host request", ends: ends)) }
    }

    private func battleOnce() async throws(Stall) {
        let known = Set(self.begins(seenBy: self.viewers[0]))
        let params = CallParams(live: self.lives[0], to: [self.lives[1]], duration: Self.seconds)
        try await self.call(
            self.hosts[0].client, self.hosts[0].name, "battle.request", params,
            done: [.inAnotherBattle, .battlePending])
        try await self.wait(self.viewers[0], "the begin of a battle") { !known.isSuperset(of: self.begins(seenBy: $0)) }
        guard let battle = self.begins(seenBy: self.viewers[0]).first(where: { !known.contains($0) }) else { return }
        self.history.withLock { history in
            history.battles[battle] = Dictionary(uniqueKeysWithValues: self.lives.map { ($0, SumBounds()) })
        }
        self.battleEnd.withLock { $0 = ContinuousClock.now + .seconds(Self.seconds) }
        await self.sendScores(battle)
        for witness in self.hosts + self.viewers {
            try await self.wait(witness, "the end of battle \(battle.text)") { witness in
                guard let view = witness.stage?.battle else { return witness.feed.steps.contains(.gap) }
                return view.id == battle ? view.ended != nil : true
            }
        }
    }

    /// Waits until a battle is in its last second, at most 20 s.
    ///
    /// - Returns: whether a battle is.
    func untilLastSecondOfBattle() async -> Bool {
        let deadline = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < deadline {
            let left = self.battleEnd.withLock { $0.map { $0 - ContinuousClock.now } }
            // Below this the end may have come before the fault.
            if let left, left < .milliseconds(900), left > .milliseconds(200) { return true }
            try? await Task.sleep(for: .milliseconds(50))
        }
        return false
    }

    private func sendScores(_ battle: BattleID) async {
        let over = ContinuousClock.now + .seconds(Self.seconds - 1)
        var round: Int64 = 0
        while ContinuousClock.now < over {
            round += 1
            let live = self.lives[Int(round % 2)]
            let score = 1 + round % 7
            let params = CallParams(
                battle: battle, operation: 1, scores: [ScoreUpdate(live: live, score: score)])
            var isAcknowledged: Bool?
            do {
                if case .scores(let codes) = try await self.shop.call("battle.score", params) {
                    isAcknowledged = codes.allSatisfy { $0.code == 0 }
                }
            } catch {
                isAcknowledged = [.battleOver, .noSuchBattle].contains(error.code) ? false : nil
            }
            self.history.withLock { history in
                switch isAcknowledged {
                case true: history.battles[battle]?[live]?.acknowledged += score
                case nil: history.battles[battle]?[live]?.unanswered += score
                case false: break
                }
            }
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    private func begins(seenBy witness: Witness) -> [BattleID] {
        witness.feed.contents.flatMap { content -> [BattleID] in
            guard case .stage(_, let events) = content else { return [] }
            return events.compactMap { if case .battleStarted(let battle) = $0 { battle } else { nil } }
        }
    }

    /// How long each battle lasts, in seconds.
    private static let seconds = 8
}
