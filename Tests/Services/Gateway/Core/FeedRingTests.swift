// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import GatewayCore

/// The recent items of one live (`FeedRing`) and of all lives of a partition (`PartitionFeedCache`).
///
/// A full ring removes its oldest items, and adds their number to `dropped`. An answer to a resume is complete if the
/// ring has all items after the client's position. `append` returns whether the item is `fresh` (new), `repeated`, or
/// `stale` (of an earlier live with the same id).
@Suite struct FeedRingTests {
    /// The numbers of the items in a complete answer; nil if the answer is incomplete.
    private func numbers(_ answer: FeedRing.Answer) -> [Int64]? {
        if case .complete(let items) = answer { return items.map(\.number) }
        return nil
    }

    private func position(_ number: Int64, epoch: Int64 = 10) -> FeedPosition {
        FeedPosition(epoch: epoch, number: number)
    }

    @Test func `I7 a resume gets exactly the missed items in order, or none if some are missing`() {
        var ring = FeedRing(epoch: 10)
        var dropped = 0
        for number in Int64(5)...9 {
            #expect(ring.append(Sample.item(number), epoch: 10, dropped: &dropped) == .fresh)
        }
        // A client whose last item is one of 4 to 9 gets all later items.
        for number in Int64(4)...9 {
            #expect(self.numbers(ring.items(after: self.position(number))) == Array((number + 1)..<10))
        }
        #expect(
            self.numbers(ring.items(after: self.position(12))) == [],
            "a client that got item 12 from another gateway misses nothing here")
        #expect(self.numbers(ring.items(after: self.position(3))) == nil, "the ring lacks item 4")
        #expect(self.numbers(ring.items(after: self.position(0))) == nil, "the ring lacks items 1 to 4")
        #expect(self.numbers(ring.items(after: self.position(-1))) == nil, "the position is invalid")
        #expect(self.numbers(ring.items(after: self.position(7, epoch: 9))) == nil, "epoch 9 is an earlier live")
        #expect(self.numbers(ring.items(after: self.position(7, epoch: 11))) == nil, "epoch 11 is a later live")
        #expect(dropped == 0)
    }

    @Test func `a ring with the feed's first item serves a client that has no item yet`() {
        var ring = FeedRing(epoch: 10)
        var dropped = 0
        _ = ring.append(Sample.item(1), epoch: 10, dropped: &dropped)
        #expect(self.numbers(ring.items(after: self.position(0))) == [1])
        #expect(
            self.numbers(FeedRing(epoch: 10).items(after: self.position(0))) == nil,
            "an empty ring does not know where the feed begins")
    }

    @Test func `a repeated item is recognized by its number, an item of an earlier or later live by its epoch`() {
        var ring = FeedRing(epoch: 10)
        var dropped = 0
        for number in Int64(1)...5 { _ = ring.append(Sample.item(number), epoch: 10, dropped: &dropped) }
        for number in Int64(1)...5 {
            #expect(ring.append(Sample.item(number), epoch: 10, dropped: &dropped) == .repeated)
        }
        #expect(ring.append(Sample.item(6), epoch: 9, dropped: &dropped) == .stale)
        #expect(ring.append(Sample.item(1), epoch: 11, dropped: &dropped) == .fresh)
        #expect(dropped == 5, "the first item of the later live removes the five items of epoch 10")
        #expect(self.numbers(ring.items(after: self.position(0, epoch: 11))) == [1])
    }

    @Test func `a resume before a gap in the item numbers gets no items, one after the gap gets its items`() {
        var ring = FeedRing(epoch: 10)
        var dropped = 0
        for number in [Int64(1), 2, 5, 6] { _ = ring.append(Sample.item(number), epoch: 10, dropped: &dropped) }
        #expect(self.numbers(ring.items(after: self.position(2))) == nil)
        #expect(self.numbers(ring.items(after: self.position(4))) == [5, 6])
    }

    @Test func `I16 the number and size of a ring's items are limited`() {
        var ring = FeedRing(epoch: 10)
        var dropped = 0
        for number in 1...Int64(FeedRing.itemLimit + 10) {
            _ = ring.append(Sample.item(number), epoch: 10, dropped: &dropped)
        }
        #expect(ring.count == FeedRing.itemLimit)
        #expect(dropped == 10)

        var ringOfLargeItems = FeedRing(epoch: 10)
        for number in 1...Int64(20) {
            _ = ringOfLargeItems.append(Sample.item(number, size: 1 << 20), epoch: 10, dropped: &dropped)
            #expect(ringOfLargeItems.byteCount <= FeedRing.byteLimit)
        }
        #expect(
            ringOfLargeItems.append(Sample.item(21, size: FeedRing.byteLimit + 1), epoch: 10, dropped: &dropped)
                == .fresh)
        #expect(ringOfLargeItems.count == 0, "an item that is larger than the ring is not stored")
        #expect(self.numbers(ringOfLargeItems.items(after: self.position(20))) == nil, "the ring lacks item 21")
        #expect(self.numbers(ringOfLargeItems.items(after: self.position(21))) == [], "no item comes after item 21")
    }

    @Test func `a partition's cache keeps the last 60 s of each live`() {
        var recent = PartitionFeedCache()
        // Each second brings an item of arena, and every other second also one of bistro.
        for number in 1...Int64(100) {
            let at = number * 1000
            #expect(recent.append(Sample.item(number, at: at), of: Sample.key("arena"), epoch: 10) == .fresh)
            if number % 2 == 0 {
                _ = recent.append(Sample.item(number / 2, at: at), of: Sample.key("bistro"), epoch: 10)
            }
            recent.prune(at: MonotonicTime(milliseconds: at))
        }
        // At second 100 the items since second 40 are kept: items 40 to 100 of arena, and items 20 to 50 of bistro.
        #expect(self.numbers(recent.items(of: Sample.key("arena"), after: self.position(39)))?.count == 61)
        #expect(
            self.numbers(recent.items(of: Sample.key("arena"), after: self.position(38))) == nil, "item 39 has expired")
        #expect(self.numbers(recent.items(of: Sample.key("bistro"), after: self.position(30)))?.count == 20)
        #expect(recent.items(of: Sample.key("cafe"), after: self.position(0)) == .incomplete)
        #expect(recent.latestToken(Sample.key("arena"))?.position == self.position(100))

        // At second 1000 all items have expired.
        recent.prune(at: 1_000_000)
        #expect(recent.itemCount == 0 && recent.byteCount == 0)
        #expect(
            recent.latestToken(Sample.key("arena"))?.position == self.position(100),
            "the latest position is still known"
        )
        recent.forget(Sample.key("arena"))
        #expect(recent.latestToken(Sample.key("arena")) == nil)
    }

    @Test func `I16 a partition's cache is limited, and its byte and item counts return to 0 when all items expire`() {
        var random = SeededRandom(seed: 3)
        var recent = PartitionFeedCache(byteLimit: 20_000)
        var nextPositions: [Int: (epoch: Int64, number: Int64)] = [:]
        // Each step brings one item of one of eight lives. Steps are 50 ms apart, so the cache's 60 s are 1200 steps.
        for step in 0..<20_000 {
            let live = Int.random(in: 0..<8, using: &random)
            var position = nextPositions[live] ?? (10, 1)
            switch Int.random(in: 0..<100, using: &random) {
            // In one of a hundred steps each: a later live with the same id, a gap in the numbers, a repeated number.
            case 0: position = (position.epoch + 1, 1)
            case 1: position.number += 3
            case 2: position.number = max(1, position.number - 2)
            default: break
            }
            let size = Int.random(in: 0...400, using: &random)
            let item = Sample.item(position.number, at: Int64(step * 50), size: size)
            _ = recent.append(item, of: Sample.key("live\(live)"), epoch: position.epoch)
            nextPositions[live] = (position.epoch, position.number + 1)
            if step % 64 == 0 { recent.prune(at: MonotonicTime(milliseconds: Int64(step * 50))) }
            #expect(recent.byteCount <= 20_000 && recent.byteCount >= 0)
            // A resume after the item five numbers before the latest one gets just the last five items, if the cache
            // can serve it.
            if let latest = recent.latestToken(Sample.key("live\(live)"))?.position, latest.number > 5 {
                let fiveEarlier = FeedPosition(epoch: latest.epoch, number: latest.number - 5)
                if let numbers = self.numbers(recent.items(of: Sample.key("live\(live)"), after: fiveEarlier)) {
                    #expect(numbers == Array(latest.number - 4...latest.number))
                }
            }
        }
        recent.prune(at: .distantFuture)
        #expect(recent.byteCount == 0 && recent.itemCount == 0)
    }
}
