// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import GatewayCore

extension ReplayRequest {
    /// A request of a client that resumes after item `after`, whose record has the offset `startOffset`.
    ///
    /// The items from number `firstCached` on are cached; if `firstCached` is nil, no item is cached. The partition
    /// ends at `endOffset`.
    static func resume(
        _ live: String, after: Int64, startOffset: Int64, firstCached: Int64? = nil, endOffset: Int64
    ) -> ReplayRequest {
        ReplayRequest(
            Sample.key(live), epoch: Sample.epoch, .items(after: after, startOffset: startOffset),
            beforeNumber: firstCached, endOffset: endOffset)
    }

    /// A search for a new viewer: the last `last` messages with numbers below `before` and offsets below `endOffset`.
    static func search(_ live: String, last count: Int, before: Int64? = nil, endOffset: Int64) -> ReplayRequest {
        ReplayRequest(
            Sample.key(live), epoch: Sample.epoch, .messages(count: count), beforeNumber: before, endOffset: endOffset)
    }
}

extension ReplayQueue {
    /// Adds a request with a number, by which a test finds its outcome; the queue must accept the request.
    mutating func expectAccepted(
        _ request: ReplayRequest, number: UInt64, partition: Int = 0, deadline: MonotonicTime = .distantFuture,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let isAccepted = self.add(
            ReplayID(shard: 1, number: number), request, partition: partition, deadline: deadline)
        #expect(isAccepted, "the queue accepts the request", sourceLocation: sourceLocation)
    }
}

extension ReplayOutcome {
    /// The numbers of the items that were found; nil if the request was refused.
    var foundNumbers: [Int64]? {
        if case .found(let items) = self.answer { return items.map(\.number) }
        return nil
    }
}

/// A feed partition in memory, with gaps between the offsets of records, as Kafka's transaction markers leave them.
struct PartitionLog {
    var records: [(offset: Int64, record: FeedRecord)] = []
    /// The offset of the next record, which is the end of the partition.
    var endOffset: Int64 = 0
    /// The offset of the first record that the broker still has.
    var startOffset: Int64 = 0

    /// Appends an item's record of `size` bytes; the next `gap` offsets have no record.
    mutating func write(
        _ live: String, _ number: Int64, _ feedClass: FeedClass = .barrage, epoch: Int64 = Sample.epoch,
        gap: Int64 = 0, size: Int = 4
    ) {
        let item = Sample.item(number, feedClass, offset: self.endOffset, size: size)
        self.records.append((self.endOffset, FeedRecord(key: Sample.key(live), epoch: epoch, item: item)))
        self.endOffset += 1 + gap
    }

    /// Reads the records of one scan's range, as the replay reader does.
    func read(_ scan: inout ReplayScan) {
        if scan.includesSearch { scan.limit(toLogStart: self.startOffset) }
        for (offset, record) in self.records where offset >= max(self.startOffset, scan.bounds.lowerBound) {
            if scan.isFinished { return }
            scan.recordRead(scan.hasRequest(for: record.key) ? record : nil, at: offset)
        }
        scan.partitionEndReached(at: self.endOffset)
    }

    /// Answers all requests of the queue by scans, and returns the outcomes by request number.
    func answer(_ queue: inout ReplayQueue) -> [UInt64: ReplayOutcome] {
        var outcomes: [UInt64: ReplayOutcome] = [:]
        while var scan = queue.nextScan(excluding: []) {
            self.read(&scan)
            #expect(scan.isFinished, "a scan of the whole log ends")
            let result = scan.makeResult()
            for outcome in result.groups.flatMap(\.outcomes) { outcomes[outcome.id.number] = outcome }
            queue.putBack(result.unfinished, partition: scan.partition)
        }
        #expect(queue.count == 0, "no request is left in the queue")
        return outcomes
    }

    /// Answers all requests from the log; the outcomes have the order of the requests.
    func outcomes(of requests: [ReplayRequest]) -> [ReplayOutcome?] {
        var queue = ReplayQueue()
        for (index, request) in requests.enumerated() {
            queue.expectAccepted(request, number: UInt64(index))
        }
        let outcomes = self.answer(&queue)
        return requests.indices.map { outcomes[UInt64($0)] }
    }
}
