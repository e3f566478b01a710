// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// One pass over a stretch of a feed partition, for all who asked for something in it: records go in, in order, and at
/// the end everybody's part comes out.
package struct ReplaySweep: Sendable {
    /// What came of a pass.
    package struct End: Sendable {
        /// Answers that share one live's items, and how many bytes those have.
        package var groups: [(bytes: Int, outcomes: [ReplayOutcome])] = []
        /// Searches that go further back.
        package var again: [ReplayQueue.Waiting] = []
    }

    private struct Gathered: Sendable {
        /// All items, for clients that come back; bounded as the live's ring in memory is.
        var items: FeedRing?
        /// The last messages, for newcomers.
        var messages: FeedRing?
        /// The number of the first item seen, and the place of the last.
        var lowest: Int64 = 0
        var last: FeedToken?

        var byteCount: Int { (self.items?.byteCount ?? 0) + (self.messages?.byteCount ?? 0) }
    }

    /// A live and its incarnation.
    private struct Name: Hashable {
        var key: LiveKey
        var epoch: Int64
    }

    /// The partition.
    package let partition: Int
    /// The offsets that are read.
    package private(set) var bounds: Range<Int64>
    /// Whether all of them have been passed.
    package private(set) var isOver: Bool
    private var questions: [ReplayQueue.Waiting]
    private var lives: [Name: Gathered] = [:]
    private let keys: Set<LiveKey>
    private var byteCount = 0
    /// Whether the pass ended before its bounds' end, for it kept too much.
    private var isCut = false
    /// The oldest offset that the partition keeps, if it was asked for.
    private var low: Int64 = 0

    init(partition: Int, bounds: Range<Int64>, for questions: [ReplayQueue.Waiting]) {
        self.partition = partition
        self.bounds = bounds
        self.questions = questions
        self.isOver = bounds.isEmpty
        self.keys = Set(questions.map(\.request.key))
        for question in questions {
            let request = question.request
            let name = Name(key: request.key, epoch: request.epoch)
            switch request.want {
            case .items: self.lives[name, default: Gathered()].items = FeedRing(epoch: request.epoch)
            case .messages:
                self.lives[name, default: Gathered()].messages = FeedRing(epoch: request.epoch, isSparse: true)
            }
        }
    }

    /// Whether somebody searches: then it must be known where the partition begins.
    package var isSearch: Bool {
        self.questions.contains { question in
            if case .messages = question.request.want { true } else { false }
        }
    }

    /// The partition keeps nothing older than the record at `offset`.
    package mutating func begins(at offset: Int64) {
        self.low = offset
        let start = max(self.bounds.lowerBound, offset)
        self.bounds = start..<max(start, self.bounds.upperBound)
        if self.bounds.isEmpty { self.isOver = true }
    }

    /// Whether somebody asked for something of a live.
    package func wants(_ key: LiveKey) -> Bool { self.keys.contains(key) }

    /// Takes the next record; nil for one that nobody asked for.
    package mutating func take(_ record: FeedRecord?, at offset: Int64) {
        if self.isOver { return }
        if offset >= self.bounds.upperBound - 1 { self.isOver = true }
        guard let record, self.bounds.contains(offset) else { return }
        let name = Name(key: record.key, epoch: record.epoch)
        guard let before = self.lives[name]?.byteCount else { return }
        let number = record.piece.number
        if self.lives[name]?.lowest == 0 { self.lives[name]?.lowest = number }
        if number > self.lives[name]?.last?.position.number ?? 0 {
            self.lives[name]?.last = FeedToken(
                FeedPosition(epoch: record.epoch, number: number), offset: record.piece.offset)
        }
        var dropped = 0
        _ = self.lives[name]?.items?.append(record.piece, epoch: record.epoch, dropped: &dropped)
        if record.piece.feedClass == .barrage {
            _ = self.lives[name]?.messages?.append(record.piece, epoch: record.epoch, dropped: &dropped)
        }
        self.byteCount += (self.lives[name]?.byteCount ?? 0) - before
        if self.byteCount > ReplayLimits.passBytes, !self.isOver {
            self.isCut = true
            self.isOver = true
        }
    }

    /// The reader has come to the partition's end.
    package mutating func reachedEnd(at offset: Int64) {
        if offset >= self.bounds.upperBound { self.isOver = true }
    }

    /// Lets go of questions whose time is over; with the last one the pass is over too.
    package mutating func expire(at now: Timestamp) -> [ReplayOutcome] {
        let late = self.questions.filter { $0.until <= now }
        if late.isEmpty { return [] }
        self.questions.removeAll { $0.until <= now }
        if self.questions.isEmpty { self.isOver = true }
        return late.map(\.outcome)
    }

    /// The questions, when the pass cannot go on.
    package var unanswered: [ReplayQueue.Waiting] { self.questions }

    /// Everybody's part.
    package func finish() -> End {
        var end = End()
        var byLive: [Name: [ReplayQueue.Waiting]] = [:]
        var names: [Name] = []
        for question in self.questions {
            let name = Name(key: question.request.key, epoch: question.request.epoch)
            if byLive[name] == nil { names.append(name) }
            byLive[name, default: []].append(question)
        }
        for name in names {
            guard let gathered = self.lives[name] else { continue }
            // One array for all: ten thousand who come back to one live hold its items once.
            let items = gathered.items?.kept ?? []
            var outcomes: [ReplayOutcome] = []
            for question in byLive[name] ?? [] {
                switch question.request.want {
                case .items(let after, _):
                    outcomes.append(self.replay(question, after: after, items, gathered))
                case .messages(let count):
                    let further = self.search(question, count, gathered)
                    if self.isDone(further, count, gathered) {
                        outcomes.append(further.outcome)
                    } else {
                        end.again.append(further)
                    }
                }
            }
            end.groups.append((gathered.byteCount, outcomes))
        }
        return end
    }

    private func replay(
        _ question: ReplayQueue.Waiting, after: Int64, _ items: [FeedPiece], _ gathered: Gathered
    ) -> ReplayOutcome {
        let request = question.request
        func outcome(_ answer: ReplayAnswer) -> ReplayOutcome {
            ReplayOutcome(question.id, request, answer, last: gathered.last)
        }
        // The first record that was read must be the one that the client has, or the one that it lacks; and the feed must
        // have come as far as the client says.
        guard let last = gathered.last?.position.number, gathered.lowest - 1 <= after,
            after <= last || self.isCut
        else { return outcome(.refused(.gone)) }
        let isWhole = request.before.map { last >= $0 - 1 } ?? !self.isCut
        guard isWhole else { return outcome(.refused(self.isCut ? .tooMany : .gone)) }
        let start = items.firstIndex { $0.number > after } ?? items.endIndex
        let end = request.before.flatMap { before in items.firstIndex { $0.number >= before } } ?? items.endIndex
        guard start < end else {
            return outcome(last <= after || request.before.map { $0 - 1 } == after ? .found([]) : .refused(.tooMany))
        }
        // A hole, or more bytes than are kept of a live.
        guard items[start].number == after + 1, end - start <= ReplayLimits.items else {
            return outcome(.refused(.tooMany))
        }
        return outcome(.found(items[start..<end]))
    }

    private func search(_ question: ReplayQueue.Waiting, _ count: Int, _ gathered: Gathered) -> ReplayQueue.Waiting {
        var question = question
        let before = question.found.first?.number ?? question.request.before ?? .max
        let older = (gathered.messages?.kept ?? []).filter { $0.number < before }
        question.found.insert(contentsOf: older.suffix(count - question.found.count), at: 0)
        question.last = question.last ?? gathered.last
        question.reached = question.bounds.lowerBound
        question.step *= 2
        return question
    }

    /// Whether a search has what it wants, or cannot get it: the live or the partition begins here, or it went far.
    private func isDone(_ question: ReplayQueue.Waiting, _ count: Int, _ gathered: Gathered) -> Bool {
        question.found.count >= count || gathered.lowest == 1 || question.reached <= self.low
            || question.request.end - question.reached >= ReplayLimits.searched
    }
}
