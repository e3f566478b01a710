// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import GatewayCore

/// Replay requests, merged into scans of partitions.
@Suite struct ReplayTests {
    private func id(_ number: UInt64) -> ReplayID { ReplayID(shard: 1, number: number) }

    /// A request for the items after number `after`; the record of item `after` has offset `start`.
    ///
    /// Item `before` and the later items are cached. If `before` is nil, no item is cached. The partition ends at
    /// offset `end`.
    private func itemsRequest(
        _ live: String, after: Int64, at start: Int64, before: Int64? = nil, end: Int64
    ) -> ReplayRequest {
        ReplayRequest(
            Sample.key(live), epoch: 10, .items(after: after, startOffset: start), beforeNumber: before, endOffset: end)
    }

    /// Adds a request, which the queue must accept.
    private func add(
        _ request: ReplayRequest, as number: UInt64, to queue: inout ReplayQueue, partition: Int = 0,
        deadline: MonotonicTime = .distantFuture, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let isAccepted = queue.add(self.id(number), request, partition: partition, deadline: deadline)
        #expect(isAccepted, sourceLocation: sourceLocation)
    }

    /// A request for the last `count` messages with numbers below `before` and offsets below `end`.
    private func messagesRequest(_ live: String, _ count: Int, before: Int64? = nil, end: Int64) -> ReplayRequest {
        ReplayRequest(Sample.key(live), epoch: 10, .messages(count: count), beforeNumber: before, endOffset: end)
    }

    /// A partition as in Kafka: transaction markers leave gaps between the offsets of records.
    private struct PartitionLog {
        var records: [(offset: Int64, record: FeedRecord)] = []
        /// The offset of the next record.
        var end: Int64 = 0
        /// The offset of the first record that the broker still has.
        var startOffset: Int64 = 0

        /// Appends a record; the next `gap` offsets after it have no record.
        mutating func write(
            _ live: String, _ number: Int64, _ feedClass: FeedClass = .barrage, epoch: Int64 = 10, gap: Int64 = 0,
            size: Int = 4
        ) {
            let item = Sample.item(number, feedClass, offset: self.end, size: size)
            self.records.append((self.end, FeedRecord(key: Sample.key(live), epoch: epoch, item: item)))
            self.end += 1 + gap
        }

        /// Performs one scan as the reader does.
        func read(_ scan: inout ReplayScan) {
            if scan.includesSearch { scan.limit(toLogStart: self.startOffset) }
            for (offset, record) in self.records where offset >= max(self.startOffset, scan.bounds.lowerBound) {
                if scan.isFinished { return }
                scan.recordRead(scan.hasRequest(for: record.key) ? record : nil, at: offset)
            }
            scan.partitionEndReached(at: self.end)
        }

        /// Scans for all requests of the queue, and returns their outcomes by request number.
        func answer(_ queue: inout ReplayQueue) -> [UInt64: ReplayOutcome] {
            var outcomes: [UInt64: ReplayOutcome] = [:]
            while var scan = queue.nextScan(excluding: []) {
                self.read(&scan)
                #expect(scan.isFinished)
                let result = scan.finish()
                for outcome in result.groups.flatMap(\.outcomes) { outcomes[outcome.id.number] = outcome }
                queue.putBack(result.unfinished, partition: scan.partition)
            }
            #expect(queue.count == 0)
            return outcomes
        }
    }

    /// The outcomes of the requests, in the same order.
    private func replay(_ log: PartitionLog, _ requests: [ReplayRequest]) -> [ReplayOutcome?] {
        var queue = ReplayQueue()
        for (index, request) in requests.enumerated() {
            self.add(request, as: UInt64(index), to: &queue)
        }
        let outcomes = log.answer(&queue)
        return requests.indices.map { outcomes[UInt64($0)] }
    }

    /// The numbers of the items that were found; nil if the request was refused.
    private func numbers(_ outcome: ReplayOutcome?) -> [Int64]? {
        if case .found(let items)? = outcome?.answer { return items.map(\.number) }
        return nil
    }

    @Test func `I7 a client gets exactly the missed items that are not cached`() {
        // The records of arena lie between those of another live and those of an earlier incarnation, epoch 9. Every
        // third item is a tip, and every second one is followed by an offset without a record.
        var log = PartitionLog()
        for number in Int64(1)...30 {
            log.write("arena", number, number % 3 == 0 ? .tip : .barrage, gap: number % 2)
            log.write("bistro", number)
            log.write("arena", number, epoch: 9)
        }
        let offsetOfItem5 =
            log.records.first { $0.record.key == Sample.key("arena") && $0.record.item.number == 5 }?.offset ?? -1
        // One scan serves all four requests. The third one begins at the last record, which is behind item 30.
        let outcomes = self.replay(
            log,
            [
                self.itemsRequest("arena", after: 5, at: offsetOfItem5, before: 21, end: log.end),
                self.itemsRequest("arena", after: 5, at: offsetOfItem5, before: nil, end: log.end),
                self.itemsRequest("arena", after: 30, at: log.end - 1, before: nil, end: log.end),
                self.itemsRequest("arena", after: 5, at: offsetOfItem5, before: 6, end: log.end),
            ])
        #expect(self.numbers(outcomes[0]) == Array(6...20), "the items from 21 on are cached")
        #expect(self.numbers(outcomes[1]) == Array(6...30), "no item is cached")
        #expect(outcomes[1]?.latestToken?.position.number == 30)
        #expect(self.numbers(outcomes[2]) == [], "the client has all items")
        #expect(self.numbers(outcomes[3]) == [], "all items that the client lacks are cached")
    }

    @Test func `a wrong token, or one whose record was removed from the log, is refused`() {
        var log = PartitionLog()
        // Item n has the offset n - 1.
        for number in Int64(1)...30 { log.write("arena", number) }
        // The broker has removed the records before offset 10: items 1 to 10.
        log.startOffset = 10
        let outcomes = self.replay(
            log,
            [
                self.itemsRequest("arena", after: 5, at: 4, end: log.end),
                self.itemsRequest("arena", after: 5, at: 20, end: log.end),
                self.itemsRequest("cafe", after: 5, at: 20, end: log.end),
                self.itemsRequest("arena", after: 10, at: 9, end: log.end),
            ])
        #expect(outcomes[0]?.answer == .refused(.gone), "the token's record was removed")
        #expect(self.numbers(outcomes[1]) == nil, "the token is wrong: the record at offset 20 is item 21")
        #expect(outcomes[2]?.answer == .refused(.gone), "the live has no records")
        #expect(self.numbers(outcomes[3]) == Array(11...30), "the token's record was removed, but no missed item")

        let inOwnScan = self.replay(log, [self.itemsRequest("arena", after: 5, at: 20, end: log.end)])
        #expect(inOwnScan[0]?.answer == .refused(.gone), "the wrong token is refused in a scan of its own, too")
        for number: Int64 in [31, 1_000_000, .max] {
            let beyond = self.replay(log, [self.itemsRequest("arena", after: number, at: 20, end: log.end)])
            #expect(beyond[0]?.answer == .refused(.gone), "the feed has not reached \(number)")
        }
        let complete = self.replay(log, [self.itemsRequest("arena", after: 30, at: 29, end: log.end)])
        #expect(self.numbers(complete[0]) == [], "the client has the last item")
    }

    @Test func `I16 more than 1,000 items, or more bytes than a ring keeps, are not replayed`() {
        var log = PartitionLog()
        // A client misses 1001 items after item 199, and 1000 after item 200. Item n has the offset n - 1.
        for number in Int64(1)...1200 { log.write("arena", number) }
        var outcomes = self.replay(
            log,
            [
                self.itemsRequest("arena", after: 199, at: 198, end: log.end),
                self.itemsRequest("arena", after: 200, at: 199, end: log.end),
            ])
        #expect(outcomes[0]?.answer == .refused(.tooMany))
        #expect(self.numbers(outcomes[1])?.count == 1000)

        // A ring keeps 4 MiB. The 99 items after item 1 have 9.9 MB, the 20 items after item 80 have 2 MB.
        log = PartitionLog()
        for number in Int64(1)...100 { log.write("arena", number, size: 100_000) }
        outcomes = self.replay(
            log,
            [
                self.itemsRequest("arena", after: 1, at: 0, end: log.end),
                self.itemsRequest("arena", after: 80, at: 79, end: log.end),
            ])
        #expect(outcomes[0]?.answer == .refused(.tooMany))
        #expect(self.numbers(outcomes[1]) == Array(81...100))
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
        // For each live, one request needs the items before item 5, and one needs all items of the log. The numbers of
        // the requests are 0 to 7 and 100 to 107.
        for (index, live) in lives.enumerated() {
            // The first eight records are the first items of the eight lives.
            let offsetOfItem1 = Int64(index)
            let request = self.itemsRequest(live, after: 1, at: offsetOfItem1, before: 5, end: log.end)
            self.add(request, as: UInt64(index), to: &queue)
            let requestToEnd = self.itemsRequest(live, after: 1, at: offsetOfItem1, end: log.end)
            self.add(requestToEnd, as: UInt64(index) + 100, to: &queue)
        }
        var scan = queue.nextScan(excluding: [])
        if var reading = scan {
            log.read(&reading)
            scan = reading
        }
        let groups = scan?.finish().groups ?? []
        #expect(groups.count == 8, "one group for each live")
        #expect(groups.reduce(0) { $0 + $1.bytes } <= ReplayLimits.maxScanBytes + 100_000, "at most one item above")
        for outcome in groups.flatMap(\.outcomes) {
            if outcome.request.beforeNumber == nil {
                #expect(outcome.answer == .refused(.tooMany))
            } else {
                #expect(self.numbers(outcome) == [2, 3, 4])
            }
        }
    }

    @Test func `a new viewer's messages are searched step by step, back to the live's beginning`() {
        var log = PartitionLog()
        // Items 4, 8, 12, 16 and 20 are messages. 30,000 records of another live follow, then item 21.
        for number in Int64(1)...20 { log.write("arena", number, number % 4 == 0 ? .barrage : .tip) }
        for number in Int64(1)...30_000 { log.write("bistro", number) }
        log.write("arena", 21, .control)
        let outcomes = self.replay(
            log,
            [
                self.messagesRequest("arena", 3, end: log.end), self.messagesRequest("arena", 50, end: log.end),
                self.messagesRequest("arena", 2, before: 16, end: 15), self.messagesRequest("cafe", 5, end: log.end),
            ])
        #expect(self.numbers(outcomes[0]) == [12, 16, 20])
        #expect(self.numbers(outcomes[1]) == [4, 8, 12, 16, 20], "fewer than 50, because the live has no others")
        #expect(outcomes[1]?.latestToken?.position.number == 21, "the latest item of the feed")
        #expect(self.numbers(outcomes[2]) == [8, 12], "the messages before item 16, which has offset 15")
        #expect(self.numbers(outcomes[3]) == [], "a live without records")
        #expect(outcomes[3]?.latestToken == nil)
    }

    @Test func `I16 a search stops at its limit and at the beginning of the log`() {
        var log = PartitionLog()
        for number in Int64(1)...10 { log.write("arena", number) }
        for number in Int64(1)...(ReplayLimits.maxSearchedRecords * 3) { log.write("bistro", number) }
        var queue = ReplayQueue()
        self.add(self.messagesRequest("arena", 5, end: log.end), as: 1, to: &queue)
        var scannedRecords: Int64 = 0
        while var scan = queue.nextScan(excluding: []) {
            scannedRecords += Int64(scan.bounds.count)
            log.read(&scan)
            queue.putBack(scan.finish().unfinished, partition: 0)
        }
        // Each step reads twice as many records as the step before it, so the last step may exceed the limit of 50,000:
        // 2000 + 4000 + 8000 + 16,000 + 32,000 = 62,000.
        #expect(
            scannedRecords >= ReplayLimits.maxSearchedRecords
                && scannedRecords < 3 * ReplayLimits.maxSearchedRecords)

        var trimmedLog = PartitionLog()
        for number in Int64(1)...5000 { trimmedLog.write("arena", number, .tip) }
        // The broker has removed the first 4000 records, so the log does not go back to item 1.
        trimmedLog.startOffset = 4000
        let found = self.replay(trimmedLog, [self.messagesRequest("arena", 5, end: trimmedLog.end)])
        #expect(self.numbers(found[0]) == [], "the search ends at the beginning of the log")
    }

    @Test func `nearby requests for a partition share one scan, and a distant one gets its own`() {
        var queue = ReplayQueue()
        for number in UInt64(0)..<1000 {
            let startOffset = 100_000 + Int64(number)
            self.add(
                self.itemsRequest("arena", after: 1, at: startOffset, end: 101_000), as: number, to: &queue,
                partition: 3,
                deadline: 500)
        }
        let distant = self.itemsRequest("arena", after: 1, at: 10, end: 20)
        self.add(distant, as: 5000, to: &queue, partition: 3, deadline: 900)
        self.add(distant, as: 5001, to: &queue, partition: 4, deadline: 400)
        // The next scan is the one with the earliest deadline in a partition that is not excluded. In partition 3 the
        // thousand nearby requests are due before the distant one.
        let scans = [queue.nextScan(excluding: [4]), queue.nextScan(excluding: [3]), queue.nextScan(excluding: [4])]
        #expect(scans.map { $0?.bounds } == [100_000..<101_000, 10..<20, 10..<20])
        #expect(scans.map { $0?.partition } == [3, 4, 3])
        let noScan = queue.nextScan(excluding: [])
        #expect(noScan == nil && queue.count == 0)
    }

    @Test func `I16 a full queue refuses requests, and its requests are removed at their deadline`() {
        var queue = ReplayQueue()
        for number in 0..<UInt64(ReplayLimits.maxQueuedRequests) {
            self.add(
                self.itemsRequest("arena", after: 1, at: 1, end: 5), as: number, to: &queue,
                partition: Int(number) % 12,
                deadline: 7)
        }
        let isAccepted = queue.add(
            self.id(0), self.itemsRequest("arena", after: 1, at: 1, end: 5), partition: 0, deadline: 7)
        #expect(!isAccepted)

        var expired = queue.removeExpired(at: 6)
        #expect(expired.isEmpty)
        expired = queue.removeExpired(at: 7)
        #expect(expired.count == ReplayLimits.maxQueuedRequests && queue.count == 0)
    }

    @Test func `an expired resume gets no items, and an expired search gets the messages that it has found so far`() {
        var log = PartitionLog()
        // The first step of a search reads the last 2000 records, of which the last 1000 are messages here. The resume
        // begins at offset 4500, which is near enough to be served by the same scan.
        for number in Int64(1)...6000 { log.write("arena", number, number > 5000 ? .barrage : .tip) }
        var queue = ReplayQueue()
        self.add(self.messagesRequest("arena", 2000, end: log.end), as: 1, to: &queue, deadline: 100)
        self.add(self.itemsRequest("arena", after: 1, at: 4500, end: log.end), as: 2, to: &queue, deadline: 50)
        guard var scan = queue.nextScan(excluding: []) else {
            Issue.record("nothing to read")
            return
        }
        var expired = scan.removeExpired(at: 49)
        #expect(expired.isEmpty)
        expired = scan.removeExpired(at: 50)
        #expect(expired.map(\.answer) == [.refused(.late)], "the resume")

        log.read(&scan)
        queue.putBack(scan.finish().unfinished, partition: 0)
        expired = queue.removeExpired(at: 100)
        #expect(self.numbers(expired.first) == Array(5001...6000))

        self.add(self.messagesRequest("arena", 5, end: log.end), as: 3, to: &queue, deadline: 100)
        expired = queue.removeExpired(at: 100)
        #expect(expired.first?.answer == .refused(.late), "nothing was read for this search")

        self.add(self.messagesRequest("arena", 5, end: log.end), as: 4, to: &queue, deadline: 100)
        guard var lastScan = queue.nextScan(excluding: []) else {
            Issue.record("nothing to read")
            return
        }
        let expiredInScan = lastScan.removeExpired(at: 100)
        #expect(expiredInScan.count == 1 && lastScan.isFinished, "no request waits for this scan any more")
    }

    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func `I7 random requests to a random partition get the items that a plain search of its log finds`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var log = PartitionLog()
        // The next item number of each live.
        var nextNumbers: [Int: Int64] = [:]
        var written: [(live: Int, number: Int64, offset: Int64)] = []
        for _ in 0..<Int.random(in: 1...6000, using: &random) {
            let live = Int.random(in: 0..<5, using: &random)
            let number = nextNumbers[live, default: 1]
            nextNumbers[live] = number + 1
            written.append((live, number, log.end))
            let feedClass = FeedClass.allCases[Int.random(in: 0..<5, using: &random)]
            log.write("live\(live)", number, feedClass, gap: Int64.random(in: 0...2, using: &random))
            // The broker may deliver a record twice.
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
            let before = hasCachedItems ? Int64.random(in: start.number + 1...lastNumber + 1, using: &random) : nil
            if Bool.random(using: &random) {
                requests.append(
                    self.itemsRequest(live, after: start.number, at: start.offset, before: before, end: log.end))
                let missed = start.number + 1..<(before ?? lastNumber + 1)
                expected.append(missed.count <= ReplayLimits.maxItems ? Array(missed) : nil)
            } else {
                let count = Int.random(in: 1...50, using: &random)
                let end = written.first { $0.live == start.live && $0.number == before }?.offset ?? log.end
                requests.append(self.messagesRequest(live, count, before: before, end: end))
                var countedNumbers: Set<Int64> = []
                let messages = log.records.map(\.record).filter { record in
                    record.key == Sample.key(live) && record.item.feedClass == .barrage
                        && record.item.number < (before ?? .max) && countedNumbers.insert(record.item.number).inserted
                }
                expected.append(messages.suffix(count).map(\.item.number))
            }
        }
        for (outcome, numbers) in zip(self.replay(log, requests), expected) {
            #expect(self.numbers(outcome) == numbers, "\(String(describing: outcome?.request))")
        }
    }
}
