// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import PlazaModel
internal import ProtocolClient

/// The part of the workload with calls whose effects the checker counts: each is sent once, and its outcome recorded.
extension StageWorkload {
    /// The codes that say that a call was certainly not applied, and never will be.
    ///
    /// After any other error the call may have been applied, or may be applied later.
    private static let rejections: Set<ReplyCode> = [
        .userMuted, .roomMuted, .droppedByBudget, .giftsNotEnabled, .noSuchGift, .battleOver, .noSuchBattle,
        .giftCheckFailed, AppBackend.rejectionCode,
    ]

    /// Sends a call once, and records its outcome.
    ///
    /// - Parameters:
    ///   - client: the caller.
    ///   - name: the caller's name.
    ///   - call: what the call does, for the history.
    ///   - live: the live that the call changes.
    ///   - method: the method.
    ///   - params: the parameters of the call.
    /// - Returns: the outcome.
    @discardableResult
    func send(
        _ client: PlazaClient, _ name: String, _ call: CallRecord.Call, in live: LiveID, _ method: String,
        _ params: CallParams
    ) async -> CallRecord.Outcome {
        let index = self.record(call, by: name, in: live)
        var outcome = CallRecord.Outcome.unanswered
        var code: ReplyCode?
        do {
            switch try await client.call(method, params) {
            case .sent(let position): outcome = .acknowledged(number: position.number)
            case .scores(let codes): outcome = codes.allSatisfy { $0.code == 0 } ? .acknowledged() : .rejected
            default: outcome = .acknowledged()
            }
        } catch {
            code = error.code
            if Self.rejections.contains(error.code) { outcome = .rejected }
        }
        self.history.withLock { ($0.calls[index].outcome, $0.calls[index].code) = (outcome, code) }
        return outcome
    }

    /// Records a call before it is sent, so that the history has the order of sending.
    ///
    /// - Returns: the index of the record, whose outcome is `unanswered`, in the history's calls.
    func record(_ call: CallRecord.Call, by name: String, in live: LiveID) -> Int {
        self.history.withLock { history in
            history.calls.append(CallRecord(client: name, live: live, call, .unanswered, at: .ofThisMachine))
            return history.calls.count - 1
        }
    }

    /// Sends a text.
    @discardableResult
    func sendText(_ text: String, from witness: Witness, isMuted: Bool = false) async -> CallRecord.Outcome {
        await self.send(
            witness.client, witness.name, .message(text, isMuted: isMuted), in: witness.live, "barrage.sendText",
            CallParams(live: witness.live, text: text))
    }

    /// Sends a gift; each witness may send each count only once.
    func sendGift(_ count: Int, from witness: Witness) async {
        let id = FeedContent.giftMessageID(sender: witness.user, gift: Self.gift.giftID, count: count)
        await self.send(
            witness.client, witness.name, .message(id), in: witness.live, "gift.send",
            CallParams(live: witness.live, gift: Self.gift.giftID, count: count))
    }

    /// Sends likes.
    func sendLikes(_ count: Int, from witness: Witness) async {
        await self.send(
            witness.client, witness.name, .likes(Int64(count)), in: witness.live, "like.send",
            CallParams(live: witness.live, count: count))
    }

    /// Sets a key of a live's metadata.
    func setMetadata(_ key: String, to value: String, by host: Witness) async {
        await self.send(
            host.client, host.name, .metadata(key: key, value: value), in: host.live, "metadata.set",
            CallParams(live: host.live, metadata: [key: value]))
    }

    /// Adds to the score of a live in a battle.
    func sendScore(_ score: Int64, for live: LiveID, in battle: BattleID) async {
        // Operation 1 adds to the score.
        await self.send(
            self.appServer, "the app's server", .score(battle, score), in: live, "battle.score",
            CallParams(battle: battle, operation: 1, scores: [ScoreUpdate(live: live, score: score)]))
    }

    /// The gift of the workload's catalogue.
    static let gift = Gift(giftID: GiftID("rose"), name: "Rose", coins: 3)
    /// The highest number of gifts in a call of `runGifts`; the calls of a burst send more.
    static let maxSteadyGiftCount = 200

    /// Begins to send many calls at once, and returns after `delay`, without waiting for the answers.
    ///
    /// - Parameter delay: the time to wait after the calls were begun; below 200 ms.
    /// - Returns: false if the lives were not open within 15 s.
    func sendBurst(thenWait delay: Duration) async -> Bool {
        guard await self.viewers[0].wait(within: .seconds(15), until: { _ in self.isOpen.withLock { $0 } }) else {
            return false
        }
        let battle = self.openBattle.withLock { $0 }
        let burst = Task {
            await withTaskGroup(of: Void.self) { group in
                for viewer in self.viewers {
                    for number in 1...Self.burstTexts {
                        group.addTask { await self.sendText("\(viewer.name) bursts \(number)", from: viewer) }
                    }
                    for count in Self.maxSteadyGiftCount + 1...Self.maxSteadyGiftCount + 3 {
                        group.addTask { await self.sendGift(count, from: viewer) }
                    }
                    group.addTask { await self.sendLikes(7, from: viewer) }
                }
                for host in self.hosts { group.addTask { await self.setMetadata("burst", to: "sent", by: host) } }
                if let battle {
                    for live in self.lives { group.addTask { await self.sendScore(5, for: live, in: battle) } }
                }
            }
        }
        self.bursts.withLock { $0.append(burst) }
        try? await Task.sleep(for: delay)
        return true
    }

    /// How many texts each viewer sends in a burst.
    private static let burstTexts = 8
}
