// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// A read of one live whose answer does not depend on who asks.
package struct SharedRead: Hashable, Sendable {
    /// What is read.
    package enum Kind: Hashable, Sendable {
        /// The first page of the audience list, with the largest number of members.
        case audience
        /// The live's figures.
        case summary
    }
    package let kind: Kind
    package let key: LiveKey
    /// The live's epoch, so that calls about another live of that name share no answer with it.
    package let epoch: Int64

    /// Creates the name of a read.
    package init(_ kind: Kind, of key: LiveKey, epoch: Int64) {
        self.kind = kind
        self.key = key
        self.epoch = epoch
    }
}

/// Calls that are answered together: all that wait for a read when its service is asked get that one answer (R1.20).
///
/// Entering a live costs a client two reads. Without this, a thousand viewers who enter in one second would ask the
/// live's services two thousand times; with it, each gateway asks twice.
///
/// No answer is kept. A call receives an answer to a request that was sent after the gateway had received the call. So the answer
/// contains all that its caller has done and seen before, and nothing becomes stale when a live changes or ends. The
/// price is time: in a live that is entered all the time, a call waits for the next ask.
package struct SharedReads<Waiter: Sendable>: Sendable {
    /// What to do with a call.
    package enum Verdict: Hashable, Sendable {
        /// The call waits for an answer. If `asks` is true, ask the service now.
        case wait(asks: Bool)
        /// Forward the call by itself: too many lives are read at once.
        case forward
        /// Refuse the call: too many calls wait.
        case full
    }

    private struct Waiting: Sendable {
        var waiter: Waiter
        var since: MonotonicTime
    }

    private struct Entry: Sendable {
        var bucket = TokenBucket()
        /// Whether an ask is under way; its answer is for the calls in `asked`.
        var isAsking = false
        var asked: [Waiting] = []
        /// The calls that were received after the ask had begun: they get the next answer.
        var next: [Waiting] = []

        var isIdle: Bool { !self.isAsking && self.asked.isEmpty && self.next.isEmpty }
    }

    /// The asks of one read: one a second in the long run.
    ///
    /// A few more are possible after a pause, so that those who enter a quiet live do not wait for each other.
    package static var asks: RateLimit { RateLimit(5, per: .seconds(5)) }
    /// The largest number of reads that are tracked.
    package static var maxReads: Int { 10_000 }
    /// The largest number of calls that wait.
    package static var maxWaiting: Int { 50_000 }
    /// How long a call waits for its answer.
    package static var deadline: Milliseconds { .seconds(10) }

    private var entries: [SharedRead: Entry] = [:]
    /// The number of calls that wait.
    package private(set) var waitingCount = 0

    /// Creates an empty collection.
    package init() {}

    /// The number of reads that are tracked.
    package var readCount: Int { self.entries.count }

    /// Registers a call.
    ///
    /// - Parameters:
    ///   - read: What the call reads.
    ///   - waiter: The call; it is returned with the answer.
    ///   - now: The current time.
    /// - Returns: Whether the call waits, and whether the service must be asked now.
    package mutating func call(_ read: SharedRead, _ waiter: Waiter, at now: MonotonicTime) -> Verdict {
        guard self.waitingCount < Self.maxWaiting else { return .full }
        if self.entries[read] == nil, self.entries.count >= Self.maxReads { return .forward }
        self.entries[read, default: Entry()].next.append(Waiting(waiter: waiter, since: now))
        self.waitingCount += 1
        return .wait(asks: self.beginAsk(read, at: now))
    }

    /// Ends an ask.
    ///
    /// - Parameters:
    ///   - read: What was asked for.
    ///   - now: The current time.
    /// - Returns: The calls to answer; and whether to ask again now, for calls that were received meanwhile.
    package mutating func answered(_ read: SharedRead, at now: MonotonicTime) -> (waiters: [Waiter], asks: Bool) {
        guard let asked = self.entries[read]?.asked else { return ([], false) }
        self.entries[read]?.asked = []
        self.entries[read]?.isAsking = false
        self.waitingCount -= asked.count
        return (asked.map(\.waiter), self.beginAsk(read, at: now))
    }

    /// Returns the reads to ask for now, and the calls whose deadline has passed; forgets reads that nobody makes.
    package mutating func sweep(at now: MonotonicTime) -> (asks: [SharedRead], overdue: [Waiter]) {
        var asks: [SharedRead] = []
        var overdue: [Waiter] = []
        for read in Array(self.entries.keys) {
            self.removeOverdue(\.asked, of: read, at: now, into: &overdue)
            self.removeOverdue(\.next, of: read, at: now, into: &overdue)
            if self.beginAsk(read, at: now) { asks.append(read) }
            if let entry = self.entries[read], entry.isIdle, entry.bucket.isFull(at: now.milliseconds * 1000) {
                self.entries[read] = nil
            }
        }
        return (asks, overdue)
    }

    /// Begins an ask for the waiting calls of a read, if none is under way and the rate admits one.
    private mutating func beginAsk(_ read: SharedRead, at now: MonotonicTime) -> Bool {
        guard var entry = self.entries[read], !entry.isAsking, !entry.next.isEmpty,
            entry.bucket.take(of: Self.asks, at: now.milliseconds * 1000) == nil
        else { return false }
        entry.isAsking = true
        entry.asked = entry.next
        entry.next = []
        self.entries[read] = entry
        return true
    }

    private mutating func removeOverdue(
        _ list: WritableKeyPath<Entry, [Waiting]>, of read: SharedRead, at now: MonotonicTime,
        into overdue: inout [Waiter]
    ) {
        guard let waiting = self.entries[read]?[keyPath: list] else { return }
        let count = waiting.prefix { now - $0.since >= Self.deadline }.count
        if count == 0 { return }
        overdue += waiting[..<count].map(\.waiter)
        self.entries[read]?[keyPath: list].removeFirst(count)
        self.waitingCount -= count
    }
}
