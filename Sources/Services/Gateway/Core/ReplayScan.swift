// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// One scan of an offset range of a feed partition, which serves all requests in that range: it collects the records in
/// order, and computes each request's outcome at the end.
package struct ReplayScan: Sendable {
    /// The result of a scan.
    package struct Result: Sendable {
        /// The outcomes grouped by live, with the size of the items that each group shares.
        package var groups: [(bytes: Int, outcomes: [ReplayOutcome])] = []
        /// Searches that must continue further back.
        package var unfinished: [ReplayQueue.Entry] = []
    }

    private struct LiveItems: Sendable {
        /// All items, for clients that resume; with the limits of a `FeedRing`.
        var items: FeedRing?
        /// The last messages, for new viewers.
        var messages: FeedRing?
        /// The number of the first item read, and the token of the last.
        var lowest: Int64 = 0
        var last: FeedToken?

        var byteCount: Int { (self.items?.byteCount ?? 0) + (self.messages?.byteCount ?? 0) }
    }

    /// A live and its epoch.
    private struct Incarnation: Hashable {
        var key: LiveKey
        var epoch: Int64
    }

    /// The partition.
    package let partition: Int
    /// The offsets to read.
    package private(set) var bounds: Range<Int64>
    /// Whether the scan has ended.
    package private(set) var isOver: Bool
    private var entries: [ReplayQueue.Entry]
    private var lives: [Incarnation: LiveItems] = [:]
    private let keys: Set<LiveKey>
    private var byteCount = 0
    /// Whether the scan ended early because the collected items exceeded `ReplayLimits.scanBytes`.
    private var isTruncated = false
    /// The oldest offset in the partition's log, if it was looked up.
    private var low: Int64 = 0

    init(partition: Int, bounds: Range<Int64>, for entries: [ReplayQueue.Entry]) {
        self.partition = partition
        self.bounds = bounds
        self.entries = entries
        self.isOver = bounds.isEmpty
        self.keys = Set(entries.map(\.request.key))
        for entry in entries {
            let request = entry.request
            let name = Incarnation(key: request.key, epoch: request.epoch)
            switch request.target {
            case .items: self.lives[name, default: LiveItems()].items = FeedRing(epoch: request.epoch)
            case .messages:
                self.lives[name, default: LiveItems()].messages = FeedRing(epoch: request.epoch, isSparse: true)
            }
        }
    }

    /// Whether a request searches backwards; the reader must then look up the partition's first offset and call
    /// `begins(at:)`.
    package var isSearch: Bool {
        self.entries.contains { entry in
            if case .messages = entry.request.target { true } else { false }
        }
    }

    /// Limits the scan to the partition's log, which begins at `offset`.
    package mutating func begins(at offset: Int64) {
        self.low = offset
        let start = max(self.bounds.lowerBound, offset)
        self.bounds = start..<max(start, self.bounds.upperBound)
        if self.bounds.isEmpty { self.isOver = true }
    }

    /// Returns whether any request is for the live.
    package func concerns(_ key: LiveKey) -> Bool { self.keys.contains(key) }

    /// Processes the next record; `record` is nil if no request is for its live.
    package mutating func take(_ record: FeedRecord?, at offset: Int64) {
        if self.isOver { return }
        if offset >= self.bounds.upperBound - 1 { self.isOver = true }
        guard let record, self.bounds.contains(offset) else { return }
        let name = Incarnation(key: record.key, epoch: record.epoch)
        guard let before = self.lives[name]?.byteCount else { return }
        let number = record.item.number
        if self.lives[name]?.lowest == 0 { self.lives[name]?.lowest = number }
        if number > self.lives[name]?.last?.position.number ?? 0 {
            self.lives[name]?.last = FeedToken(
                FeedPosition(epoch: record.epoch, number: number), offset: record.item.offset)
        }
        var dropped = 0
        _ = self.lives[name]?.items?.append(record.item, epoch: record.epoch, dropped: &dropped)
        if record.item.feedClass == .barrage {
            _ = self.lives[name]?.messages?.append(record.item, epoch: record.epoch, dropped: &dropped)
        }
        self.byteCount += (self.lives[name]?.byteCount ?? 0) - before
        if self.byteCount > ReplayLimits.scanBytes, !self.isOver {
            self.isTruncated = true
            self.isOver = true
        }
    }

    /// Ends the scan if the reader has reached the partition's end beyond its range.
    package mutating func reachedEnd(at offset: Int64) {
        if offset >= self.bounds.upperBound { self.isOver = true }
    }

    /// Removes the requests whose deadline has passed, and returns their outcomes.
    ///
    /// Without any requests the scan ends.
    package mutating func expire(at now: MonotonicTime) -> [ReplayOutcome] {
        let late = self.entries.filter { $0.until <= now }
        if late.isEmpty { return [] }
        self.entries.removeAll { $0.until <= now }
        if self.entries.isEmpty { self.isOver = true }
        return late.map(\.outcome)
    }

    /// The requests to put back when the scan cannot continue.
    package var unanswered: [ReplayQueue.Entry] { self.entries }

    /// Returns each request's outcome, or its entry for the next search step.
    package func finish() -> Result {
        var result = Result()
        var byLive: [Incarnation: [ReplayQueue.Entry]] = [:]
        var names: [Incarnation] = []
        for entry in self.entries {
            let name = Incarnation(key: entry.request.key, epoch: entry.request.epoch)
            if byLive[name] == nil { names.append(name) }
            byLive[name, default: []].append(entry)
        }
        for name in names {
            guard let gathered = self.lives[name] else { continue }
            // All clients that resume this live share one array of its items, because there may be very many.
            let items = gathered.items?.kept ?? []
            var outcomes: [ReplayOutcome] = []
            for entry in byLive[name] ?? [] {
                switch entry.request.target {
                case .items(let after, _):
                    outcomes.append(self.replay(entry, after: after, items, gathered))
                case .messages(let count):
                    let continued = self.search(entry, count, gathered)
                    if self.isDone(continued, count, gathered) {
                        outcomes.append(continued.outcome)
                    } else {
                        result.unfinished.append(continued)
                    }
                }
            }
            result.groups.append((gathered.byteCount, outcomes))
        }
        return result
    }

    private func replay(
        _ entry: ReplayQueue.Entry, after: Int64, _ items: [EncodedFeedItem], _ gathered: LiveItems
    ) -> ReplayOutcome {
        let request = entry.request
        func outcome(_ answer: ReplayAnswer) -> ReplayOutcome {
            ReplayOutcome(entry.id, request, answer, last: gathered.last)
        }
        if after == 0 { return outcome(self.itemsFromStart(request, items, gathered)) }
        // The first item that was read must be the client's last item or the next one, and the last item that was read
        // must not precede the client's position.
        guard let last = gathered.last?.position.number, gathered.lowest - 1 <= after,
            after <= last || self.isTruncated
        else { return outcome(.refused(.gone)) }
        let isWhole = request.before.map { last >= $0 - 1 } ?? !self.isTruncated
        guard isWhole else { return outcome(.refused(self.isTruncated ? .tooMany : .gone)) }
        let start = items.firstIndex { $0.number > after } ?? items.endIndex
        let end = request.before.flatMap { before in items.firstIndex { $0.number >= before } } ?? items.endIndex
        guard start < end else {
            return outcome(last <= after || request.before.map { $0 - 1 } == after ? .found([]) : .refused(.tooMany))
        }
        // The items have a gap, or exceed the limits of a `FeedRing` or of a replay.
        guard items[start].number == after + 1, end - start <= ReplayLimits.items else {
            return outcome(.refused(.tooMany))
        }
        return outcome(.found(items[start..<end]))
    }

    /// The items for a client that has not received any: all that were read, because the scan began at the offset of the
    /// client's join.
    private func itemsFromStart(
        _ request: ReplayRequest, _ items: [EncodedFeedItem], _ gathered: LiveItems
    ) -> ReplayAnswer {
        guard !self.isTruncated else { return .refused(.tooMany) }
        guard let last = gathered.last?.position.number else { return .found([]) }
        guard request.before.map({ last >= $0 - 1 }) ?? true else { return .refused(.gone) }
        let end = request.before.flatMap { before in items.firstIndex { $0.number >= before } } ?? items.endIndex
        guard items.first?.number == gathered.lowest, end <= ReplayLimits.items else { return .refused(.tooMany) }
        return .found(items[..<end])
    }

    private func search(_ entry: ReplayQueue.Entry, _ count: Int, _ gathered: LiveItems) -> ReplayQueue.Entry {
        var entry = entry
        let before = entry.found.first?.number ?? entry.request.before ?? .max
        let older = (gathered.messages?.kept ?? []).filter { $0.number < before }
        entry.found.insert(contentsOf: older.suffix(count - entry.found.count), at: 0)
        entry.last = entry.last ?? gathered.last
        entry.reached = entry.bounds.lowerBound
        entry.step *= 2
        return entry
    }

    /// Returns whether a search is finished: it found enough messages, reached the beginning of the live or of the log,
    /// or reached its limit.
    private func isDone(_ entry: ReplayQueue.Entry, _ count: Int, _ gathered: LiveItems) -> Bool {
        entry.found.count >= count || gathered.lowest == 1 || entry.reached <= self.low
            || entry.request.end - entry.reached >= ReplayLimits.searched
    }
}
