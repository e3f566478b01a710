// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import ProtocolClient
import Testing

/// How the tracker counts the items of a feed that a client receives, and finds repeated, late and missing items.
///
/// `record` returns whether all items of a frame are new (`fresh`), all are old (`known`), or only the first ones are
/// old (`partlyKnown`, with their number). A late item counts as `reordered`.
@Suite struct FeedOrderTrackerTests {
    /// Lets the tracker record a frame whose items have these numbers.
    private func record(
        _ tracker: inout FeedOrderTracker, _ numbers: ClosedRange<Int64>, epoch: Int64 = 77
    ) throws -> FeedOrderTracker.Verdict {
        let scan = try #require(FeedSamples.scan(FeedSamples.frame(numbers, epoch: epoch)))
        return tracker.record(scan)
    }

    @Test func `the first frame gives a new tracker its position, and nothing counts as missing`() throws {
        var tracker = FeedOrderTracker()
        #expect(try self.record(&tracker, 40...42) == .fresh)
        #expect(tracker.firstNumber == 40 && tracker.received == 3 && tracker.missing == 0)
        #expect(tracker.position == FeedPosition(epoch: 77, number: 42))
    }

    @Test func `item numbers at the limits of Int64 cause no overflow`() throws {
        for number in [Int64.max, .min, -1] {
            var tracker = FeedOrderTracker()
            tracker.resume(at: FeedPosition(epoch: 77, number: number))
            // At the largest number, the items 1 to 3 are old; at a negative number, these items are new.
            let expectedVerdict: FeedOrderTracker.Verdict = number > 0 ? .known : .fresh
            #expect(try self.record(&tracker, 1...3) == expectedVerdict)
            // Resumes that skip as many items as possible.
            tracker.resume(at: FeedPosition(epoch: 77, number: .max))
            tracker.resume(at: FeedPosition(epoch: 78, number: 0))
            tracker.resume(at: FeedPosition(epoch: 78, number: .max))
            // An overflow would trap, or make the count negative.
            #expect(tracker.missing >= 0)
        }
    }

    @Test func `I7 items of a gap count as missing until they are received late`() throws {
        var tracker = FeedOrderTracker()
        #expect(try self.record(&tracker, 1...3) == .fresh)
        #expect(try self.record(&tracker, 7...8) == .fresh)
        // The items 4, 5 and 6 are missing.
        #expect(tracker.missing == 3 && tracker.received == 5)
        #expect(try self.record(&tracker, 5...5) == .known)
        #expect(tracker.missing == 2 && tracker.reordered == 1)
        // Now the items 4 and 6 are received late, and 5 is repeated.
        #expect(try self.record(&tracker, 4...6) == .known)
        #expect(tracker.missing == 0 && tracker.reordered == 3 && tracker.repeated == 1)
    }

    @Test func `I7 repeated items are counted and distinguished from new ones`() throws {
        var tracker = FeedOrderTracker()
        #expect(try self.record(&tracker, 1...3) == .fresh)
        #expect(try self.record(&tracker, 2...3) == .known)
        #expect(try self.record(&tracker, 2...6) == .partlyKnown(2))
        // The items 1 to 6 were received, and then 2 and 3 twice more.
        #expect(tracker.received == 6 && tracker.repeated == 4 && tracker.missing == 0)
        #expect(tracker.position?.number == 6)
    }

    @Test func `a frame of a new epoch sets a new position, and items of an old epoch count as repeated`() throws {
        var tracker = FeedOrderTracker()
        #expect(try self.record(&tracker, 1...3, epoch: 77) == .fresh)
        #expect(try self.record(&tracker, 1...2, epoch: 90) == .fresh)
        #expect(tracker.position == FeedPosition(epoch: 90, number: 2) && tracker.missing == 0)
        #expect(try self.record(&tracker, 4...5, epoch: 77) == .known)
        #expect(tracker.repeated == 2 && tracker.received == 5)
    }

    @Test func `a frame without items sets the position of the feed`() throws {
        var tracker = FeedOrderTracker()
        let emptyFrame = try #require(FeedSamples.scan(FeedSamples.empty(at: 30)))
        #expect(tracker.record(emptyFrame) == .known)
        #expect(tracker.position == FeedPosition(epoch: 77, number: 30))
        #expect(tracker.firstNumber == 31 && tracker.received == 0)
        #expect(try self.record(&tracker, 31...31) == .fresh)
        // The same frame again is before the position, so it changes nothing.
        #expect(tracker.record(emptyFrame) == .known)
        #expect(tracker.position?.number == 31 && tracker.repeated == 0 && tracker.missing == 0)
        let frameAhead = try #require(FeedSamples.scan(FeedSamples.empty(at: 35)))
        #expect(tracker.record(frameAhead) == .known)
        // The items 32 to 35 are missing.
        #expect(tracker.missing == 4 && tracker.position?.number == 35)
        let frameOfOldEpoch = try #require(FeedSamples.scan(FeedSamples.empty(at: 99, epoch: 1)))
        #expect(tracker.record(frameOfOldEpoch) == .known)
        #expect(tracker.position?.number == 35)
    }

    @Test func `history of an earlier live with the same id is ignored`() throws {
        // The earlier live has the lower epoch, 77.
        var tracker = FeedOrderTracker()
        #expect(try self.record(&tracker, 1...3, epoch: 90) == .fresh)
        let scan = try #require(FeedSamples.scan(FeedSamples.history([1], at: "77.5", epoch: 77)))
        #expect(tracker.record(scan) == .known)
        #expect(tracker.position == FeedPosition(epoch: 90, number: 3) && tracker.repeated == 0)
    }

    @Test func `I7 a resume counts the skipped items as missing, and never moves the position back`() throws {
        var tracker = FeedOrderTracker()
        #expect(try self.record(&tracker, 1...3) == .fresh)
        tracker.resume(at: FeedPosition(epoch: 77, number: 10))
        // The items 4 to 10 are missing.
        #expect(tracker.missing == 7 && tracker.position?.number == 10)
        // The next gateway lags behind the previous one: its position is lower.
        tracker.resume(at: FeedPosition(epoch: 77, number: 6))
        #expect(tracker.missing == 7 && tracker.position?.number == 10)
        tracker.resume(at: FeedPosition(epoch: 90, number: 4))
        #expect(tracker.position == FeedPosition(epoch: 90, number: 4) && tracker.firstNumber == 5)
    }

    /// A simple second implementation of the tracker, which stores every number.
    private struct Oracle {
        var receivedNumbers: Set<Int64> = []
        /// The highest received number.
        var lastNumber: Int64 = 0
        var repeated = 0
        /// How many items were received for the first time after an item with a higher number.
        var reordered = 0
        var inOrder = 0

        /// Records a frame whose items have these numbers.
        mutating func record(_ numbers: ClosedRange<Int64>) {
            for number in numbers {
                if self.receivedNumbers.isEmpty || number > self.lastNumber {
                    self.inOrder += 1
                } else if self.receivedNumbers.contains(number) {
                    self.repeated += 1
                    continue
                } else {
                    self.reordered += 1
                }
                self.receivedNumbers.insert(number)
                self.lastNumber = max(self.lastNumber, number)
            }
        }

        /// How many numbers between the lowest and the highest received number were not received.
        var missing: Int {
            guard let lowest = self.receivedNumbers.min() else { return 0 }
            return Int(self.lastNumber - lowest) + 1 - self.receivedNumbers.count
        }
    }

    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func `I7 gaps, repeats and reordered items are counted as an oracle that stores every number counts them`(
        seed: UInt64
    ) throws {
        var random = SeededRandom(seed: seed)
        var tracker = FeedOrderTracker()
        var oracle = Oracle()
        // The number after the highest one so far.
        var next: Int64 = 100
        for _ in 0..<80 {
            let count = Int64.random(in: 1...5, using: &random)
            // Of ten frames about one has a gap before it, two have repeated or late items, and seven follow directly.
            var first = next
            switch Int.random(in: 0..<10, using: &random) {
            case 0: first = next + Int64.random(in: 1...4, using: &random)
            case 1, 2: first = max(100, next - Int64.random(in: 1...12, using: &random))
            default: break
            }
            // The first frame begins at 100, whatever was drawn.
            if oracle.receivedNumbers.isEmpty { first = 100 }
            let numbers = first...first + count - 1
            let previousLast = oracle.lastNumber
            let verdict = try self.record(&tracker, numbers)
            let knownCount = numbers.count { $0 <= previousLast }
            oracle.record(numbers)
            next = max(next, numbers.upperBound + 1)
            let expectedVerdict: FeedOrderTracker.Verdict
            switch knownCount {
            case 0: expectedVerdict = .fresh
            case numbers.count: expectedVerdict = .known
            default: expectedVerdict = .partlyKnown(knownCount)
            }
            #expect(verdict == expectedVerdict)
            #expect(tracker.missing == oracle.missing)
            #expect(tracker.repeated == oracle.repeated)
            #expect(tracker.reordered == oracle.reordered)
            #expect(tracker.received == oracle.inOrder)
            #expect(tracker.position?.number == oracle.lastNumber)
        }
        // 80 frames have 240 items on average: enough that the walk has repeats and more than 100 items in order.
        #expect(oracle.repeated > 0 && oracle.inOrder > 100)
    }
}
