// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import PlazaModel
internal import ProtocolClient

/// The part of the workload with gifts, likes and metadata, and with viewers who are muted, kicked, banned, or leave.
///
/// A witness is a client that records all that it receives. The talker is the witness that is muted and unmuted. A
/// `Stall` is thrown when a step gets no valid answer in time.
extension StageWorkload {
    /// Sets the app's gift catalogue, then lets each viewer send a gift and 1 to 5 likes every 400 ms.
    ///
    /// The checker tells the gift messages of one viewer apart by their number of gifts, so no two of these messages
    /// have the same number. The app's backend rejects some of the gifts.
    func runGifts(until isOver: () -> Bool) async throws(Stall) {
        let category = GiftCategory(categoryID: GiftCategoryID("flowers"), name: "Flowers", gifts: [Self.gift])
        try await self.call(
            self.appServer, "the app's server", "app.setGifts", CallParams(categories: [category]))
        var giftCount = 0
        while !isOver(), giftCount < Self.maxSteadyGiftCount {
            giftCount += 1
            for viewer in self.viewers {
                await self.sendGift(giftCount, from: viewer)
                await self.sendLikes(1 + giftCount % 5, from: viewer)
            }
            try? await Task.sleep(for: .milliseconds(400))
        }
    }

    /// Lets a host write metadata repeatedly.
    func runMetadata(until isOver: () -> Bool) async {
        var round = 0
        while !isOver() {
            round += 1
            await self.setMetadata("topic", to: "topic \(round)", by: self.hosts[0])
            try? await Task.sleep(for: .milliseconds(400))
        }
    }

    /// Lets all witnesses of the first live read its metadata repeatedly, for at most 15 s, until the checker finds no
    /// contradiction; records what they read last.
    func recordMetadata() async {
        let witnesses = self.witnesses.filter { $0.live == self.lives[0] }
        let deadline = ContinuousClock.now + .seconds(15)
        var reads: [MetadataRead] = []
        repeat {
            reads = []
            for witness in witnesses {
                let result = try? await witness.client.call("metadata.get", CallParams(live: witness.live))
                guard case .metadata(let values)? = result else { continue }
                reads.append(
                    MetadataRead(client: witness.name, live: witness.live, values: values, at: .ofThisMachine))
            }
            // The checker works on a copy of the history, with what the witnesses have received and read so far.
            var history = self.history.withLock { $0 }
            history.feeds = witnesses.map(\.feed)
            history.metadataReads = reads
            // A read model or a feed may be a moment late, which is no fault. So contradictions lead to another read.
            if reads.count == witnesses.count, HistoryChecker.findings(of: .metadata, in: history).isEmpty { break }
            try? await Task.sleep(for: .milliseconds(250))
        } while ContinuousClock.now < deadline
        self.history.withLock { $0.metadataReads = reads }
    }

    // MARK: Mutes

    /// Lets a host mute and unmute the talker, who sends texts meanwhile.
    func runMutes(until isOver: () -> Bool) async throws(Stall) {
        var round = 0
        while !isOver() {
            round += 1
            try await self.muteTalker(round)
            try? await Task.sleep(for: .milliseconds(300))
        }
    }

    /// Mutes the talker, lets it try to write, unmutes it, and lets it write.
    ///
    /// A copy of a mute that was sent twice may be applied late, even after an unmute. So once the host has repeated a
    /// mute or unmute, a rejected text is no finding.
    private func muteTalker(_ round: Int) async throws(Stall) {
        let (host, talker) = (self.hosts[1], self.talker)
        let name = "\(talker.name) says \(round)"
        let talkerKnowsMute = try await self.setMute(ofSeconds: 600, by: host)
        if talkerKnowsMute {
            for number in 1...2 { await self.sendText("\(name), muted, \(number)", from: talker, isMuted: true) }
        }
        let talkerKnowsUnmute = try await self.setMute(ofSeconds: 0, by: host)
        let outcome = await self.sendText("\(name), unmuted", from: talker)
        if talkerKnowsUnmute, outcome == .rejected {
            self.history.withLock {
                $0.wrongAnswers.append(
                    Finding(promise: "R5.7", text: "\(talker.name)'s text was rejected after it was unmuted"))
            }
        }
    }

    /// Mutes the talker for some seconds, or unmutes it if `seconds` is 0.
    ///
    /// - Returns: whether the talker has certainly received the change. False if a gap in its feed may have hidden the
    ///   change, or if any `live.mute` was repeated.
    private func setMute(ofSeconds seconds: Int, by host: Witness) async throws(Stall) -> Bool {
        let gapsBefore = self.talker.gapCount
        let changesBefore = self.talker.muteChanges.count
        try await self.call(
            host.client, host.name, "live.mute",
            CallParams(live: host.live, users: [self.talker.user], duration: seconds))
        try await self.wait(self.talker, "its \(seconds > 0 ? "mute" : "unmute")") { talker in
            (talker.muteChanges.count > changesBefore && talker.isMutedInFeed == (seconds > 0))
                || talker.gapCount > gapsBefore
        }
        return self.talker.gapCount == gapsBefore && !self.hasRepeated("live.mute")
    }

    // MARK: Visitors

    /// Lets visitors join, be kicked or banned, enter again if they may, and leave.
    func runVisitors(until isOver: () -> Bool) async throws(Stall) {
        var round = 0
        while !isOver() {
            round += 1
            let visitor = self.makeWitness("visitor-\(round)", self.lives[0], isLate: true)
            self.visitors.withLock { $0.append(visitor) }
            try await self.visit(visitor, isBanned: round.isMultiple(of: 2))
            visitor.stopAfterLeaving()
            try? await Task.sleep(for: .milliseconds(300))
        }
    }

    /// Runs one visit: join, kick or ban, the rejected return of a banned visitor, return, leave.
    private func visit(_ visitor: Witness, isBanned: Bool) async throws(Stall) {
        let params = CallParams(live: visitor.live)
        try await self.call(visitor.client, visitor.name, "live.join", params, live: visitor.live)
        try? await Task.sleep(for: .milliseconds(300))
        try await self.remove(visitor, isBanned: isBanned)
        if isBanned { await self.expectRejection(of: visitor) }
        // What the server sent after the removal would arrive within this time.
        try? await Task.sleep(for: .milliseconds(500))
        // From here on the visitor may get items again: a join of `expectRejection` without an answer may be applied
        // late, after the unban.
        visitor.markGap()
        if isBanned {
            try await self.call(
                self.hosts[0].client, self.hosts[0].name, "live.unban",
                CallParams(live: visitor.live, users: [visitor.user]))
        }
        // A ban that was sent twice may be applied after the unban. Then `banned` is a valid answer to the join.
        try await self.call(
            visitor.client, visitor.name, "live.join", params, live: visitor.live,
            alreadyDone: self.hasRepeated("live.ban") ? [.banned] : [])
        try? await Task.sleep(for: .milliseconds(300))
        // The visitor may have left by an earlier attempt, or may not have entered.
        try await self.call(
            visitor.client, visitor.name, "live.leave", params, live: visitor.live,
            alreadyDone: [.notInRoom, .notMember, .noSuchRoomOnEntry])
    }

    /// Kicks or bans a visitor until it receives the notice of its removal.
    ///
    /// After the presence service has lost its data, it may not know the visitor yet, so the host tries again.
    private func remove(_ visitor: Witness, isBanned: Bool) async throws(Stall) {
        let host = self.hosts[0]
        let params =
            isBanned
            ? CallParams(live: host.live, users: [visitor.user], duration: 600)
            : CallParams(live: host.live, user: visitor.user)
        let deadline = ContinuousClock.now + self.setting.stepTimeout
        repeat {
            try await self.call(
                host.client, host.name, isBanned ? "live.ban" : "audience.kick", params, alreadyDone: [.notMember])
            if await visitor.wait(within: .seconds(3), until: \.isRemoved) { return }
        } while ContinuousClock.now < deadline
        return try self.throwStall(
            "\(visitor.name) was not told within \(self.setting.stepTimeout) that it was removed from its live")
    }

    /// Lets a banned visitor, who has got the notice of its ban, try to enter and to write; a success is recorded as a
    /// wrong answer.
    private func expectRejection(of visitor: Witness) async {
        for (method, params) in [
            ("live.join", CallParams(live: visitor.live)),
            ("barrage.sendText", CallParams(live: visitor.live, text: "\(visitor.name) is banned")),
        ] {
            // The client must know the live of a join, so that it resumes that live after a reconnect.
            let live = method == "live.join" ? visitor.live : nil
            do throws(ReplyError) {
                _ = try await visitor.client.call(method, params, live: live)
                self.history.withLock {
                    $0.wrongAnswers.append(
                        Finding(promise: "R4.11", text: "\(visitor.name) was banned, and \(method) succeeded"))
                }
            } catch {
                if error.code == .banned { self.history.withLock { $0.banRejections += 1 } }
            }
        }
    }
}

extension Witness {
    /// The mutes and unmutes of this witness in its feed, oldest first: true for a mute, false for an unmute.
    fileprivate var muteChanges: [Bool] {
        self.feed.contents.compactMap { content in
            guard case .messageDisabled(let user, let isMuted, _) = content, user.userID == self.user else {
                return nil
            }
            return isMuted
        }
    }

    /// Whether the witness is muted according to the last change in its feed; nil if the feed has no such change.
    fileprivate var isMutedInFeed: Bool? { self.muteChanges.last }
}
