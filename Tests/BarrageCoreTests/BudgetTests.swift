// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import Testing

@testable import BarrageCore

@Suite struct BudgetTests {
    @Test func `I9 one sender alone may fill nine tenths of a second, tips six tenths, control always passes`() {
        var barrage = BarrageHarness()
        for counter in 1...24 { #expect(barrage.text(user("bob", Int64(counter))).wasSent) }
        #expect(barrage.tip() == false)
        // That tips are incomplete from here on is told, and takes a place.
        for counter in 25...35 { #expect(barrage.text(user("bob", Int64(counter))).wasSent) }
        _ = barrage.pass(400)
        let dropped = barrage.text(user("carl", 1))
        #expect(dropped.code == .droppedByBudget)
        #expect(dropped.retryAfter == 600)
        for _ in 0..<10 { #expect(barrage.control() == true) }
        #expect(barrage.feed?.lastNumber == 46)
        // Control is repaid: its ten still count when the barrage is a second old.
        _ = barrage.pass(600)
        for counter in 1...26 { #expect(barrage.text(user("carl", Int64(10 + counter))).wasSent) }
        #expect(barrage.text(user("carl", 50)).code == .droppedByBudget)
        barrage.expectSound()
    }

    @Test func `I9 a drop's hint says when a place is free`() {
        var barrage = BarrageHarness()
        for counter in 1...36 {
            #expect(barrage.text(user("bob", Int64(counter))).wasSent)
            _ = barrage.pass(10)
        }
        let hint = barrage.text(user("bob", 100)).retryAfter ?? 0
        #expect(hint == 640)
        _ = barrage.pass(hint - 1)
        #expect(barrage.text(user("bob", 101)).code == .droppedByBudget)
        _ = barrage.pass(1)
        #expect(barrage.text(user("bob", 102)).wasSent)
    }

    @Test func `I9 a flooder gives way to whoever else sends, and keeps its even share`() {
        var barrage = BarrageHarness()
        var counters: [UserID: Int64] = [:]
        var sent: [UserID: Int] = [:]
        // bob sends each millisecond, carl ten times a second, for ten seconds.
        for tick in 0..<10_000 {
            for (id, every) in [(UserID("bob"), 1), (UserID("carl"), 100)] where tick % every == 0 {
                counters[id, default: 0] += 1
                if barrage.text(user(id, counters[id, default: 0])).wasSent { sent[id, default: 0] += 1 }
            }
            _ = barrage.pass(1)
        }
        #expect(sent["carl"] == 100)
        #expect((170...200).contains(sent["bob", default: 0]))
        barrage.expectSound()
    }

    @Test func `I9 senders above their share learn when they fall below it`() {
        var barrage = BarrageHarness()
        for counter in 1...30 { #expect(barrage.text(user("bob", Int64(counter))).wasSent) }
        _ = barrage.pass(200)
        #expect(barrage.text(user("carl", 1)).wasSent)
        // Two senders share 36; bob has 30.
        let dropped = barrage.text(user("bob", 31))
        #expect(dropped.code == .droppedByBudget)
        #expect(dropped.retryAfter == 800)
        #expect(barrage.feed?.ledger.dropped.map(\.reason) == [.share])
        #expect(barrage.text(user("carl", 2)).wasSent)
    }

    @Test(arguments: [1, 2, 3, 7, 10, 20, 25, 30, 40, 53, 54, 60, 100, 1000], [25, 20, 19])
    func `I9 senders at one even rate lose nothing that the budget has room for`(senders: Int, gap: Int64) {
        // 40, 50 and 52.6 messages a second under a budget of 60: nine tenths are 54.
        var barrage = BarrageHarness(budget: 60)
        for count in 0..<600 {
            let caller = user(UserID("u\(count % senders)"), Int64(count))
            #expect(barrage.text(caller).wasSent)
            _ = barrage.pass(gap)
        }
        #expect(barrage.feed?.lastNumber == 600)
        barrage.expectSound()
    }

    @Test func `I9 senders at one even rate lose nothing to the jitter of batches`() {
        var random = SeededRandom(seed: 9)
        var barrage = BarrageHarness(budget: 60)
        var due: Int64 = 0
        var at: Int64 = 0
        for count in 0..<2000 {
            due += 25
            // The machine sees a message up to 150 ms late, and never before the one before it.
            let arrival = max(at, due + Int64.random(in: 0...150, using: &random))
            _ = barrage.pass(arrival - at)
            at = arrival
            #expect(barrage.text(user(UserID("u\(count % 10)"), Int64(count))).wasSent)
        }
    }

    @Test func `I16 a window holds no more than the budget, however much control passes and however many send`() {
        var barrage = BarrageHarness(budget: 10)
        for _ in 0..<1000 { #expect(barrage.control() == true) }
        for sender in 0..<1000 { #expect(!barrage.text(user(UserID("u\(sender)"), 1)).wasSent) }
        #expect(barrage.feed?.admissions.count == 10)
        #expect((barrage.feed?.admissions.tallies.count ?? 0) <= 9)
        barrage.expectSound()
        // Senders that were dropped give way to those that are let in.
        _ = barrage.pass(990)
        for sender in 0..<9 { #expect(!barrage.text(user(UserID("w\(sender)"), 1)).wasSent) }
        _ = barrage.pass(10)
        for sender in 0..<9 { #expect(barrage.text(user(UserID("x\(sender)"), 1)).wasSent) }
        barrage.expectSound()
    }
}
