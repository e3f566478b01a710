// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import BarrageCore

/// Counters: likes, speaking levels and the summary (the live's statistics).
///
/// Counters have the lowest priority of all feed items. Only the latest value of each counter is published, and only
/// while less than six tenths of the feed's budget (24 of 40 items a second) are used. The ledger, which counts what
/// became of each item, counts a value that a later value replaced as dropped, with the reason `merged`.
/// `BarrageHarness` opens the live `show`, which alice owns.
@Suite struct CounterTests {
    /// The command that publishes a stage (the seats of a live) with these occupants.
    ///
    /// An occupant is a user and the live to which the user belongs, because the stages of connected lives show the
    /// users of all these lives.
    private static func stage(_ occupants: [(user: UserID, live: LiveID)]) -> BarrageCommand {
        let seats = occupants.enumerated().map { index, occupant in
            let user = UserInfo(userID: occupant.user)
            return Seat(index: index, occupant: SeatUser(user: user, role: .generalUser, live: occupant.live))
        }
        let record = StageRecord(app: app, live: live, epoch: epoch, revision: 1, seats: seats)
        return .publish(content: .stage(record: record, events: []))
    }

    /// Sends `count` likes; returns the effects.
    private func sendLikes(_ barrage: inout BarrageHarness, _ count: Int, _ caller: Caller) -> [Effect] {
        barrage.send(.sendLikes(count: count, caller: caller))
    }

    /// Rules: R11.8.
    @Test func `the first likes are published at once, later likes together after a second`() {
        var barrage = BarrageHarness()
        let bob = UserInfo(userID: "bob")
        let carl = UserInfo(userID: "carl")
        #expect(self.sendLikes(&barrage, 3, user("bob", call: 1)).contents == [.likes(total: 3, sender: bob, count: 3)])
        #expect(self.sendLikes(&barrage, 4, user("bob", call: 2)).contents == [])
        #expect(self.sendLikes(&barrage, 5, user("carl", call: 1)).contents == [])
        #expect(barrage.rows.nextDue == barrage.now + .seconds(1))
        #expect(barrage.advance(milliseconds: 999) == [])
        // The item has the latest sender with its count, and the total of all likes.
        #expect(barrage.advance(milliseconds: 1).contents == [.likes(total: 12, sender: carl, count: 5)])
        #expect(
            barrage.feed?.ledger.dropped.map(\.reason) == [.merged],
            "expected that bob's second likes are in carl's item")
        barrage.expectInvariants()
    }

    @Test func `I15 repeated likes count once, and likes with an invalid count are rejected`() {
        var barrage = BarrageHarness()
        #expect(self.sendLikes(&barrage, 3, user("bob", call: 1)).outcome == .success(result: .done))
        let repetition = self.sendLikes(&barrage, 3, user("bob", call: 1))
        #expect(repetition == [.success(.done, to: user("bob", call: 1), app: app)], "expected the reply alone")
        // A call has 1 to 1000 likes.
        for (index, count) in [0, -1, 1001, .max, .min].enumerated() {
            let outcome = self.sendLikes(&barrage, count, user("bob", call: Int64(10 + index))).outcome
            #expect(outcome.code == .badParameter, "\(count)")
        }
        #expect(self.sendLikes(&barrage, 1, user("bob", call: 20, ticket: nil)).outcome.code == .notInRoom)
        #expect(self.sendLikes(&barrage, 1000, user("bob", call: 21)).outcome == .success(result: .done))
        // The two accepted calls sent 3 and 1000 likes.
        #expect(barrage.feed?.statistics.totalLikesReceived == 1003)
        let toUnknownLive = barrage.send(.sendLikes(count: 1, caller: user("bob", call: 1)), to: LiveKey(app, "none"))
        #expect(toUnknownLive.outcome.code == .noSuchRoom)
    }

    @Test func `I9 likes are held back while the budget does not allow counters, then published with the right total`()
    {
        var barrage = BarrageHarness()
        // The texts use six tenths of the budget, 24 of 40 items, so no counter may enter.
        for counter in 1...24 { #expect(barrage.sendText(user("bob", call: Int64(counter))).wasSent) }
        #expect(self.sendLikes(&barrage, 3, user("carl", call: 1)).contents == [])
        // bob's texts stop counting when they are a second old. dave's 12 texts alone use less than 24 items, so
        // counters may then enter.
        _ = barrage.advance(milliseconds: 500)
        for counter in 1...12 { #expect(barrage.sendText(user("dave", call: Int64(counter))).wasSent) }
        #expect(self.sendLikes(&barrage, 4, user("carl", call: 2)).contents == [])
        #expect(barrage.advance(milliseconds: 499) == [])
        let published = barrage.advance(milliseconds: 1)
        #expect(published.contents == [.likes(total: 7, sender: UserInfo(userID: "carl"), count: 4)])
        #expect(barrage.feed?.ledger.dropped == [Ledger.Dropped(feedClass: .counter, reason: .merged, count: 1)])
        barrage.expectInvariants()
    }

    /// Rules: R7.15.
    @Test func `users on the live's seats are published as speakers, loudest first`() {
        var barrage = BarrageHarness()
        // A level is 0 to 100. The outcomes of speaking calls are not stored, so a second call with the number 1 is
        // decided, too.
        #expect(barrage.send(.speaking(level: 50, caller: user("bob", call: 1))).outcome.code == .notOnSeat)
        #expect(barrage.send(.speaking(level: 101, caller: user("bob", call: 1))).outcome.code == .badParameter)
        // erin sits on a seat of the connected live `other`.
        _ = barrage.send(Self.stage([("bob", live), ("carl", live), ("erin", "other")]))
        let first = barrage.send(.speaking(level: 50, caller: user("bob", call: 2)))
        #expect(first.contents == [.speaking(users: [Speaker(user: "bob", level: 50)])])
        #expect(first.outcome == .success(result: .done))
        #expect(barrage.send(.speaking(level: 80, caller: user("carl", call: 1))).contents == [])
        #expect(barrage.send(.speaking(level: 60, caller: user("bob", call: 3))).contents == [])
        // Levels are published at most every 500 ms.
        let loudestFirst = [Speaker(user: "carl", level: 80), Speaker(user: "bob", level: 60)]
        #expect(barrage.advance(milliseconds: 500).contents == [.speaking(users: loudestFirst)])
        #expect(
            barrage.send(.speaking(level: 50, caller: user("erin", call: 1))).outcome.code == .notOnSeat,
            "expected a rejection, because a user sends its level to its own live")
        for level in [-1, 101] {
            #expect(barrage.send(.speaking(level: level, caller: user("bob", call: 4))).outcome.code == .badParameter)
        }
        #expect(barrage.send(.speaking(level: 5, caller: user("bob", call: 5, ticket: nil))).outcome.code == .notInRoom)
        barrage.expectInvariants()
    }

    @Test func `a user who falls silent, leaves its seat or sends no new level is removed from the speakers`() {
        var barrage = BarrageHarness()
        _ = barrage.send(Self.stage([("bob", live), ("carl", live), ("dave", live)]))
        for id in ["bob", "carl", "dave"] as [UserID] {
            _ = barrage.send(.speaking(level: 9, caller: user(id, call: 1)))
        }
        // Levels are published at most every 500 ms. bob's level was published at once. The levels of carl and dave are
        // published in these 600 ms, and the next levels 500 ms after them.
        _ = barrage.advance(milliseconds: 600)
        _ = barrage.send(.speaking(level: 0, caller: user("bob", call: 2)))
        _ = barrage.send(Self.stage([("bob", live), ("dave", live)]))
        #expect(barrage.advance(milliseconds: 500).contents == [.speaking(users: [Speaker(user: "dave", level: 9)])])
        // dave's level expires three seconds after he sent it: 600 + 500 + 1,899 + 1 = 3,000 ms.
        #expect(barrage.advance(milliseconds: 1_899).contents == [])
        #expect(barrage.advance(milliseconds: 1).contents == [.speaking(users: [])])
        barrage.expectInvariants()
    }

    @Test func `a repeated level is not published again, but stays valid`() {
        var barrage = BarrageHarness()
        _ = barrage.send(Self.stage([("bob", live)]))
        // A level is valid for three seconds; bob repeats it every two seconds. Only the first is published.
        for step in 1...10 {
            let effects = barrage.send(.speaking(level: 9, caller: user("bob", call: Int64(step))))
            #expect(effects.contents.count == (step == 1 ? 1 : 0))
            #expect(barrage.advance(milliseconds: 2_000).contents == [])
        }
        #expect(barrage.feed?.ledger.dropped == [Ledger.Dropped(feedClass: .counter, reason: .merged, count: 9)])
        barrage.expectInvariants()
    }

    /// Rules: R11.9, R3.31.
    @Test func `a changed summary is published at most every five seconds`() {
        var barrage = BarrageHarness()
        #expect(barrage.advance(milliseconds: 60_000) == [])
        #expect(barrage.sendText(user("bob", call: 1)).wasSent)
        #expect(barrage.sendText(user("bob", call: 2)).wasSent)
        _ = barrage.send(.publish(content: .audienceJoined(user: UserInfo(userID: "carl"))))
        // A user who joins again within the same visit is not a new viewer.
        _ = barrage.send(.publish(content: .audienceJoined(user: UserInfo(userID: "dora"), continuesVisit: true)))
        // The first summary comes one second after the first change.
        #expect(barrage.advance(milliseconds: 999).contents == [])
        // The live has been open for 60 + 1 s; its duration is in milliseconds.
        let first = LiveStatistics(totalViewers: 1, totalMessageCount: 2, liveDuration: 61_000)
        #expect(barrage.advance(milliseconds: 1).contents == [.summary(statistics: first)])
        #expect(self.sendLikes(&barrage, 5, user("bob", call: 3)).contents.count == 1)
        #expect(barrage.advance(milliseconds: 4_999).contents == [])
        var second = first
        second.totalLikesReceived = 5
        second.liveDuration = 66_000
        #expect(barrage.advance(milliseconds: 1).contents == [.summary(statistics: second)])
        #expect(barrage.advance(milliseconds: 60_000) == [])
        // The feed has nothing to publish any more, so it is not due. bob's idempotency window is due to expire.
        let windowKey = BarrageKey.calls(key, "s-bob")
        #expect(barrage.rows.sortedKeys == [.feed(key), windowKey])
        #expect(barrage.rows[.feed(key)]?.due == nil)
        #expect(barrage.rows[windowKey]?.due != nil)
        barrage.expectInvariants()
    }

    /// Rules: R1.19.
    @Test func `every user can request the summary, also outside the live and after its end`() {
        var barrage = BarrageHarness()
        _ = barrage.sendText(user("bob", call: 1))
        _ = barrage.advance(milliseconds: 2_500)
        let outsider = user("eve", call: 1, ticket: nil)
        let summary = barrage.send(.summary(caller: outsider)).outcome
        #expect(summary.statistics == LiveStatistics(totalMessageCount: 1, liveDuration: 2_500))
        #expect(summary.summaryTime == barrage.now)
        #expect(barrage.send(.summary(caller: server(call: 1)), to: LiveKey(app, "none")).outcome.code == .noSuchRoom)
        // The ending says that the live lasted 600 s.
        _ = barrage.send(.ended(ending: ending()))
        #expect(barrage.send(.summary(caller: server(call: 2))).outcome.statistics?.liveDuration == 600_000)
    }

    /// Rules: R3.58.
    @Test func `an ended live rejects messages, and still answers with its final statistics`() {
        var barrage = BarrageHarness()
        _ = barrage.sendText(user("bob", call: 1))
        _ = barrage.send(.ended(ending: ending()))
        #expect(barrage.sendText(user("bob", call: 2)).code == .noSuchRoom)
        for counter in [Int64(1), 2] {
            let statistics = barrage.send(.summary(caller: server(call: counter))).outcome.statistics
            #expect(statistics?.totalMessageCount == 1)
            #expect(statistics?.liveDuration == 600_000, "expected the duration in the ending, which does not grow")
            _ = barrage.advance(milliseconds: 60_000)
        }
    }

    /// Rules: R3.57.
    @Test func `I1 the final statistics include counters that were pending at the end`() {
        var barrage = BarrageHarness()
        _ = barrage.send(Self.stage([("bob", live)]))
        // The first likes and the first level are published at once, the second ones are pending.
        _ = self.sendLikes(&barrage, 1, user("bob", call: 1))
        _ = self.sendLikes(&barrage, 2, user("bob", call: 2))
        _ = barrage.send(.speaking(level: 5, caller: user("bob", call: 3)))
        _ = barrage.send(.speaking(level: 6, caller: user("bob", call: 4)))
        var finalEnding = ending(of: epoch, for: user("alice", call: 9))
        finalEnding.totalViewers = 77
        let statistics = LiveStatistics(totalViewers: 77, totalLikesReceived: 3, liveDuration: 600_000)
        let effects = barrage.send(.ended(ending: finalEnding))
        #expect(effects.contents == [.liveEnded(reason: .endedByHost, statistics: statistics)])
        #expect(effects.outcome.statistics == statistics)
        // Nothing is published after the end.
        #expect(barrage.advance(milliseconds: 10_000) == [])
        #expect(self.sendLikes(&barrage, 1, user("bob", call: 5)).outcome.code == .noSuchRoom)
        #expect(barrage.send(.speaking(level: 6, caller: user("bob", call: 6))).outcome.code == .noSuchRoom)
        barrage.expectInvariants()
    }

    @Test func `a repeated end call is answered with the statistics, at once or when the end itself arrives`() {
        var barrage = BarrageHarness(hasWebhooks: true)
        // alice's repeated call 8 arrives before the end, which her call 7 has caused, and her call 9 after it.
        #expect(barrage.send(.repeatEnding(caller: user("alice", call: 8))) == [])
        let statistics = LiveStatistics(liveDuration: 600_000)
        func reply(to caller: Caller) -> Effect {
            .success(.statistics(statistics: statistics), to: caller, app: app)
        }
        var end = ending(of: epoch, for: user("alice", call: 7))
        end.info = LiveInfo(liveID: key.live, liveOwner: UserInfo(userID: "alice"), createTime: end.createdAt)
        let effects = barrage.send(.ended(ending: end))
        let webhook = WebhookContent.roomEnded(info: end.info, reason: .endedByHost, statistics: statistics)
        // The first two effects are the feed's last item and `closed` for the directory.
        #expect(
            effects.dropFirst(2) == [
                reply(to: user("alice", call: 7)), reply(to: user("alice", call: 8)),
                .webhook(WebhookEvent(key, at: barrage.now, webhook)),
            ])
        #expect(barrage.send(.repeatEnding(caller: user("alice", call: 9))) == [reply(to: user("alice", call: 9))])
    }
}
