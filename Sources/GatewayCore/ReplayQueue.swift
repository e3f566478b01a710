// SPDX-License-Identifier: Apache-2.0
package import CoreKit
internal import PlazaModel

/// Questions about the past that wait for the one reader that all shards share: bounded, and merged by partition, so that
/// a thousand clients of one live that come back together are served by one pass over its partition.
package struct ReplayQueue: Sendable {
    /// A question, and how far it has come.
    package struct Waiting: Hashable, Sendable {
        /// Who asks.
        package var id: ReplayID
        /// What is asked.
        package var request: ReplayRequest
        /// When an answer comes too late.
        package var until: Timestamp
        /// A search goes back from here.
        var reached: Int64
        /// Records that the search's next step reads.
        var step = ReplayLimits.firstStep
        /// Messages that the search has found so far.
        var found: [FeedPiece] = []
        /// Where the live's feed stood at the request's end, if any of its items was seen.
        var last: FeedToken?

        init(_ id: ReplayID, _ request: ReplayRequest, until: Timestamp) {
            self.id = id
            self.request = request
            self.until = until
            self.reached = request.end
        }

        /// The offsets that are to be read for it next.
        var bounds: Range<Int64> {
            switch self.request.want {
            case .items(_, let start): start..<max(start, self.request.end)
            case .messages: max(0, self.reached - self.step)..<self.reached
            }
        }

        /// What it gets when nothing further is read.
        var outcome: ReplayOutcome {
            let isOpen = self.found.isEmpty && self.reached == self.request.end
            return ReplayOutcome(
                self.id, self.request, isOpen ? .refused(.late) : .found(self.found[...]), last: self.last)
        }
    }

    private var waiting: [Int: [Waiting]] = [:]
    /// How many questions wait.
    package private(set) var count = 0

    /// Nobody asks.
    package init() {}

    /// Takes a question.
    ///
    /// - Parameters:
    ///   - id: who asks.
    ///   - request: what is asked.
    ///   - partition: the live's partition.
    ///   - until: when an answer comes too late.
    /// - Returns: false when too many wait already.
    package mutating func add(_ id: ReplayID, _ request: ReplayRequest, partition: Int, until: Timestamp) -> Bool {
        guard self.count < ReplayLimits.waiting else { return false }
        self.waiting[partition, default: []].append(Waiting(id, request, until: until))
        self.count += 1
        return true
    }

    /// Takes questions back whose pass is to be followed by another, or did not come to its end.
    package mutating func putBack(_ questions: [Waiting], partition: Int) {
        if questions.isEmpty { return }
        self.waiting[partition, default: []].append(contentsOf: questions)
        self.count += questions.count
    }

    /// The next pass: over the partition whose oldest question has the least time left, for all its questions that fit.
    ///
    /// - Parameter busy: partitions that are being read.
    /// - Returns: nil when nothing can be begun.
    package mutating func next(besides busy: Set<Int>) -> ReplaySweep? {
        let open = self.waiting.filter { !busy.contains($0.key) }
        guard
            let partition = open.min(by: { a, b in
                let (first, second) = (a.value[0].until, b.value[0].until)
                return first != second ? first < second : a.key < b.key
            })?.key, let questions = self.waiting.removeValue(forKey: partition)
        else { return nil }
        var bounds = questions[0].bounds
        var merged: [Waiting] = []
        var left: [Waiting] = []
        for question in questions {
            let own = question.bounds
            let both = min(bounds.lowerBound, own.lowerBound)..<max(bounds.upperBound, own.upperBound)
            // What lies between two questions is read in vain, so they must not be far from each other.
            let isNear = both.count <= bounds.count + own.count + Int(ReplayLimits.firstStep)
            if isNear, both.count <= Int(ReplayLimits.span) {
                bounds = both
                merged.append(question)
            } else {
                left.append(question)
            }
        }
        if !left.isEmpty { self.waiting[partition] = left }
        self.count -= merged.count
        return ReplaySweep(partition: partition, bounds: bounds, for: merged)
    }

    /// The outcomes of questions whose time is over.
    package mutating func expired(at now: Timestamp) -> [ReplayOutcome] {
        if self.count == 0 { return [] }
        var outcomes: [ReplayOutcome] = []
        for partition in self.waiting.keys.sorted() {
            guard let questions = self.waiting[partition] else { continue }
            outcomes += questions.lazy.filter { $0.until <= now }.map(\.outcome)
            let left = questions.filter { $0.until > now }
            self.waiting[partition] = left.isEmpty ? nil : left
        }
        self.count -= outcomes.count
        return outcomes
    }
}
