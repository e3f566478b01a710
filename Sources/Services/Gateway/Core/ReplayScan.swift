// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// One scan: the records of an offset range of a feed partition are read once, for several replay requests.
///
/// A scan collects the items of the records in order, and computes each request's outcome at the end. A request asks
/// for the items that a resuming client missed, or searches backwards for the last messages for a new viewer.
package struct ReplayScan: Sendable {
    /// The result of a scan.
    package struct Result: Sendable {
        /// The outcomes grouped by live, each group with the size of the items that its outcomes share.
        package var groups: [(bytes: Int, outcomes: [ReplayOutcome])] = []
        /// Searches for messages that have found too few and must continue at lower offsets.
        package var unfinished: [ReplayQueue.Entry] = []
    }

    /// The items that the scan has collected for one incarnation of a live, that is, for its key and epoch.
    private struct LiveItems: Sendable {
        /// All items that a `FeedRing` can keep; nil if no request comes from a client that resumes.
        var items: FeedRing?
        /// The last messages; nil if no request is for a new viewer.
        var messages: FeedRing?
        /// The number of the first item that was read; 0 if none was read yet.
        var firstNumber: Int64 = 0
        /// The token of the item with the highest number that was read.
        var latestToken: FeedToken?

        var byteCount: Int { (self.items?.byteCount ?? 0) + (self.messages?.byteCount ?? 0) }
    }

    /// A live and its epoch, which distinguishes it from other lives with the same id.
    private struct Incarnation: Hashable {
        var key: LiveKey
        var epoch: Int64
    }

    /// The partition.
    package let partition: Int
    /// The app on whose limits the scan counts; the scan may serve requests of other apps, too.
    package let app: AppID
    /// The offsets to read.
    package private(set) var bounds: Range<Int64>
    /// Whether the scan has ended.
    package private(set) var isFinished: Bool
    private var entries: [ReplayQueue.Entry]
    /// The collected items of the incarnations that the requests are for.
    private var collectedItems: [Incarnation: LiveItems] = [:]
    /// The lives for which there is a request.
    private let requestedLives: Set<LiveKey>
    /// The size of all collected items.
    private var byteCount = 0
    /// Whether the scan ended early because the collected items exceeded `ReplayLimits.maxScanBytes`.
    private var isTruncated = false
    /// The oldest offset in the partition's log; 0 if it was not looked up.
    private var logStart: Int64 = 0

    init(partition: Int, app: AppID, bounds: Range<Int64>, for entries: [ReplayQueue.Entry]) {
        self.partition = partition
        self.app = app
        self.bounds = bounds
        self.entries = entries
        self.isFinished = bounds.isEmpty
        self.requestedLives = Set(entries.map(\.request.key))
        for entry in entries {
            let request = entry.request
            let incarnation = Incarnation(key: request.key, epoch: request.epoch)
            switch request.target {
            case .items:
                self.collectedItems[incarnation, default: LiveItems()].items = FeedRing(epoch: request.epoch)
            case .messages:
                self.collectedItems[incarnation, default: LiveItems()].messages = FeedRing(
                    epoch: request.epoch, isSparse: true)
            }
        }
    }

    /// Whether a request searches backwards for messages; before the scan, the first offset in the partition's log must
    /// then be passed to `limit(toLogStart:)`.
    package var includesSearch: Bool {
        self.entries.contains { entry in
            if case .messages = entry.request.target { true } else { false }
        }
    }

    /// Limits the scan to the partition's log, which begins at `offset`.
    package mutating func limit(toLogStart offset: Int64) {
        self.logStart = offset
        let start = max(self.bounds.lowerBound, offset)
        self.bounds = start..<max(start, self.bounds.upperBound)
        if self.bounds.isEmpty { self.isFinished = true }
    }

    /// Returns whether any request is for the live.
    package func hasRequest(for key: LiveKey) -> Bool { self.requestedLives.contains(key) }

    /// Collects the partition's next record, which is at `offset`.
    ///
    /// `record` is nil if it is not needed, for example because no request is for its live.
    package mutating func recordRead(_ record: FeedRecord?, at offset: Int64) {
        if self.isFinished { return }
        // No later record is in the range.
        if offset >= self.bounds.upperBound - 1 { self.isFinished = true }
        guard let record, self.bounds.contains(offset) else { return }
        let incarnation = Incarnation(key: record.key, epoch: record.epoch)
        // Nil means that no request asks for the incarnation of this record.
        guard let bytesBefore = self.collectedItems[incarnation]?.byteCount else { return }
        let number = record.item.number
        if self.collectedItems[incarnation]?.firstNumber == 0 {
            self.collectedItems[incarnation]?.firstNumber = number
        }
        let latestNumber = self.collectedItems[incarnation]?.latestToken?.position.number ?? 0
        if number > latestNumber {
            self.collectedItems[incarnation]?.latestToken = FeedToken(
                FeedPosition(epoch: record.epoch, number: number), offset: record.item.offset)
        }
        // `append` returns a verdict on the item, and counts the items that the ring drops. A scan needs neither.
        var dropped = 0
        _ = self.collectedItems[incarnation]?.items?.append(record.item, epoch: record.epoch, dropped: &dropped)
        if record.item.feedClass == .barrage {
            _ = self.collectedItems[incarnation]?.messages?.append(record.item, epoch: record.epoch, dropped: &dropped)
        }
        self.byteCount += (self.collectedItems[incarnation]?.byteCount ?? 0) - bytesBefore
        // A scan that has just read its last record is complete, however much it has collected.
        if self.byteCount > ReplayLimits.maxScanBytes, !self.isFinished {
            self.isTruncated = true
            self.isFinished = true
        }
    }

    /// Records that the reader has reached the partition's end at `offset`; the scan ends unless its range goes
    /// further.
    package mutating func partitionEndReached(at offset: Int64) {
        if offset >= self.bounds.upperBound { self.isFinished = true }
    }

    /// Removes the requests whose deadline has passed, and returns their outcomes.
    ///
    /// The scan ends if no request is left.
    package mutating func removeExpired(at now: MonotonicTime) -> [ReplayOutcome] {
        let expired = self.entries.filter { $0.deadline <= now }
        if expired.isEmpty { return [] }
        self.entries.removeAll { $0.deadline <= now }
        if self.entries.isEmpty { self.isFinished = true }
        return expired.map(\.outcome)
    }

    /// The requests of the scan; they are put back into the `ReplayQueue` when the scan cannot continue.
    package var unansweredEntries: [ReplayQueue.Entry] { self.entries }

    /// Returns the outcome of each request; for a search that must continue, the entry of its next step.
    package func makeResult() -> Result {
        var result = Result()
        var entriesByIncarnation: [Incarnation: [ReplayQueue.Entry]] = [:]
        var incarnations: [Incarnation] = []
        for entry in self.entries {
            let incarnation = Incarnation(key: entry.request.key, epoch: entry.request.epoch)
            if entriesByIncarnation[incarnation] == nil { incarnations.append(incarnation) }
            entriesByIncarnation[incarnation, default: []].append(entry)
        }
        for incarnation in incarnations {
            guard let collected = self.collectedItems[incarnation] else { continue }
            // All clients that resume this live share one array of its items, because there may be very many.
            let items = collected.items?.keptItems ?? []
            var outcomes: [ReplayOutcome] = []
            for entry in entriesByIncarnation[incarnation] ?? [] {
                switch entry.request.target {
                case .items(let after, _):
                    outcomes.append(self.resumeOutcome(of: entry, after: after, items, collected))
                case .messages(let count):
                    let nextStep = self.nextSearchStep(after: entry, count, collected)
                    if self.isSearchFinished(nextStep, count, collected) {
                        outcomes.append(nextStep.outcome)
                    } else {
                        result.unfinished.append(nextStep)
                    }
                }
            }
            result.groups.append((collected.byteCount, outcomes))
        }
        return result
    }

    /// Returns the outcome of the request of a client that resumes after the item with the number `after`.
    ///
    /// If `request.beforeNumber` is not nil, the gateway's cache has the items from that number on, and the client gets
    /// them from the cache.
    private func resumeOutcome(
        of entry: ReplayQueue.Entry, after: Int64, _ items: [EncodedFeedItem], _ collected: LiveItems
    ) -> ReplayOutcome {
        let request = entry.request
        func outcome(_ answer: ReplayAnswer) -> ReplayOutcome {
            ReplayOutcome(entry.id, request, answer, latestToken: collected.latestToken)
        }
        // The client has not received any item.
        if after == 0 { return outcome(self.itemsFromStart(request, items, collected)) }
        // If the scan's first item comes after the client's next item, the client's next item is no longer in the log.
        // If a complete scan ends before the client's position, the position does not exist.
        guard let lastNumber = collected.latestToken?.position.number, collected.firstNumber - 1 <= after,
            after <= lastNumber || self.isTruncated
        else { return outcome(.refused(.gone)) }
        // All items before the first cached one were read; if no item is cached, the whole range was read.
        let isComplete = request.beforeNumber.map { lastNumber >= $0 - 1 } ?? !self.isTruncated
        // If the scan was not truncated, the items that are missing before the cached ones are not in the log.
        guard isComplete else { return outcome(.refused(self.isTruncated ? .tooMany : .gone)) }
        let start = items.firstIndex { $0.number > after } ?? items.endIndex
        let end = request.beforeNumber.flatMap { before in items.firstIndex { $0.number >= before } } ?? items.endIndex
        // The ring has no item to send: the client lacks none, or the ring has dropped those that the client lacks.
        guard start < end else {
            let lacksNoItem = lastNumber <= after || request.beforeNumber.map { $0 - 1 } == after
            return outcome(lacksNoItem ? .found([]) : .refused(.tooMany))
        }
        // The items have a gap, or exceed the limits of a `FeedRing` or of a replay.
        guard items[start].number == after + 1, end - start <= ReplayLimits.maxItems else {
            return outcome(.refused(.tooMany))
        }
        return outcome(.found(items[start..<end]))
    }

    /// Returns the items for a client that has not received any item: all items that were read.
    ///
    /// The scan began at the offset up to which the gateway had read the feed when the client joined, and the client
    /// needs no item before that offset.
    private func itemsFromStart(
        _ request: ReplayRequest, _ items: [EncodedFeedItem], _ collected: LiveItems
    ) -> ReplayAnswer {
        guard !self.isTruncated else { return .refused(.tooMany) }
        guard let lastNumber = collected.latestToken?.position.number else { return .found([]) }
        // All items before the first cached one must have been read.
        guard request.beforeNumber.map({ lastNumber >= $0 - 1 }) ?? true else { return .refused(.gone) }
        let end = request.beforeNumber.flatMap { before in items.firstIndex { $0.number >= before } } ?? items.endIndex
        // The ring has dropped the first items, or there are more items than one replay may have.
        guard items.first?.number == collected.firstNumber, end <= ReplayLimits.maxItems else {
            return .refused(.tooMany)
        }
        return .found(items[..<end])
    }

    /// Returns a search with the messages that this scan found added, and with the range of its next step.
    private func nextSearchStep(
        after entry: ReplayQueue.Entry, _ count: Int, _ collected: LiveItems
    ) -> ReplayQueue.Entry {
        var entry = entry
        // The messages from this number on are cached, or were found by an earlier step, which has read later records.
        let endNumber = entry.foundMessages.first?.number ?? entry.request.beforeNumber ?? .max
        let olderMessages = (collected.messages?.keptItems ?? []).filter { $0.number < endNumber }
        entry.foundMessages.insert(contentsOf: olderMessages.suffix(count - entry.foundMessages.count), at: 0)
        // The first step of a search reads the newest records, so the token that it found is the latest one.
        entry.latestToken = entry.latestToken ?? collected.latestToken
        entry.searchOffset = entry.bounds.lowerBound
        // Each step reads twice as many records as the step before it.
        entry.stepRecords *= 2
        return entry
    }

    /// Returns whether a search is finished: it found enough messages, reached the live's first item (number 1) or the
    /// beginning of the log, or has read as many records as it may.
    private func isSearchFinished(_ entry: ReplayQueue.Entry, _ count: Int, _ collected: LiveItems) -> Bool {
        entry.foundMessages.count >= count || collected.firstNumber == 1 || entry.searchOffset <= self.logStart
            || entry.request.endOffset - entry.searchOffset >= ReplayLimits.maxSearchedRecords
    }
}
