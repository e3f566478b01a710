// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import BarrageCore

/// The budget of a feed: how many items enter in any second (I9 in docs/RULES.md).
///
/// The default budget is 40 items: messages may use 36 of them (nine tenths), tips 24 (six tenths).
@Suite struct BudgetTests {
    /// Rules: R12.3.
    @Test func `I9 a single sender may use nine tenths of the budget, tips six tenths, and control always enters`() {
        var barrage = BarrageHarness()
        for counter in 1...24 { #expect(barrage.sendText(user("bob", call: Int64(counter))).wasSent) }
        #expect(barrage.publishTip() == false)
        // A control item now announces that tips are dropped. It uses one of the 36 items, so 36 - 24 - 1 = 11 messages
        // are left.
        for counter in 25...35 { #expect(barrage.sendText(user("bob", call: Int64(counter))).wasSent) }
        _ = barrage.advance(milliseconds: 400)
        let dropped = barrage.sendText(user("carl", call: 1))
        #expect(dropped.code == .droppedByBudget)
        #expect(dropped.retryAfter == 600, "expected 1000 - 400 ms, because bob's messages are 400 ms old")
        for _ in 0..<10 { #expect(barrage.publishControl() == true) }
        #expect(barrage.feed?.lastNumber == 46, "expected 35 messages, the announcement and 10 control items")
        // Now bob's messages are a second old, but the ten control items still count: of the 36 items that messages may
        // use, 36 - 10 = 26 are free.
        _ = barrage.advance(milliseconds: 600)
        for counter in 2...27 { #expect(barrage.sendText(user("carl", call: Int64(counter))).wasSent) }
        #expect(barrage.sendText(user("carl", call: 28)).code == .droppedByBudget)
        barrage.expectInvariants()
    }

    @Test func `I9 the retry hint of a dropped message is the time until the budget allows one`() {
        var barrage = BarrageHarness()
        for counter in 1...36 {
            #expect(barrage.sendText(user("bob", call: Int64(counter))).wasSent)
            _ = barrage.advance(milliseconds: 10)
        }
        let retryAfter = barrage.sendText(user("bob", call: 100)).retryAfter ?? 0
        #expect(retryAfter == 640, "expected 1000 - 36 * 10 ms, because bob's first message is 360 ms old")
        _ = barrage.advance(milliseconds: retryAfter - 1)
        #expect(barrage.sendText(user("bob", call: 101)).code == .droppedByBudget)
        _ = barrage.advance(milliseconds: 1)
        #expect(barrage.sendText(user("bob", call: 102)).wasSent)
    }

    /// Rules: R12.2.
    @Test func `I9 a flooding sender keeps only its even share, and other senders lose nothing`() {
        var barrage = BarrageHarness()
        var counters: [UserID: Int64] = [:]
        var sent: [UserID: Int] = [:]
        // bob sends each millisecond, carl ten times a second, for ten seconds.
        let intervals: [(id: UserID, milliseconds: Int)] = [("bob", 1), ("carl", 100)]
        for millisecond in 0..<10_000 {
            for (id, interval) in intervals where millisecond % interval == 0 {
                counters[id, default: 0] += 1
                if barrage.sendText(user(id, call: counters[id, default: 0])).wasSent { sent[id, default: 0] += 1 }
            }
            _ = barrage.advance(milliseconds: 1)
        }
        // carl sends less than his share, so all his 100 messages enter. bob gets his share, half of 36 messages a
        // second, for ten seconds: about 180.
        #expect(sent["carl"] == 100)
        #expect((170...200).contains(sent["bob", default: 0]))
        barrage.expectInvariants()
    }

    @Test func `I9 the retry hint of a sender above its share is the time until the sender is below the share`() {
        var barrage = BarrageHarness()
        for counter in 1...30 { #expect(barrage.sendText(user("bob", call: Int64(counter))).wasSent) }
        _ = barrage.advance(milliseconds: 200)
        #expect(barrage.sendText(user("carl", call: 1)).wasSent)
        // Two senders share 36 messages, so each may send 18; bob has sent 30.
        let dropped = barrage.sendText(user("bob", call: 31))
        #expect(dropped.code == .droppedByBudget)
        #expect(dropped.retryAfter == 800, "expected 1000 - 200 ms, because bob's messages are 200 ms old")
        #expect(barrage.feed?.ledger.dropped.map(\.reason) == [.share], "expected that bob's share is the reason")
        #expect(barrage.sendText(user("carl", call: 2)).wasSent)
    }

    @Test(arguments: [1, 2, 3, 7, 10, 20, 25, 30, 40, 53, 54, 60, 100, 1000], [25, 20, 19])
    func `I9 senders at the same even rate lose no message that the budget allows`(
        senderCount: Int, pauseMilliseconds: Int64
    ) {
        // A pause of 25, 20 or 19 ms makes 40, 50 or 52.6 messages a second. Of the budget of 60, messages may use 54.
        var barrage = BarrageHarness(budget: 60)
        // The users send in turn.
        for index in 0..<600 {
            let caller = user(UserID("u\(index % senderCount)"), call: Int64(index))
            #expect(barrage.sendText(caller).wasSent)
            _ = barrage.advance(milliseconds: pauseMilliseconds)
        }
        #expect(barrage.feed?.lastNumber == 600)
        barrage.expectInvariants()
    }

    @Test func `I9 senders at the same even rate lose no message if messages reach the machine up to 150 ms late`() {
        var random = SeededRandom(seed: 9)
        var barrage = BarrageHarness(budget: 60)
        var sendTime: Int64 = 0
        var now: Int64 = 0
        for index in 0..<2000 {
            // One message every 25 ms, 40 a second; messages may use 54 of the budget of 60.
            sendTime += 25
            // Messages arrive late, but never out of order.
            let arrivalTime = max(now, sendTime + Int64.random(in: 0...150, using: &random))
            _ = barrage.advance(milliseconds: arrivalTime - now)
            now = arrivalTime
            #expect(barrage.sendText(user(UserID("u\(index % 10)"), call: Int64(index))).wasSent)
        }
    }

    /// The admission window stores the items of the last second, and tallies of their senders.
    @Test func `I16 the admission window never exceeds the budget, however many control items and senders there are`() {
        var barrage = BarrageHarness(budget: 10)
        for _ in 0..<1000 { #expect(barrage.publishControl() == true) }
        for sender in 0..<1000 { #expect(!barrage.sendText(user(UserID("u\(sender)"), call: 1)).wasSent) }
        #expect(barrage.feed?.admissions.count == 10)
        // Messages may use nine of the ten items, so the window has tallies of at most nine senders.
        #expect((barrage.feed?.admissions.tallies.count ?? 0) <= 9)
        barrage.expectInvariants()
        // After 990 ms the budget is still used up, and nine new senders are rejected. 10 ms later the budget is free:
        // nine other senders are admitted, whose tallies replace those of the rejected senders.
        _ = barrage.advance(milliseconds: 990)
        for sender in 0..<9 { #expect(!barrage.sendText(user(UserID("early-\(sender)"), call: 1)).wasSent) }
        _ = barrage.advance(milliseconds: 10)
        for sender in 0..<9 { #expect(barrage.sendText(user(UserID("later-\(sender)"), call: 1)).wasSent) }
        barrage.expectInvariants()
    }
}
