// SPDX-License-Identifier: Apache-2.0
package import MachineKit
internal import PlazaModel

/// The queue of replay requests for the reader that all shards share.
///
/// Its length is limited. Requests for one partition are merged: a thousand clients that resume the same live are
/// served by one scan of its partition.
///
/// A request for messages is a search: it reads backwards in steps, each by one scan, and is put back into the queue
/// until it has found enough messages.
package struct ReplayQueue: Sendable {
    /// A queued request and, if it is for messages, the progress of its search.
    package struct Entry: Hashable, Sendable {
        /// Identifies the request.
        package var id: ReplayID
        /// The items to read.
        package var request: ReplayRequest
        /// The request's deadline.
        package var deadline: MonotonicTime
        /// The offset from which the search continues backwards; at first the request's end offset.
        var searchOffset: Int64
        /// The number of records that the search's next step reads.
        var stepRecords = ReplayLimits.firstStepRecords
        /// The messages that the search has found so far.
        var foundMessages: [EncodedFeedItem] = []
        /// The token of the live's last item before the request's end offset, if one was read.
        var latestToken: FeedToken?

        init(_ id: ReplayID, _ request: ReplayRequest, deadline: MonotonicTime) {
            self.id = id
            self.request = request
            self.deadline = deadline
            self.searchOffset = request.endOffset
        }

        /// The offsets to read next for this request.
        var bounds: Range<Int64> {
            switch self.request.target {
            case .items(_, let startOffset): startOffset..<max(startOffset, self.request.endOffset)
            case .messages: max(0, self.searchOffset - self.stepRecords)..<self.searchOffset
            }
        }

        /// The request's outcome if nothing more is read: the messages that the search has found so far, or a refusal
        /// if the search has read nothing yet.
        ///
        /// A client that resumes is refused too: its request is not a search, so `searchOffset` never moves.
        var outcome: ReplayOutcome {
            let hasReadNothing = self.foundMessages.isEmpty && self.searchOffset == self.request.endOffset
            return ReplayOutcome(
                self.id, self.request, hasReadNothing ? .refused(.late) : .found(self.foundMessages[...]),
                latestToken: self.latestToken)
        }
    }

    /// The queued requests by partition.
    private var entriesByPartition: [Int: [Entry]] = [:]
    /// The number of queued requests.
    package private(set) var count = 0

    /// Creates an empty queue.
    package init() {}

    /// The partitions with queued requests.
    package var partitions: [Int] { Array(self.entriesByPartition.keys) }

    /// Adds a request.
    ///
    /// - Parameters:
    ///   - id: Identifies the request.
    ///   - request: The items to read.
    ///   - partition: The live's feed partition.
    ///   - deadline: The request's deadline.
    /// - Returns: False if the queue is full.
    package mutating func add(
        _ id: ReplayID, _ request: ReplayRequest, partition: Int, deadline: MonotonicTime
    ) -> Bool {
        guard self.count < ReplayLimits.maxQueuedRequests else { return false }
        self.entriesByPartition[partition, default: []].append(Entry(id, request, deadline: deadline))
        self.count += 1
        return true
    }

    /// Puts back requests that need another scan, or whose scan failed; the limit of the queue does not apply to them.
    package mutating func putBack(_ entries: [Entry], partition: Int) {
        if entries.isEmpty { return }
        self.entriesByPartition[partition, default: []].append(contentsOf: entries)
        self.count += entries.count
    }

    /// Removes the requests that the next scan serves, and returns the scan.
    ///
    /// The scan reads the partition whose first request has the earliest deadline, and serves as many of the
    /// partition's requests as one scan can.
    ///
    /// - Parameter busyPartitions: The partitions that are being read; no further scan of them may begin.
    /// - Returns: Nil if no scan can begin.
    package mutating func nextScan(excluding busyPartitions: Set<Int>) -> ReplayScan? {
        let available = self.entriesByPartition.filter { !busyPartitions.contains($0.key) }
        guard
            let partition = available.min(by: { a, b in
                let (first, second) = (a.value[0].deadline, b.value[0].deadline)
                return first != second ? first < second : a.key < b.key
            })?.key, let entries = self.entriesByPartition.removeValue(forKey: partition)
        else { return nil }
        var bounds = entries[0].bounds
        var merged: [Entry] = []
        var remaining: [Entry] = []
        for entry in entries {
            let range = entry.bounds
            let union = min(bounds.lowerBound, range.lowerBound)..<max(bounds.upperBound, range.upperBound)
            // Records between the ranges of two requests are read needlessly, so only nearby ranges are merged.
            let isNear = union.count <= bounds.count + range.count + Int(ReplayLimits.firstStepRecords)
            if isNear, union.count <= Int(ReplayLimits.maxScanRecords) {
                bounds = union
                merged.append(entry)
            } else {
                remaining.append(entry)
            }
        }
        if !remaining.isEmpty { self.entriesByPartition[partition] = remaining }
        self.count -= merged.count
        return ReplayScan(partition: partition, bounds: bounds, for: merged)
    }

    /// Removes the requests whose deadline has passed, and returns their outcomes.
    package mutating func removeExpired(at now: MonotonicTime) -> [ReplayOutcome] {
        if self.count == 0 { return [] }
        var outcomes: [ReplayOutcome] = []
        for partition in self.entriesByPartition.keys.sorted() {
            guard let entries = self.entriesByPartition[partition] else { continue }
            outcomes += entries.lazy.filter { $0.deadline <= now }.map(\.outcome)
            let remaining = entries.filter { $0.deadline > now }
            self.entriesByPartition[partition] = remaining.isEmpty ? nil : remaining
        }
        self.count -= outcomes.count
        return outcomes
    }
}
