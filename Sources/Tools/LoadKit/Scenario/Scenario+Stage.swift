// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import ProtocolClient

/// The second half of the scenario: a guest on a seat, two hosts connect and battle, and the lives end.
///
/// Alice and Bob are the hosts of two lives. Carol and Erin are viewers of Alice's live, and Frank of Bob's. Timeouts
/// and durations in parameters are in seconds.
extension Scenario {
    /// Carol applies for a seat, and Alice accepts the application.
    func seatGuest() async throws(ScenarioFailure) {
        try await self.carol.call("seat.apply", CallParams(live: self.aliceLive, timeout: 30), live: self.aliceLive)
        _ = try await self.alice.waitForNotice("carol's application") { content in
            if case .applicationReceived(let guest, _, _, _) = content {
                guest.userName == "Carol" ? true : nil
            } else {
                nil
            }
        }
        try await self.alice.call(
            "seat.acceptApplication", CallParams(live: self.aliceLive, user: self.user(self.carol)),
            live: self.aliceLive)
        _ = try await self.carol.waitForNotice("that her application was accepted") { content in
            if case .applicationAnswered(_, true) = content { true } else { nil }
        }
        let carol = self.user(self.carol)
        let seat = try await self.erin.waitForFeedItem("carol on a seat") { content -> Int? in
            guard case .stage(let stage, _) = content else { return nil }
            return stage.seats.first { $0.occupant?.user.userID == carol }?.index
        }
        self.report(
            "carol asks for a seat", "alice sees the application and accepts it", "erin sees carol on seat \(seat)")
    }

    /// Alice invites Bob's live and an unknown one; Bob accepts, and both lives are on the stage.
    func connect() async throws(ScenarioFailure) {
        let unknownLive = LiveID("\(self.setting.name)-nobody")
        let asked = try await self.alice.call(
            "cohost.request", CallParams(live: self.aliceLive, to: [self.bobLive, unknownLive], timeout: 10),
            live: self.aliceLive)
        guard case .coHost(let codes) = asked else { throw ScenarioFailure("the request gave \(asked)") }
        let codeByLive = Dictionary(codes.map { ($0.live, $0.code) }, uniquingKeysWith: { first, _ in first })
        // 0 means that the request was sent, 1 that there is no such live (R8.1).
        try self.check(codeByLive == [self.bobLive: 0, unknownLive: 1], "the codes are \(codeByLive)")
        _ = try await self.bob.waitForNotice("alice's request") { content in
            if case .coHostRequestReceived(let inviter, _, _) = content {
                inviter.live == self.aliceLive ? true : nil
            } else {
                nil
            }
        }
        try await self.bob.call(
            "cohost.accept", CallParams(live: self.bobLive, inviter: self.aliceLive), live: self.bobLive)
        _ = try await self.alice.waitForNotice("that bob accepted") { content in
            if case .coHostRequestAccepted(let invitee) = content {
                invitee.live == self.bobLive ? true : nil
            } else {
                nil
            }
        }
        for participant in [self.erin, self.frank] {
            _ = try await participant.waitForFeedItem("both lives on stage") { content -> Bool? in
                guard case .stage(let stage, _) = content, let connection = stage.connection else { return nil }
                return Set(connection.members.map(\.live)) == [self.aliceLive, self.bobLive] ? true : nil
            }
        }
        self.report(
            "alice asks bob's live, and one that does not exist", "the codes are 0 and 1", "bob is asked, and accepts",
            "erin in alice's live and frank in bob's see both on stage")
    }

    /// The two lives battle until the time is over; all viewers see the same result, and a late score is rejected.
    func battle() async throws(ScenarioFailure) {
        let asked = try await self.alice.call(
            "battle.request", CallParams(live: self.aliceLive, to: [self.bobLive], duration: 6, needResponse: true),
            live: self.aliceLive)
        guard case .battle(let battle, _, _, _) = asked else { throw ScenarioFailure("the battle gave \(asked)") }
        _ = try await self.bob.waitForNotice("the battle's request") { content in
            if case .battleRequestReceived(battle, _, _, _, _) = content { true } else { nil }
        }
        try await self.bob.call("battle.accept", CallParams(live: self.bobLive, battle: battle), live: self.bobLive)
        for participant in [self.erin, self.frank] {
            _ = try await participant.waitForFeedItem("the battle's begin") { content -> Bool? in
                guard case .stage(_, let events) = content else { return nil }
                return events.contains(.battleStarted(battle: battle)) ? true : nil
            }
        }
        try await self.sendScores(battle)
        // `sendScores` gives Alice 30 points and then 20 more.
        let expectedScores = [self.aliceLive: Int64(50), self.bobLive: Int64(20)]
        for participant in [self.erin, self.frank] {
            // The battle lasts 6 s, so its result comes well within 15 s.
            let result = try await participant.waitForFeedItem("the battle's result", within: 15) {
                content -> [LiveID: Int64]? in
                guard case .stage(let stage, _) = content, let view = stage.battle, view.ended == .timeOver else {
                    return nil
                }
                return Dictionary(view.sides.map { ($0.live, $0.score) }, uniquingKeysWith: { first, _ in first })
            }
            try self.check(result == expectedScores, "\(participant.name) sees the result \(result)")
        }
        // Operation 1 adds to the score.
        let lateScore = try await self.appServer.call(
            "battle.score",
            CallParams(battle: battle, operation: 1, scores: [ScoreUpdate(live: self.aliceLive, score: 1)]))
        try self.check(
            lateScore == .scores(codes: [LiveCode(live: self.aliceLive, code: ReplyCode.battleOver.code)]),
            "a score after the end gave \(lateScore)")
        self.report(
            "a battle of 6 seconds", "bob is asked, and accepts", "gifts count for alice 30 and 20 more, for bob 20",
            "alice herself may not count: \(ReplyCode.noPermission.name)", "time is over: everybody sees 50 to 20",
            "what comes later counts no more: \(ReplyCode.battleOver.name)")
    }

    /// Sends the scores of the battle: 30 points for Alice and 20 for Bob, and then 20 more for Alice.
    ///
    /// Before that, checks that Alice herself may not send a score.
    private func sendScores(_ battle: BattleID) async throws(ScenarioFailure) {
        try await self.alice.expectRejection(
            .noPermission, "battle.score",
            CallParams(battle: battle, operation: 1, scores: [ScoreUpdate(live: self.aliceLive, score: 999)]))
        // Operation 1 adds to the scores.
        let scores = [ScoreUpdate(live: self.aliceLive, score: 30), ScoreUpdate(live: self.bobLive, score: 20)]
        let counted = try await self.appServer.call(
            "battle.score", CallParams(battle: battle, operation: 1, scores: scores))
        guard case .scores(let codes) = counted, codes.allSatisfy({ $0.code == 0 }) else {
            throw ScenarioFailure("the scores gave \(counted)")
        }
        try await self.appServer.call(
            "battle.score",
            CallParams(battle: battle, operation: 1, scores: [ScoreUpdate(live: self.aliceLive, score: 20)]))
    }

    /// Bob leaves the connection, and both lives end; each member receives the end once, and no feed lacks an item.
    func end() async throws(ScenarioFailure) {
        try await self.bob.call("cohost.exit", CallParams(live: self.bobLive), live: self.bobLive)
        _ = try await self.erin.waitForFeedItem("bob leaving the stage") { content -> Bool? in
            guard case .stage(let stage, let events) = content, stage.connection == nil else { return nil }
            return events.contains { if case .coHostLeft = $0 { true } else { false } } ? true : nil
        }
        for (host, live) in [(self.alice, self.aliceLive), (self.bob, self.bobLive)] {
            try await host.call("live.end", CallParams(live: live), live: live)
        }
        for participant in self.aliceMembers + self.bobMembers {
            _ = try await participant.waitForFeedItem("the end") { content in
                if case .liveEnded(.endedByHost, _) = content { true } else { nil }
            }
        }
        for participant in self.aliceMembers + self.bobMembers {
            // A second `liveEnded` would arrive within this time.
            await participant.collectUpdates(seconds: 0.2)
            try self.check(
                participant.liveEndedCount == 1,
                "\(participant.name) was told \(participant.liveEndedCount) times that the live ended")
            try self.check(participant.isFeedComplete, "\(participant.name) has holes: \(participant.numbers)")
        }
        try await self.carol.expectRejection(.noSuchRoomOnEntry, "live.join", CallParams(live: self.aliceLive))
        self.report(
            "the evening ends", "bob leaves the stage; both lives end", "all five are told once, and no feed has a hole"
        )
    }
}
