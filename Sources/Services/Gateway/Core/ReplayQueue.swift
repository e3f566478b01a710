// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The queue of replay requests for the replay reader, which reads feed items that are no longer cached.
///
/// All shards, the event loops of a gateway, share the reader.
///
/// Its length is limited. Requests for one partition are merged: a thousand clients that resume the same live are
/// served by one scan of its partition.
///
/// A request for messages is a search: it reads backwards in steps, each by one scan, and is put back into the queue
/// until it has found enough messages.
///
/// If several apps use the gateway, each gets at most half of the queue, of the scans, and of the memory for items that
/// were read (R12.22). Otherwise users of one app who ask for old items again and again could block the other apps.
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

        /// The request's outcome if nothing more is read.
        ///
        /// It is the messages that the search has found so far, or a refusal if the search has read nothing yet. The
        /// outcome of a resume is always a refusal, because only a search changes `searchOffset`.
        var outcome: ReplayOutcome {
            let hasReadNothing = self.foundMessages.isEmpty && self.searchOffset == self.request.endOffset
            return ReplayOutcome(
                self.id, self.request, hasReadNothing ? .refused(.late) : .found(self.foundMessages[...]),
                latestToken: self.latestToken)
        }
    }

    /// Identifies the requests of one app for one partition, which wait for their turn together.
    private struct Lane: Hashable {
        var partition: Int
        var app: AppID
    }

    /// The order in which lanes are served: the lowest priority value comes first.
    private struct Priority: Comparable {
        /// The number of the app's scans.
        var scanCount: Int
        /// The number of the app's last scan, counted over the scans of all apps; 0 if it had none.
        var lastScanNumber: Int
        /// The deadline of the lane's first request.
        var deadline: MonotonicTime
        var lane: Lane

        static func < (a: Self, b: Self) -> Bool {
            (a.scanCount, a.lastScanNumber, a.deadline, a.lane.partition, a.lane.app.text)
                < (b.scanCount, b.lastScanNumber, b.deadline, b.lane.partition, b.lane.app.text)
        }
    }

    /// The queued requests by partition and app; a lane without requests has no entry.
    private var entriesByLane: [Lane: [Entry]] = [:]
    /// The number of queued requests of each app.
    private var countsByApp: [AppID: Int] = [:]
    /// The number of queued requests.
    package private(set) var count = 0
    /// The number of scans that have begun.
    private var scanNumber = 0
    /// The number of the last scan of each app; apps come from verified tokens, so there are no more than are
    /// configured.
    private var lastScanNumbers: [AppID: Int] = [:]
    /// An app gets at most 1/`shareDivisor` of each limit.
    private let shareDivisor: Int

    /// Creates an empty queue.
    ///
    /// - Parameter hasSeveralApps: Whether each app gets at most half of each limit.
    package init(hasSeveralApps: Bool = false) { self.shareDivisor = hasSeveralApps ? 2 : 1 }

    /// The partitions with queued requests.
    package var partitions: Set<Int> { Set(self.entriesByLane.keys.lazy.map(\.partition)) }

    /// Adds a request.
    ///
    /// - Parameters:
    ///   - id: Identifies the request.
    ///   - request: The items to read.
    ///   - partition: The live's feed partition.
    ///   - deadline: The request's deadline.
    /// - Returns: False if the queue is full, or if the live's app has used up its share of the queue.
    package mutating func add(
        _ id: ReplayID, _ request: ReplayRequest, partition: Int, deadline: MonotonicTime
    ) -> Bool {
        let app = request.key.app
        guard self.count < ReplayLimits.maxQueuedRequests,
            self.countsByApp[app, default: 0] < ReplayLimits.maxQueuedRequests / self.shareDivisor
        else { return false }
        self.insert([Entry(id, request, deadline: deadline)], into: Lane(partition: partition, app: app))
        return true
    }

    /// Puts back requests that need another scan, or whose scan failed; the limit of the queue does not apply to them.
    package mutating func putBack(_ entries: [Entry], partition: Int) {
        for entry in entries { self.insert([entry], into: Lane(partition: partition, app: entry.request.key.app)) }
    }

    /// Removes the requests that the next scan serves, and returns the scan.
    ///
    /// The scan is for the app with the fewest running scans; if several apps have equally few, for the app whose last
    /// scan is the oldest. So an app with many requests does not delay the few of another app. Of the app's partitions,
    /// the scan reads the one whose first request has the earliest deadline, and serves as many of the partition's
    /// requests as one scan can.
    ///
    /// - Parameters:
    ///   - busyPartitions: The partitions that are being read; no further scan of them may begin.
    ///   - usage: What the replays of each app use at the moment.
    /// - Returns: Nil if no scan can begin.
    package mutating func nextScan(
        excluding busyPartitions: Set<Int>, usage: [AppID: ReplayUsage] = [:]
    ) -> ReplayScan? {
        var priorities: [Priority] = []
        for (lane, entries) in self.entriesByLane where !busyPartitions.contains(lane.partition) {
            let used = usage[lane.app] ?? ReplayUsage()
            guard used.scanCount < ReplayLimits.maxConcurrentScans / self.shareDivisor, self.hasRoom(used) else {
                continue
            }
            priorities.append(
                Priority(
                    scanCount: used.scanCount, lastScanNumber: self.lastScanNumbers[lane.app] ?? 0,
                    deadline: entries[0].deadline, lane: lane))
        }
        guard let lane = priorities.min()?.lane, let first = self.entriesByLane[lane]?.first else { return nil }
        var bounds = first.bounds
        var merged = self.removeEntries(of: lane, near: &bounds, maxRecords: Int(ReplayLimits.maxScanRecords))
        // The scan also serves requests of other apps, unless they would make the scan longer than twice its length and
        // `firstStepRecords`, because an app must not slow down the scans of another app.
        let maxRecords = min(2 * bounds.count + Int(ReplayLimits.firstStepRecords), Int(ReplayLimits.maxScanRecords))
        let otherLanes = self.entriesByLane.keys.filter {
            $0.partition == lane.partition && $0.app != lane.app && self.hasRoom(usage[$0.app] ?? ReplayUsage())
        }
        for otherLane in otherLanes.sorted(by: { $0.app.text < $1.app.text }) {
            merged += self.removeEntries(of: otherLane, near: &bounds, maxRecords: maxRecords)
        }
        self.scanNumber += 1
        self.lastScanNumbers[lane.app] = self.scanNumber
        return ReplayScan(partition: lane.partition, app: lane.app, bounds: bounds, for: merged)
    }

    /// Whether more may be read for an app that uses this much.
    private func hasRoom(_ used: ReplayUsage) -> Bool {
        used.unsentBytes < ReplayLimits.maxUnsentBytes / self.shareDivisor
    }

    /// Removes the requests whose deadline has passed, and returns their outcomes.
    package mutating func removeExpired(at now: MonotonicTime) -> [ReplayOutcome] {
        if self.count == 0 { return [] }
        var outcomes: [ReplayOutcome] = []
        let lanes = self.entriesByLane.keys.sorted { a, b in
            (a.partition, a.app.text) < (b.partition, b.app.text)
        }
        for lane in lanes {
            outcomes += self.removeEntries(of: lane) { $0.deadline <= now }.map(\.outcome)
        }
        return outcomes
    }

    /// Adds requests at the end of a lane.
    private mutating func insert(_ entries: [Entry], into lane: Lane) {
        self.entriesByLane[lane, default: []].append(contentsOf: entries)
        self.countsByApp[lane.app, default: 0] += entries.count
        self.count += entries.count
    }

    /// Removes the requests of a lane whose ranges are near `bounds`, and extends `bounds` by their ranges, up to
    /// `maxRecords` records.
    private mutating func removeEntries(
        of lane: Lane, near bounds: inout Range<Int64>, maxRecords: Int
    ) -> [Entry] {
        self.removeEntries(of: lane) { entry in
            let range = entry.bounds
            let union = min(bounds.lowerBound, range.lowerBound)..<max(bounds.upperBound, range.upperBound)
            // Records between the ranges of two requests are read needlessly, so only nearby ranges are merged.
            let isNear = union.count <= bounds.count + range.count + Int(ReplayLimits.firstStepRecords)
            guard isNear, union.count <= maxRecords else { return false }
            bounds = union
            return true
        }
    }

    /// Removes the requests of a lane that satisfy a condition, and returns them.
    private mutating func removeEntries(of lane: Lane, where isRemoved: (Entry) -> Bool) -> [Entry] {
        var removed: [Entry] = []
        var remaining: [Entry] = []
        for entry in self.entriesByLane[lane] ?? [] {
            if isRemoved(entry) { removed.append(entry) } else { remaining.append(entry) }
        }
        self.entriesByLane[lane] = remaining.isEmpty ? nil : remaining
        self.count -= removed.count
        let appCount = self.countsByApp[lane.app, default: 0] - removed.count
        self.countsByApp[lane.app] = appCount > 0 ? appCount : nil
        return removed
    }
}
