// SPDX-License-Identifier: Apache-2.0
package import MachineKit
internal import PlazaModel

/// The queue of replay requests for the reader that all shards share.
///
/// Its length is limited. Requests for one partition are merged: a thousand clients that resume the same live are
/// served by one scan of its partition.
package struct ReplayQueue: Sendable {
    /// A queued request and the progress of its search.
    package struct Entry: Hashable, Sendable {
        /// Identifies the request.
        package var id: ReplayID
        /// The items to read.
        package var request: ReplayRequest
        /// The request's deadline.
        package var until: MonotonicTime
        /// The offset from which the search continues backwards.
        var reached: Int64
        /// The number of records that the search's next step reads.
        var step = ReplayLimits.firstStep
        /// The messages found so far.
        var found: [EncodedFeedItem] = []
        /// The token of the live's last item before the request's end, if one was read.
        var last: FeedToken?

        init(_ id: ReplayID, _ request: ReplayRequest, until: MonotonicTime) {
            self.id = id
            self.request = request
            self.until = until
            self.reached = request.end
        }

        /// The offsets to read next for this request.
        var bounds: Range<Int64> {
            switch self.request.target {
            case .items(_, let start): start..<max(start, self.request.end)
            case .messages: max(0, self.reached - self.step)..<self.reached
            }
        }

        /// The request's outcome if nothing more is read.
        var outcome: ReplayOutcome {
            let hasReadNothing = self.found.isEmpty && self.reached == self.request.end
            return ReplayOutcome(
                self.id, self.request, hasReadNothing ? .refused(.late) : .found(self.found[...]), last: self.last)
        }
    }

    private var waiting: [Int: [Entry]] = [:]
    /// The number of queued requests.
    package private(set) var count = 0

    /// Creates an empty queue.
    package init() {}

    /// Adds a request.
    ///
    /// - Parameters:
    ///   - id: Identifies the request.
    ///   - request: The items to read.
    ///   - partition: The live's feed partition.
    ///   - until: The request's deadline.
    /// - Returns: False if the queue is full.
    package mutating func add(_ id: ReplayID, _ request: ReplayRequest, partition: Int, until: MonotonicTime) -> Bool {
        guard self.count < ReplayLimits.waiting else { return false }
        self.waiting[partition, default: []].append(Entry(id, request, until: until))
        self.count += 1
        return true
    }

    /// Puts back requests that need another scan, or whose scan failed.
    package mutating func putBack(_ entries: [Entry], partition: Int) {
        if entries.isEmpty { return }
        self.waiting[partition, default: []].append(contentsOf: entries)
        self.count += entries.count
    }

    /// Removes and returns the next scan: it reads the partition whose first request has the earliest deadline, and
    /// serves as many of the partition's requests as one scan can.
    ///
    /// - Parameter busy: The partitions that are being read.
    /// - Returns: Nil if no scan can begin.
    package mutating func next(besides busy: Set<Int>) -> ReplayScan? {
        let available = self.waiting.filter { !busy.contains($0.key) }
        guard
            let partition = available.min(by: { a, b in
                let (first, second) = (a.value[0].until, b.value[0].until)
                return first != second ? first < second : a.key < b.key
            })?.key, let entries = self.waiting.removeValue(forKey: partition)
        else { return nil }
        var bounds = entries[0].bounds
        var merged: [Entry] = []
        var remaining: [Entry] = []
        for entry in entries {
            let own = entry.bounds
            let union = min(bounds.lowerBound, own.lowerBound)..<max(bounds.upperBound, own.upperBound)
            // Records between the ranges of two requests are read needlessly, so only nearby ranges are merged.
            let isNear = union.count <= bounds.count + own.count + Int(ReplayLimits.firstStep)
            if isNear, union.count <= Int(ReplayLimits.span) {
                bounds = union
                merged.append(entry)
            } else {
                remaining.append(entry)
            }
        }
        if !remaining.isEmpty { self.waiting[partition] = remaining }
        self.count -= merged.count
        return ReplayScan(partition: partition, bounds: bounds, for: merged)
    }

    /// Removes the requests whose deadline has passed, and returns their outcomes.
    package mutating func expired(at now: MonotonicTime) -> [ReplayOutcome] {
        if self.count == 0 { return [] }
        var outcomes: [ReplayOutcome] = []
        for partition in self.waiting.keys.sorted() {
            guard let entries = self.waiting[partition] else { continue }
            outcomes += entries.lazy.filter { $0.until <= now }.map(\.outcome)
            let remaining = entries.filter { $0.until > now }
            self.waiting[partition] = remaining.isEmpty ? nil : remaining
        }
        self.count -= outcomes.count
        return outcomes
    }
}
