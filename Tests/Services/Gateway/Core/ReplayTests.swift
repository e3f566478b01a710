// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import GatewayCore

/// Scans of a feed partition: which items and messages each replay request gets.
///
/// A replay request asks for items that are not cached: those that a resuming client has missed, or the last messages,
/// for a new viewer. One scan reads a range of the partition and may answer several requests.
@Suite struct ReplayTests {
    @Test func `I7 a client gets exactly the missed items that are not cached`() {
        // Between the records of arena there are records of another live, bistro, and of an earlier arena, epoch 9.
        // Every third item is a tip. An offset without a record follows each odd item.
        var log = PartitionLog()
        for number in Int64(1)...30 {
            log.write("arena", number, number % 3 == 0 ? .tip : .barrage, gap: number % 2)
            log.write("bistro", number)
            log.write("arena", number, epoch: 9)
        }
        let offsetOfItem5 =
            log.records.first { $0.record.key == Sample.key("arena") && $0.record.item.number == 5 }?.offset ?? -1
        // One scan serves all four requests. The third request begins at the last record, which is after item 30.
        let outcomes = log.outcomes(of: [
            ReplayRequest.resume(
                "arena", after: 5, startOffset: offsetOfItem5, firstCached: 21, endOffset: log.endOffset),
            ReplayRequest.resume("arena", after: 5, startOffset: offsetOfItem5, endOffset: log.endOffset),
            ReplayRequest.resume("arena", after: 30, startOffset: log.endOffset - 1, endOffset: log.endOffset),
            ReplayRequest.resume(
                "arena", after: 5, startOffset: offsetOfItem5, firstCached: 6, endOffset: log.endOffset),
        ])
        #expect(outcomes[0]?.foundNumbers == Array(6...20), "the items from 21 on are cached")
        #expect(outcomes[1]?.foundNumbers == Array(6...30), "no item is cached")
        #expect(outcomes[1]?.latestToken?.position.number == 30)
        #expect(outcomes[2]?.foundNumbers == [], "the client has all items")
        #expect(outcomes[3]?.foundNumbers == [], "all items that the client lacks are cached")
    }

    @Test func `a resume with a wrong token, or after an item whose successor was removed from the log, is refused`() {
        var log = PartitionLog()
        // Item n has the offset n - 1.
        for number in Int64(1)...30 { log.write("arena", number) }
        // The broker has removed the records before offset 10: items 1 to 10.
        log.startOffset = 10
        let outcomes = log.outcomes(of: [
            ReplayRequest.resume("arena", after: 5, startOffset: 4, endOffset: log.endOffset),
            ReplayRequest.resume("arena", after: 5, startOffset: 20, endOffset: log.endOffset),
            ReplayRequest.resume("cafe", after: 5, startOffset: 20, endOffset: log.endOffset),
            ReplayRequest.resume("arena", after: 10, startOffset: 9, endOffset: log.endOffset),
        ])
        #expect(outcomes[0]?.answer == .refused(.gone), "the missed items 6 to 10 were removed")
        #expect(
            outcomes[1]?.foundNumbers == nil,
            "the token is wrong: the record at offset 20 is item 21, not item 5")
        #expect(outcomes[2]?.answer == .refused(.gone), "the live cafe has no records")
        #expect(outcomes[3]?.foundNumbers == Array(11...30), "the client's last item was removed, but no missed item")

        // The scan above began before offset 20, because other requests needed earlier records. A scan for the wrong
        // token alone begins at offset 20.
        let scanFromWrongOffset = log.outcomes(of: [
            ReplayRequest.resume("arena", after: 5, startOffset: 20, endOffset: log.endOffset)
        ])
        #expect(scanFromWrongOffset[0]?.answer == .refused(.gone), "the wrong token is refused in its own scan, too")
        for number: Int64 in [31, 1_000_000, .max] {
            let beyond = log.outcomes(of: [
                ReplayRequest.resume("arena", after: number, startOffset: 20, endOffset: log.endOffset)
            ])
            #expect(beyond[0]?.answer == .refused(.gone), "the feed has not reached item \(number)")
        }
        let complete = log.outcomes(of: [
            ReplayRequest.resume("arena", after: 30, startOffset: 29, endOffset: log.endOffset)
        ])
        #expect(complete[0]?.foundNumbers == [], "the client has the last item, so it misses none")
    }

    @Test func `I16 a resume that misses more than 1,000 items, or more than 4 MiB, is refused`() {
        var log = PartitionLog()
        // After item 199 a client misses 1001 items, after item 200 it misses 1000. Item n has the offset n - 1.
        for number in Int64(1)...1200 { log.write("arena", number) }
        var outcomes = log.outcomes(of: [
            ReplayRequest.resume("arena", after: 199, startOffset: 198, endOffset: log.endOffset),
            ReplayRequest.resume("arena", after: 200, startOffset: 199, endOffset: log.endOffset),
        ])
        #expect(outcomes[0]?.answer == .refused(.tooMany))
        #expect(outcomes[1]?.foundNumbers?.count == 1000)

        // A scan keeps at most 4 MiB of one live's items, and each item has 100 kB. The 99 items after item 1 have 9.9
        // MB, which is too much. The 20 items after item 80 have 2 MB.
        log = PartitionLog()
        for number in Int64(1)...100 { log.write("arena", number, size: 100_000) }
        outcomes = log.outcomes(of: [
            ReplayRequest.resume("arena", after: 1, startOffset: 0, endOffset: log.endOffset),
            ReplayRequest.resume("arena", after: 80, startOffset: 79, endOffset: log.endOffset),
        ])
        #expect(outcomes[0]?.answer == .refused(.tooMany))
        #expect(outcomes[1]?.foundNumbers == Array(81...100))
    }

    @Test func `I16 a scan with too many bytes ends early, and refuses requests whose items it has read only in part`()
    {
        // Eight lives with 40 items of 100 kB have 32 MB. A scan collects 16 MiB: about 20 items of each live.
        var log = PartitionLog()
        let lives = (0..<8).map { "live\($0)" }
        for number in Int64(1)...40 {
            for live in lives { log.write(live, number, size: 100_000) }
        }
        var queue = ReplayQueue()
        // For each live there are two requests after item 1. The first request (numbers 0 to 7) needs only items up to
        // item 4, because later items are cached. The second request (numbers 100 to 107) needs all items of the log.
        for (index, live) in lives.enumerated() {
            // The first eight records are the first items of the eight lives.
            let offsetOfItem1 = Int64(index)
            let shortRequest = ReplayRequest.resume(
                live, after: 1, startOffset: offsetOfItem1, firstCached: 5, endOffset: log.endOffset)
            queue.expectAccepted(shortRequest, number: UInt64(index))
            let longRequest = ReplayRequest.resume(
                live, after: 1, startOffset: offsetOfItem1, endOffset: log.endOffset)
            queue.expectAccepted(longRequest, number: UInt64(index) + 100)
        }
        guard var scan = queue.nextScan(excluding: []) else {
            Issue.record("the queue has no scan for the requests")
            return
        }
        log.read(&scan)
        let groups = scan.makeResult().groups
        #expect(groups.count == 8, "one group for each live")
        let collectedBytes = groups.reduce(0) { $0 + $1.bytes }
        #expect(collectedBytes <= ReplayLimits.maxScanBytes + 100_000, "the scan exceeds its limit by one item at most")
        for outcome in groups.flatMap(\.outcomes) {
            if outcome.request.beforeNumber == nil {
                #expect(outcome.answer == .refused(.tooMany), "the scan has not read all items of this request")
            } else {
                #expect(outcome.foundNumbers == [2, 3, 4])
            }
        }
    }

    @Test func `a new viewer's messages are searched step by step, back to the live's beginning`() {
        var log = PartitionLog()
        // Items 4, 8, 12, 16 and 20 are messages. 30,000 records of another live follow, then item 21.
        for number in Int64(1)...20 { log.write("arena", number, number % 4 == 0 ? .barrage : .tip) }
        for number in Int64(1)...30_000 { log.write("bistro", number) }
        log.write("arena", 21, .control)
        let outcomes = log.outcomes(of: [
            ReplayRequest.search("arena", last: 3, endOffset: log.endOffset),
            ReplayRequest.search("arena", last: 50, endOffset: log.endOffset),
            ReplayRequest.search("arena", last: 2, before: 16, endOffset: 15),
            ReplayRequest.search("cafe", last: 5, endOffset: log.endOffset),
        ])
        #expect(outcomes[0]?.foundNumbers == [12, 16, 20])
        #expect(outcomes[1]?.foundNumbers == [4, 8, 12, 16, 20], "five instead of 50: the live has no other messages")
        #expect(outcomes[1]?.latestToken?.position.number == 21, "item 21 is the latest item of the feed")
        #expect(outcomes[2]?.foundNumbers == [8, 12], "the last two messages before item 16, which has offset 15")
        #expect(outcomes[3]?.foundNumbers == [], "the live cafe has no records")
        #expect(outcomes[3]?.latestToken == nil)
    }

    @Test func `I16 a search stops after the records that it may read, and at the beginning of the log`() {
        var log = PartitionLog()
        // The messages of arena are further from the end of the log than a search may read.
        for number in Int64(1)...10 { log.write("arena", number) }
        for number in Int64(1)...(ReplayLimits.maxSearchedRecords * 3) { log.write("bistro", number) }
        var queue = ReplayQueue()
        queue.expectAccepted(ReplayRequest.search("arena", last: 5, endOffset: log.endOffset), number: 1)
        var scannedRecords: Int64 = 0
        while var scan = queue.nextScan(excluding: []) {
            scannedRecords += Int64(scan.bounds.count)
            log.read(&scan)
            queue.putBack(scan.makeResult().unfinished, partition: 0)
        }
        // A search may read 50,000 records. It reads in steps, each of which has twice as many records as the step
        // before. The last step may exceed the limit: 2000 + 4000 + 8000 + 16,000 + 32,000 = 62,000.
        #expect(
            scannedRecords >= ReplayLimits.maxSearchedRecords
                && scannedRecords < 3 * ReplayLimits.maxSearchedRecords)

        var trimmedLog = PartitionLog()
        for number in Int64(1)...5000 { trimmedLog.write("arena", number, .tip) }
        // The broker has removed the first 4000 records, so the search cannot end at item 1, the live's first item.
        trimmedLog.startOffset = 4000
        let found = trimmedLog.outcomes(of: [
            ReplayRequest.search("arena", last: 5, endOffset: trimmedLog.endOffset)
        ])
        #expect(found[0]?.foundNumbers == [], "the search ends at the beginning of the log; all its items are tips")
    }

    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func `I7 random requests to a random partition get the items that a plain search of the log finds`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var log = PartitionLog()
        // The next item number of each live.
        var nextNumbers: [Int: Int64] = [:]
        var written: [(live: Int, number: Int64, offset: Int64)] = []
        for _ in 0..<Int.random(in: 1...6000, using: &random) {
            let live = Int.random(in: 0..<5, using: &random)
            let number = nextNumbers[live, default: 1]
            nextNumbers[live] = number + 1
            written.append((live, number, log.endOffset))
            // There are five feed classes.
            let feedClass = FeedClass.allCases[Int.random(in: 0..<5, using: &random)]
            log.write("live\(live)", number, feedClass, gap: Int64.random(in: 0...2, using: &random))
            // One record of fifty is in the log twice, as after a producer's retry.
            if Int.random(in: 0..<50, using: &random) == 0 { log.write("live\(live)", number, feedClass) }
        }
        var requests: [ReplayRequest] = []
        // The numbers of the items that each request gets; nil if the request is refused.
        var expected: [[Int64]?] = []
        for _ in 0..<40 {
            guard let start = written.randomElement(using: &random) else {
                Issue.record("nothing was written")
                return
            }
            let live = "live\(start.live)"
            let lastNumber = (nextNumbers[start.live] ?? 1) - 1
            let hasCachedItems = Bool.random(using: &random)
            let firstCached = hasCachedItems ? Int64.random(in: start.number + 1...lastNumber + 1, using: &random) : nil
            let isResume = Bool.random(using: &random)
            if isResume {
                requests.append(
                    ReplayRequest.resume(
                        live, after: start.number, startOffset: start.offset, firstCached: firstCached,
                        endOffset: log.endOffset))
                let missed = start.number + 1..<(firstCached ?? lastNumber + 1)
                expected.append(missed.count <= ReplayLimits.maxItems ? Array(missed) : nil)
            } else {
                let count = Int.random(in: 1...50, using: &random)
                let firstCachedItem = written.first { $0.live == start.live && $0.number == firstCached }
                let endOffset = firstCachedItem?.offset ?? log.endOffset
                requests.append(
                    ReplayRequest.search(live, last: count, before: firstCached, endOffset: endOffset))
                // Of an item that is in the log twice, only the first record counts.
                var countedNumbers: Set<Int64> = []
                let messages = log.records.map(\.record).filter { record in
                    record.key == Sample.key(live) && record.item.feedClass == .barrage
                        && record.item.number < (firstCached ?? .max)
                        && countedNumbers.insert(record.item.number).inserted
                }
                expected.append(messages.suffix(count).map(\.item.number))
            }
        }
        for (outcome, numbers) in zip(log.outcomes(of: requests), expected) {
            #expect(outcome?.foundNumbers == numbers, "\(String(describing: outcome?.request))")
        }
    }
}
